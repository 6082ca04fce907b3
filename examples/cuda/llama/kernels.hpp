#pragma once
// LLaMA's kernels on CUDA in 32-bit floats: matrix products by cuBLAS, the rest by the bodies of math.hpp.
// Attention computes some queries of all heads at a time, its scores in the plan's memory. The same operator
// launches the same kernels on the same shapes every time, so that results are the same bit for bit.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <stowage/exec/kernel.hpp>
#include <stowage/graph/tensor_graph.hpp>

#include "../../llama_operators.hpp"
#include "../../llama_programs.hpp"
#include "math.hpp"
#include "products.hpp"

namespace examples {

/// The kernels of one program on some devices, one compute lane each. `Launch` puts bodies into streams:
/// `Launch::values(stream, count, body)` and `Launch::rows(stream, count, body)`. Threads: one, the
/// dispatcher's.
template <class Launch>
class llama_cuda_kernels : private llama_operators<llama_cuda_kernels<Launch>, cudaStream_t> {
    using operators = llama_operators<llama_cuda_kernels, cudaStream_t>;
    friend operators;

public:
    using call_type = stowage::exec::kernel_call<cudaStream_t>;

    /// Throws std::runtime_error for what CUDA refuses.
    llama_cuda_kernels(const stowage::tensor_graph& program, const llama_shape& shape, const llama_run& run,
                       const std::vector<int>& ordinals)
        : operators(program, shape, run) {
        const std::vector<float> turns = rotations(run.sequence, head_);
        devices_.reserve(ordinals.size());
        for (const int ordinal : ordinals)
            devices_.emplace_back(ordinal, turns);
    }
    void operator()(const call_type& call) const {
        if (!call.workspace.empty())
            devices_[call.device].products.use(call.handle, call.workspace.first(scratch_bytes()));
        this->run_operator(call);
    }

private:
    using operators::columns;
    using operators::head_;
    using operators::in;
    using operators::out;
    using operators::run_;
    using operators::shape_;
    using operators::tokens_;
    using operators::values;

    /// What one device has beside the plan's memory.
    struct device_state {
        cublas_products products;
        float* turns = nullptr;
        device_state(int ordinal, const std::vector<float>& values) : products(ordinal) {
            const std::size_t bytes = values.size() * sizeof(float);
            void* block = nullptr;
            check(cudaMalloc(&block, bytes));
            turns = static_cast<float*>(block);
            check(cudaMemcpy(turns, values.data(), bytes, cudaMemcpyDefault));
            check(cudaStreamSynchronize(nullptr));  // a copy from memory that is not pinned may be under way
        }
        device_state(device_state&& other) noexcept
            : products(std::move(other.products)), turns(std::exchange(other.turns, nullptr)) {}
        device_state& operator=(device_state&&) = delete;
        ~device_state() { (void)cudaFree(turns); }
    };
    /// Queries of every head that are computed at a time, by the scores' memory.
    struct query_blocks {
        std::int64_t width;
        std::int64_t heads;
        std::int64_t rows;
    };

    static void check(cudaError_t code) {
        if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorName(code));
    }
    [[nodiscard]] std::size_t scratch_bytes() const { return static_cast<std::size_t>(run_.scratch); }
    /// What an operator has beside cuBLAS's workspace.
    template <class T>
    [[nodiscard]] T* scratch(const call_type& call) const {
        return reinterpret_cast<T*>(call.workspace.data() + scratch_bytes());
    }
    void multiply(const call_type& call, const matrix_product& p) const { devices_[call.device].products(p); }

