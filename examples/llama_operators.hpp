#pragma once
// What the kernels of llama_programs.hpp share wherever they run: which one computes an operator, and how its
// operands are seen.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <stowage/exec/kernel.hpp>
#include <stowage/graph/tensor_graph.hpp>

#include "llama_programs.hpp"

namespace examples {

/// Base of `Kernels`, which has the const member functions of the table below and makes this a friend; its
/// lanes have handles of type `Handle`.
template <class Kernels, class Handle>
class llama_operators {
public:
    using call_type = stowage::exec::kernel_call<Handle>;

protected:
    using kernel = void (Kernels::*)(const call_type&) const;

    /// Throws std::logic_error for an operator that no kernel computes.
    llama_operators(const stowage::tensor_graph& program, const llama_shape& shape, const llama_run& run)
        : shape_(shape), run_(run), tokens_(run.batch * run.sequence), head_(shape.hidden / shape.heads) {
        const auto& table = kernels();
        for (stowage::operator_index op = 0; op < program.operator_count(); ++op) {
            const std::string kind = operator_kind(program.operator_name(op));
            const auto found = table.find(kind);
            if (found == table.end()) throw std::logic_error("there is no kernel for `" + kind + "`");
            by_operator_.push_back(found->second);
        }
    }
    void run_operator(const call_type& call) const {
        (static_cast<const Kernels&>(*this).*by_operator_[call.op])(call);
    }

    [[nodiscard]] static const float* in(const call_type& call, std::size_t i) {
        return call.template input<float>(i).data();
    }
    [[nodiscard]] static float* out(const call_type& call, std::size_t i) {
        return call.template output<float>(i).data();
    }
    [[nodiscard]] static std::int64_t values(std::span<const std::byte> bytes) {
        return static_cast<std::int64_t>(bytes.size() / sizeof(float));
    }
    /// Columns of a matrix with a row for each token.
    [[nodiscard]] std::int64_t columns(std::span<const std::byte> bytes) const {
        return values(bytes) / tokens_;
    }

    llama_shape shape_;
    llama_run run_;
    std::int64_t tokens_;
    std::int64_t head_;

private:
    [[nodiscard]] static const std::map<std::string, kernel>& kernels() {
        using k = Kernels;
        static const std::map<std::string, kernel> table = {{"embed", &k::embed},
                                                            {"join", &k::join},
                                                            {"sum", &k::sum},
                                                            {"norm", &k::norm},
                                                            {"norm1", &k::norm},
                                                            {"norm2", &k::norm},
                                                            {"q", &k::product},
                                                            {"k", &k::product},
                                                            {"v", &k::product},
                                                            {"gate", &k::product},
                                                            {"up", &k::product},
                                                            {"qa", &k::product},
                                                            {"va", &k::product},
                                                            {"qb", &k::add_product},
                                                            {"vb", &k::add_product},
                                                            {"wo", &k::sliced_product},
                                                            {"w2", &k::sliced_product},
                                                            {"rope", &k::rope},
                                                            {"d_rope", &k::rope_back},
                                                            {"attention", &k::attention},
                                                            {"silu", &k::silu},
                                                            {"logits", &k::logits},
                                                            {"loss", &k::loss},
                                                            {"d_logits", &k::back_product},
                                                            {"d_act", &k::back_product},
                                                            {"d_gate", &k::back_product},
                                                            {"d_up", &k::back_product},
                                                            {"d_wo", &k::back_product},
                                                            {"d_q", &k::back_product},
                                                            {"d_k", &k::back_product},
                                                            {"d_v", &k::back_product},
                                                            {"d_qa", &k::back_product},
                                                            {"d_va", &k::back_product},
                                                            {"d_n1 a", &k::back_adapters},
                                                            {"d_silu", &k::silu_back},
                                                            {"d_norm", &k::norm_back},
                                                            {"d_norm1", &k::norm_back},
                                                            {"d_norm2", &k::norm_back},
                                                            {"d_attention", &k::attention_back},
                                                            {"g_bq", &k::outer},
                                                            {"g_bv", &k::outer},
                                                            {"g_aq", &k::outer},
                                                            {"g_av", &k::outer},
                                                            {"adamw", &k::adamw}};
        return table;
    }

    std::vector<kernel> by_operator_;
};

}  // namespace examples
