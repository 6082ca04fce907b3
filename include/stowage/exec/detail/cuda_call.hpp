#pragma once
// CUDA's error codes as words and exceptions.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include <stowage/exec/fault.hpp>

namespace stowage::exec::detail {

/// "cudaErrorLaunchFailure: unspecified launch failure".
template <class = void>
[[nodiscard]] std::string cuda_text(cudaError_t code) {
    return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
}

/// Throws device_error about `place` unless `code` is success; clears the error.
template <class = void>
void cuda_check(cudaError_t code, const std::string& what, const std::string& place, std::int64_t bytes = 0) {
    if (code == cudaSuccess) return;
    (void)cudaGetLastError();
    throw device_error(what + ": " + cuda_text(code), place, bytes);
}

/// True if CUDA answers with an error even after the last one was cleared: the context is lost.
template <class = void>
[[nodiscard]] bool cuda_is_lost(cudaStream_t stream) noexcept {
    (void)cudaGetLastError();
    const cudaError_t code = cudaStreamQuery(stream);
    if (code == cudaErrorNotReady) (void)cudaGetLastError();
    return code != cudaSuccess && code != cudaErrorNotReady;
}

}  // namespace stowage::exec::detail
