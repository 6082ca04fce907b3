#pragma once
// Links between two CUDA devices: whether one can write the other's memory, and whether what is written
// arrives.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

#include <stowage/exec/detail/cuda_call.hpp>

namespace stowage::exec::detail {

/// Lets the current device, `to`, reach the memory of `from`; false where it cannot. Throws device_error
/// naming `lane` if CUDA does not tell.
template <class = void>
[[nodiscard]] bool enable_peer_access(int to, int from, const std::string& lane) {
    int can = 0;
    cuda_check(cudaDeviceCanAccessPeer(&can, to, from), "peer access is not told", lane);
    if (can == 0) return false;
    const cudaError_t code = cudaDeviceEnablePeerAccess(from, 0);
    if (code == cudaSuccess) return true;
    (void)cudaGetLastError();
    return code == cudaErrorPeerAccessAlreadyEnabled;
}

/// One end of a link: memory of a device.
struct link_end {
    std::byte* memory = nullptr;
    int ordinal = 0;
};

/// Sends a pattern of `size` bytes and looks whether it arrives: some machines report peer access and lose
/// writes. What was in both memories is overwritten.
template <class = void>
[[nodiscard]] bool probe_link(const link_end& from, const link_end& to, std::size_t size,
                              cudaStream_t stream) {
    std::vector<std::byte> pattern(size);
    for (std::size_t i = 0; i < size; ++i)
        pattern[i] = static_cast<std::byte>(i * 167 + 41);
    std::vector<std::byte> got(size, std::byte{0});
    const auto well = [](cudaError_t code) { return code == cudaSuccess; };
    if (well(cudaMemcpy(to.memory, got.data(), size, cudaMemcpyDefault)) &&
        well(cudaMemcpy(from.memory, pattern.data(), size, cudaMemcpyDefault)) &&
        well(cudaMemcpyPeerAsync(to.memory, to.ordinal, from.memory, from.ordinal, size, stream)) &&
        well(cudaStreamSynchronize(stream)) &&
        well(cudaMemcpy(got.data(), to.memory, size, cudaMemcpyDefault)))
        return got == pattern;
    (void)cudaGetLastError();
    return false;
}

}  // namespace stowage::exec::detail
