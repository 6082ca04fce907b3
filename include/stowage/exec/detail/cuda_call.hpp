#pragma once
// CUDA's error codes as words and exceptions, its current device as a scope, and copies that have ended when
// they return.

#include <cuda_runtime_api.h>

#include <cstddef>
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

/// Whether what `event` marks has ended; that it has not leaves no error behind.
template <class = void>
[[nodiscard]] cudaError_t cuda_event_state(cudaEvent_t event) noexcept {
    const cudaError_t code = cudaEventQuery(event);
    if (code == cudaErrorNotReady) (void)cudaGetLastError();
    return code;
}

/// True if CUDA answers with an error even after the last one was cleared: the context is lost.
template <class = void>
[[nodiscard]] bool cuda_is_lost(cudaStream_t stream) noexcept {
    (void)cudaGetLastError();
    const cudaError_t code = cudaStreamQuery(stream);
    if (code == cudaErrorNotReady) (void)cudaGetLastError();
    return code != cudaSuccess && code != cudaErrorNotReady;
}

/// The driver's cuDevicePrimaryCtxGetState.
using cuda_context_state = int (*)(int ordinal, unsigned* flags, int* active);

/// Null where the driver does not have it.
template <class = void>
[[nodiscard]] cuda_context_state find_cuda_context_state() noexcept {
    constexpr const char* name = "cuDevicePrimaryCtxGetState";
    void* found = nullptr;
    cudaDriverEntryPointQueryResult answer{};
#if CUDART_VERSION >= 12050
    constexpr unsigned version = 12000;
    const cudaError_t code =
        cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &answer);
#else
    const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &answer);
#endif
    return code == cudaSuccess ? reinterpret_cast<cuda_context_state>(found) : nullptr;
}

/// True if the process has a context on CUDA's device `ordinal`. Making a device without one current would
/// make one there, which takes hundreds of megabytes. Only the driver's interface tells; it is looked up by
/// name once, since work on several devices asks it at every turn.
template <class = void>
[[nodiscard]] bool cuda_has_context(int ordinal) noexcept {
    static const cuda_context_state state_of = find_cuda_context_state();
    if (state_of == nullptr) return true;
    unsigned flags = 0;
    int active = 0;
    return state_of(ordinal, &flags, &active) == 0 && active != 0;
}

/// Makes devices current on this thread, and at its end the one that it found. What other code of the thread
/// makes current, between two scopes or inside one, is thereby no matter.
class cuda_scope {
public:
    cuda_scope() noexcept {
        if (cudaGetDevice(&found_) != cudaSuccess) found_ = none;
        now_ = found_;
    }
    explicit cuda_scope(int ordinal) noexcept : cuda_scope() { (void)use(ordinal); }
    cuda_scope(const cuda_scope&) = delete;
    cuda_scope& operator=(const cuda_scope&) = delete;
    ~cuda_scope() {
        if (now_ != found_ && found_ != none && cuda_has_context(found_)) (void)cudaSetDevice(found_);
    }
    cudaError_t use(int ordinal) noexcept {
        if (ordinal == now_) return cudaSuccess;
        const cudaError_t code = cudaSetDevice(ordinal);
        if (code == cudaSuccess) now_ = ordinal;
        return code;
    }

private:
    static constexpr int none = -1;
    int found_ = none;
    int now_ = none;
};

/// Copies from and to memory of CUDA's device `ordinal`, or of the host, and waits for the end: cudaMemcpy
/// from memory that is not pinned returns before its bytes have arrived, and streams that do not block would
/// not wait for them.
template <class = void>
[[nodiscard]] cudaError_t cuda_copy(int ordinal, void* to, const void* from, std::size_t bytes) noexcept {
    if (bytes == 0) return cudaSuccess;
    cuda_scope scope;
    cudaError_t code = scope.use(ordinal);
    if (code == cudaSuccess) code = cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
    if (code == cudaSuccess) code = cudaStreamSynchronize(nullptr);
    return code;
}

}  // namespace stowage::exec::detail
