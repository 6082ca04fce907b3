#pragma once
// Ranges for NVIDIA's profilers, when asked for: kernels wrapped so that each operator's launch is an NVTX
// range with the operator's name. NVTX is a header of the CUDA toolkit and costs nothing while no profiler is
// attached; where that header is missing the wrapper only passes calls on.

#include <cuda_runtime_api.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

#include <string>
#include <utility>
#include <vector>

#include <stowage/exec/kernel.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage::exec {

/// True where ranges are marked.
inline constexpr bool has_nvtx =
#if __has_include(<nvtx3/nvToolsExt.h>)
    true;
#else
    false;
#endif

/// `Kernels` (plain_kernels of a cudaStream_t, or a std::reference_wrapper of some), each call in a range.
/// Names are made by the constructor: a call allocates nothing. Threads: as the kernels.
template <class Kernels>
class nvtx_kernels {
public:
    /// O(operators).
    nvtx_kernels(const tensor_graph& program, Kernels kernels) : kernels_(std::move(kernels)) {
        names_.reserve(program.operator_count());
        for (operator_index op = 0; op < program.operator_count(); ++op) {
            const std::string name(program.operator_name(op));
            names_.push_back(name.empty() ? program.describe_operator(op).text("operator") : name);
        }
    }
    void operator()(const kernel_call<cudaStream_t>& call) {
        const range open(names_[call.op].c_str());
        kernels_(call);
    }

private:
    struct range {
        explicit range([[maybe_unused]] const char* name) noexcept {
#if __has_include(<nvtx3/nvToolsExt.h>)
            (void)nvtxRangePushA(name);
#endif
        }
        range(const range&) = delete;
        range& operator=(const range&) = delete;
        ~range() {
#if __has_include(<nvtx3/nvToolsExt.h>)
            (void)nvtxRangePop();
#endif
        }
    };
    Kernels kernels_;
    std::vector<std::string> names_;  // by operator
};

}  // namespace stowage::exec
