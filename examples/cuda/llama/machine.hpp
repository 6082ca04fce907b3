#pragma once
// CUDA devices as the machine of llama_experiment.hpp.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/exec/cuda.hpp>

#include "../../llama_experiment.hpp"
#include "make.hpp"

namespace examples {

/// As many devices as are asked for; several share one CUDA device where there are too few.
class cuda_machine {
public:
    using device_type = stowage::exec::cuda_device;
    using kernels_type = llama_cuda_function;
    static constexpr bool is_host = false;
    static constexpr std::int64_t alignment = 256;

    /// Throws std::runtime_error without a device, and for what CUDA refuses.
    cuda_machine(const stowage::tensor_graph& program, const llama_kernels& /*host's*/,
                 const llama_arguments& given)
        : ordinals_(ordinals(given.run.devices)),
          kernels_(make_llama_cuda_kernels(program, given.shape, given.run, ordinals_)) {}
    [[nodiscard]] device_type device() const {
        return device_type(stowage::exec::cuda_device_options{.ordinals = ordinals_});
    }
    [[nodiscard]] kernels_type kernels() const { return kernels_; }
    [[nodiscard]] double units() const {
        return 1.0 + static_cast<double>(*std::max_element(ordinals_.begin(), ordinals_.end()));
    }

    /// Why there is no device; empty: there is one.
    [[nodiscard]] static std::string missing() {
        int count = 0;
        const cudaError_t code = cudaGetDeviceCount(&count);
        if (code != cudaSuccess) return cudaGetErrorString(code);
        return count == 0 ? "none is visible" : "";
    }
    /// What cuBLAS, and once more attention's scores, may use: 64 queries at a time.
    [[nodiscard]] static std::int64_t scratch_bytes(const llama_arguments& given) {
        constexpr std::int64_t queries = 64;
        constexpr std::int64_t least = 65'536;  // cuBLAS needs 16 KiB
        const std::int64_t scores = queries * given.shape.heads * given.run.sequence * 4;
        return (std::max(least, scores) + alignment - 1) / alignment * alignment;
    }

private:
    [[nodiscard]] static std::vector<int> ordinals(std::int64_t devices) {
        int count = 0;
        stowage::exec::detail::cuda_check(cudaGetDeviceCount(&count), "there is no CUDA device", "device 0");
        std::vector<int> result;
        for (std::int64_t d = 0; d < devices; ++d)
            result.push_back(static_cast<int>(d % std::max(1, count)));
        return result;
    }
    std::vector<int> ordinals_;  // by device
    llama_cuda_function kernels_;
};

}  // namespace examples
