#pragma once
// Links between two CUDA devices: whether one can write the other's memory, whether what is written arrives,
// and, where it cannot or does not, copies by way of pinned memory of the host.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/exec/detail/cuda_call.hpp>

namespace stowage::exec::detail {

/// Lets CUDA's device `to` reach the memory of `from`; false where it cannot. Throws device_error naming
/// `lane` if CUDA does not tell.
template <class = void>
[[nodiscard]] bool enable_peer_access(int to, int from, const std::string& lane) {
    int can = 0;
    cuda_check(cudaDeviceCanAccessPeer(&can, to, from), "peer access is not told", lane);
    if (can == 0) return false;
    const cuda_scope scope(to);
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
/// writes. Both memories are afterwards as they were; `stream` is one of the destination's.
template <class = void>
[[nodiscard]] bool probe_link(const link_end& from, const link_end& to, std::size_t size,
                              cudaStream_t stream) {
    std::vector<std::byte> pattern(size);
    for (std::size_t i = 0; i < size; ++i)
        pattern[i] = static_cast<std::byte>(i * 167 + 41);
    std::vector<std::byte> got(size);
    std::vector<std::byte> at_source(size);
    std::vector<std::byte> at_target(size);
    const auto read = [&](const link_end& end, std::vector<std::byte>& bytes) {
        return cuda_copy(end.ordinal, bytes.data(), end.memory, size) == cudaSuccess;
    };
    const auto write = [&](const link_end& end, const std::vector<std::byte>& bytes) {
        return cuda_copy(end.ordinal, end.memory, bytes.data(), size) == cudaSuccess;
    };
    const bool arrives =
        read(from, at_source) && read(to, at_target) && write(from, pattern) && write(to, got) &&
        cudaMemcpyPeerAsync(to.memory, to.ordinal, from.memory, from.ordinal, size, stream) == cudaSuccess &&
        cudaStreamSynchronize(stream) == cudaSuccess && read(to, got) && got == pattern;
    const bool restored = write(from, at_source) && write(to, at_target);
    if (!restored) (void)cudaGetLastError();
    return arrives && restored;
}

/// Copies to one device from another by way of pinned memory, half of which is filled from the source while
/// the other half goes to the destination. Each half of the way is a stream of the device whose memory it
/// touches: without peer access a stream reaches no other device's.
template <class = void>
class basic_staged_link {
public:
    basic_staged_link() = default;
    basic_staged_link(const basic_staged_link&) = delete;
    basic_staged_link& operator=(const basic_staged_link&) = delete;
    ~basic_staged_link() { release(); }

    /// `bytes` of pinned memory, at least 2. Throws device_error naming `lane`.
    void make(int from, int to, std::size_t bytes, int priority, const std::string& lane) {
        half_ = std::max<std::size_t>(1, bytes / 2);
        cuda_scope scope(to);
        void* block = nullptr;
        cuda_check(cudaHostAlloc(&block, 2 * half_, cudaHostAllocPortable),
                   "there is no pinned memory to copy through", lane, static_cast<std::int64_t>(2 * half_));
        memory_ = static_cast<std::byte*>(block);
        make_event(ready_, lane);
        for (cudaEvent_t& event : emptied_)
            make_event(event, lane);
        cuda_check(scope.use(from), "its source cannot be used", lane);
        for (cudaEvent_t& event : filled_)
            make_event(event, lane);
        cuda_check(cudaStreamCreateWithPriority(&source_, cudaStreamNonBlocking, priority),
                   "the stream of its source cannot be made", lane);
    }
    [[nodiscard]] bool is_made() const noexcept { return source_ != nullptr; }
    void release() noexcept {
        if (source_ != nullptr) {
            (void)cudaStreamSynchronize(source_);
            (void)cudaStreamDestroy(source_);
        }
        source_ = nullptr;
        for (cudaEvent_t* event : {&ready_, &emptied_[0], &emptied_[1], &filled_[0], &filled_[1]}) {
            if (*event != nullptr) (void)cudaEventDestroy(*event);
            *event = nullptr;
        }
        if (memory_ != nullptr) (void)cudaFreeHost(memory_);
        memory_ = nullptr;
    }
    /// Puts a copy into `stream`, one of the destination's, as if all of it went there.
    [[nodiscard]] cudaError_t copy(std::byte* to, const std::byte* from, std::size_t bytes,
                                   cudaStream_t stream) noexcept {
        cudaError_t code = cudaEventRecord(ready_, stream);
        if (code == cudaSuccess) code = cudaStreamWaitEvent(source_, ready_, 0);
        for (std::size_t at = 0; at < bytes && code == cudaSuccess; at += half_) {
            const std::size_t part = std::min(half_, bytes - at);
            code = copy_part(to + at, from + at, part, turn_, stream);
            turn_ = 1 - turn_;
        }
        return code;
    }

private:
    static void make_event(cudaEvent_t& event, const std::string& lane) {
        cuda_check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event cannot be made", lane);
    }
    [[nodiscard]] cudaError_t copy_part(std::byte* to, const std::byte* from, std::size_t bytes,
                                        std::size_t turn, cudaStream_t stream) noexcept {
        std::byte* const stage = memory_ + turn * half_;
        cudaError_t code = cudaStreamWaitEvent(source_, emptied_[turn], 0);  // no wait before the first use
        const auto then = [&](cudaError_t next) {
            if (code == cudaSuccess) code = next;
        };
        then(cudaMemcpyAsync(stage, from, bytes, cudaMemcpyDeviceToHost, source_));
        then(cudaEventRecord(filled_[turn], source_));
        then(cudaStreamWaitEvent(stream, filled_[turn], 0));
        then(cudaMemcpyAsync(to, stage, bytes, cudaMemcpyHostToDevice, stream));
        then(cudaEventRecord(emptied_[turn], stream));
        return code;
    }
    std::byte* memory_ = nullptr;
    std::size_t half_ = 1;
    std::size_t turn_ = 0;
    cudaStream_t source_ = nullptr;
    cudaEvent_t ready_ = nullptr;              // what the copy waits for has ended
    std::array<cudaEvent_t, 2> filled_ = {};   // by half
    std::array<cudaEvent_t, 2> emptied_ = {};  // by half
};

}  // namespace stowage::exec::detail