    void embed(const call_type& call) const {
        Launch::values(call.handle, values(call.writes[0]),
                       math::embed{call.input<std::int64_t>(0).data(), in(call, 1), out(call, 0),
                                   columns(call.writes[0])});
    }
    void join(const call_type& call) const {
        std::size_t slices = call.reads.size();
        const bool adds = columns(call.reads.back()) == shape_.hidden && slices > 1;
        if (adds) --slices;
        math::join body{
            {}, adds ? in(call, slices) : nullptr, out(call, 0), columns(call.reads[0]), shape_.hidden};
        for (std::size_t s = 0; s < slices; ++s)
            body.slices[s] = in(call, s);
        Launch::values(call.handle, values(call.writes[0]), body);
    }
    void sum(const call_type& call) const {
        math::sum body{{}, out(call, 0), static_cast<int>(call.reads.size())};
        for (std::size_t s = 0; s < call.reads.size(); ++s)
            body.parts[s] = in(call, s);
        Launch::values(call.handle, values(call.writes[0]), body);
    }
    void norm(const call_type& call) const {
        Launch::rows(call.handle, tokens_,
                     math::norm{in(call, 0), in(call, 1), out(call, 0), shape_.hidden, 0, 1});
    }
    void product(const call_type& call) const { product_of(call, 0, false, 0); }
    void add_product(const call_type& call) const { product_of(call, 1, false, 1); }
    /// out = reads[first] b + beta out, b being reads[first + 1] or its transpose.
    void product_of(const call_type& call, std::size_t first, bool transpose_b, float beta) const {
        const std::int64_t k = columns(call.reads[first]);
        const std::int64_t n = columns(call.writes[0]);
        multiply(call, {.m = tokens_,
                        .n = n,
                        .k = k,
                        .a = in(call, first),
                        .lda = k,
                        .b = in(call, first + 1),
                        .ldb = transpose_b ? k : n,
                        .c = out(call, 0),
                        .ldc = n,
                        .transpose_b = transpose_b,
                        .beta = beta});
    }
    /// The product in as many slices of columns as there are results; with a third operand added to that.
    void sliced_product(const call_type& call) const {
        const std::int64_t k = columns(call.reads[0]);
        const std::int64_t n = columns(call.writes[0]);
        const std::int64_t whole = n * static_cast<std::int64_t>(call.writes.size());
        const bool adds = call.reads.size() > 2;
        for (std::size_t s = 0; s < call.writes.size(); ++s) {
            if (adds) {
                check(cudaMemcpyAsync(out(call, s), in(call, 2), call.writes[s].size(),
                                      cudaMemcpyDeviceToDevice, call.handle));
            }
            multiply(call, {.m = tokens_,
                            .n = n,
                            .k = k,
                            .a = in(call, 0),
                            .lda = k,
                            .b = in(call, 1) + static_cast<std::int64_t>(s) * n,
                            .ldb = whole,
                            .c = out(call, s),
                            .ldc = n,
                            .beta = adds ? 1.0F : 0.0F});
        }
    }
    void rope(const call_type& call) const { rotate(call, 1); }
    void rope_back(const call_type& call) const { rotate(call, -1); }
    void rotate(const call_type& call, float direction) const {
        for (std::size_t i = 0; i < 2; ++i) {
            Launch::values(call.handle, values(call.writes[i]) / 2,
                           math::rotate{out(call, i), devices_[call.device].turns, columns(call.writes[i]),
                                        head_, run_.sequence, direction});
        }
    }
    [[nodiscard]] query_blocks blocks_of(const call_type& call, std::int64_t matrices) const {
        const std::int64_t width = columns(call.writes[0]);
        const std::int64_t heads = width / head_;
        const auto room =
            static_cast<std::int64_t>((call.workspace.size() - scratch_bytes()) / sizeof(float));
        const std::int64_t rows = std::min(run_.sequence, room / (matrices * heads * run_.sequence));
        if (rows < 1) throw std::logic_error("there is no memory for the scores of one query");
        return {width, heads, rows};
    }
    /// The weights of queries [first, first + rows) of every head, from q and k of one sequence: for each
    /// head rows of length first + rows.
    void weights(const call_type& call, const query_blocks& blocks, const float* q, const float* k,
                 std::int64_t first, std::int64_t rows, float* scores, float* log_sums) const {
        const std::int64_t length = first + rows;
        multiply(call, {.m = rows,
                        .n = length,
                        .k = head_,
                        .a = q + first * blocks.width,
                        .lda = blocks.width,
                        .b = k,
                        .ldb = blocks.width,
                        .c = scores,
                        .ldc = length,
                        .transpose_b = true,
                        .alpha = 1.0F / std::sqrt(static_cast<float>(head_)),
                        .count = static_cast<int>(blocks.heads),
                        .stride_a = head_,
                        .stride_b = head_,
                        .stride_c = rows * length});
        Launch::rows(call.handle, blocks.heads * rows,
                     math::softmax{scores, log_sums, rows, first, run_.sequence});
    }
    void attention(const call_type& call) const {
        const query_blocks blocks = blocks_of(call, 1);
        float* const scores = scratch<float>(call);
        for (std::int64_t s = 0; s < run_.batch; ++s) {
            const std::int64_t at = s * run_.sequence * blocks.width;
            float* const log_sums =
                call.writes.size() > 1 ? out(call, 1) + s * blocks.heads * run_.sequence : nullptr;
            for (std::int64_t first = 0; first < run_.sequence; first += blocks.rows) {
                const std::int64_t rows = std::min(blocks.rows, run_.sequence - first);
                const std::int64_t length = first + rows;
                weights(call, blocks, in(call, 0) + at, in(call, 1) + at, first, rows, scores, log_sums);
                multiply(call, {.m = rows,
                                .n = head_,
                                .k = length,
                                .a = scores,
                                .lda = length,
                                .b = in(call, 2) + at,
                                .ldb = blocks.width,
                                .c = out(call, 0) + at + first * blocks.width,
                                .ldc = blocks.width,
                                .count = static_cast<int>(blocks.heads),
                                .stride_a = rows * length,
                                .stride_b = head_,
                                .stride_c = head_});
            }
        }
    }
    void attention_back(const call_type& call) const {
        const query_blocks blocks = blocks_of(call, 2);
        float* const scores = scratch<float>(call);
        float* const d_scores = scores + blocks.heads * blocks.rows * run_.sequence;
        const float scale = 1.0F / std::sqrt(static_cast<float>(head_));
        for (std::size_t i = 0; i < 3; ++i)
            Launch::values(call.handle, values(call.writes[i]), math::fill_zero{out(call, i)});
        for (std::int64_t s = 0; s < run_.batch; ++s) {
            const std::int64_t at = s * run_.sequence * blocks.width;
            for (std::int64_t first = 0; first < run_.sequence; first += blocks.rows) {
                const std::int64_t rows = std::min(blocks.rows, run_.sequence - first);
                const std::int64_t length = first + rows;
                const float* const d_o = in(call, 0) + at + first * blocks.width;
                // one product for all heads, with what differs between the four filled in
                matrix_product p{.ldc = blocks.width,
                                 .count = static_cast<int>(blocks.heads),
                                 .stride_a = rows * length,
                                 .stride_b = head_,
                                 .stride_c = head_};
                p.n = head_;
                p.lda = length;
                p.ldb = blocks.width;
                p.beta = 1;
                weights(call, blocks, in(call, 1) + at, in(call, 2) + at, first, rows, scores, nullptr);
                p.m = length;  // d_v += weights^T d_o
                p.k = rows;
                p.transpose_a = true;
                p.a = scores;
                p.b = d_o;
                p.c = out(call, 2) + at;
                multiply(call, p);
                multiply(call, {.m = rows,  // d_weights = d_o v^T
                                .n = length,
                                .k = head_,
                                .a = d_o,
                                .lda = blocks.width,
                                .b = in(call, 3) + at,
                                .ldb = blocks.width,
                                .c = d_scores,
                                .ldc = length,
                                .transpose_b = true,
                                .count = static_cast<int>(blocks.heads),
                                .stride_a = head_,
                                .stride_b = head_,
                                .stride_c = rows * length});
                Launch::rows(call.handle, blocks.heads * rows, math::softmax_back{scores, d_scores, length});
                p.alpha = scale;  // d_k += d_scores^T q
                p.a = d_scores;
                p.b = in(call, 1) + at + first * blocks.width;
                p.c = out(call, 1) + at;
                multiply(call, p);
                p.m = rows;  // d_q += d_scores k
                p.k = length;
                p.transpose_a = false;
                p.b = in(call, 2) + at;
                p.c = out(call, 0) + at + first * blocks.width;
                multiply(call, p);
            }
        }
    }
    void silu(const call_type& call) const {
        Launch::values(call.handle, values(call.writes[0]),
                       math::silu{in(call, 0), in(call, 1), out(call, 0)});
    }
    void silu_back(const call_type& call) const {
        Launch::values(call.handle, values(call.writes[0]),
                       math::silu_back{in(call, 0), in(call, 1), in(call, 2), out(call, 0), out(call, 1)});
    }
    /// Of the last token of each sequence in a prefill, of every token in a training step.
    void logits(const call_type& call) const {
        if (call.reads.size() == 2) {
            product(call);
            return;
        }
        const std::int64_t h = shape_.hidden;
        const std::int64_t n = values(call.writes[0]) / run_.batch;
        float* const normed = scratch<float>(call);
        Launch::rows(call.handle, run_.batch,
                     math::norm{in(call, 0), in(call, 1), normed, h, run_.sequence - 1, run_.sequence});
        multiply(call, {.m = run_.batch,
                        .n = n,
                        .k = h,
                        .a = normed,
                        .lda = h,
                        .b = in(call, 2),
                        .ldb = n,
                        .c = out(call, 0),
                        .ldc = n});
    }
    void loss(const call_type& call) const {
        double* const losses = scratch<double>(call);
        Launch::rows(call.handle, tokens_,
                     math::token_loss{out(call, 0), call.input<std::int64_t>(1).data(), losses,
                                      columns(call.writes[0]), tokens_});
        Launch::rows(call.handle, 1, math::mean{losses, out(call, 1), tokens_});
    }
    /// d_y w^T, added to the third operand if there is one.
    void back_product(const call_type& call) const {
        product_of(call, 0, true, call.reads.size() > 2 ? 1.0F : 0.0F);
    }
    void back_adapters(const call_type& call) const {
        product_of(call, 0, true, 1);
        product_of(call, 2, true, 1);
    }
    /// a^T d over all tokens.
    void outer(const call_type& call) const {
        const std::int64_t m = columns(call.reads[0]);
        const std::int64_t n = columns(call.reads[1]);
        multiply(call, {.m = m,
                        .n = n,
                        .k = tokens_,
                        .a = in(call, 0),
                        .lda = m,
                        .b = in(call, 1),
                        .ldb = n,
                        .c = out(call, 0),
                        .ldc = n,
                        .transpose_a = true});
    }
    void norm_back(const call_type& call) const {
        Launch::rows(
            call.handle, tokens_,
            math::norm_back{in(call, 0), in(call, 1), in(call, 2),
                            call.reads.size() > 3 ? in(call, 3) : nullptr, out(call, 0), shape_.hidden});
    }
    void adamw(const call_type& call) const {
        Launch::values(call.handle, values(call.writes[0]),
                       math::adamw{in(call, 0), out(call, 0), out(call, 1), out(call, 2)});
    }

    std::vector<device_state> devices_;
};

}  // namespace examples
