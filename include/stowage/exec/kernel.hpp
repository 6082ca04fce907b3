#pragma once
// What a user's kernel is given: the bytes of its operands, typed if it asks, and its lane's native handle.
// A kernel is any callable; on a device with queues of its own it enqueues its work and returns.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <stowage/exec/fwd.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/fwd.hpp>

namespace stowage::exec {

/// One call of one operator's kernel. Spans are of the device's memory: on CUDA the host may not touch them.
/// Valid until the operator's work has ended. `Handle` is the device's native handle of a lane.
template <class Handle>
class kernel_call {
public:
    operator_index op = 0;                         ///< the operator, by its index in the program
    turnip::vertex_index vertex = 0;               ///< the memgraph's vertex that runs it
    turnip::memory_index device = 0;               ///< the device it runs on
    lane_index lane = 0;                           ///< the lane it runs in
    Handle handle{};                               ///< that lane's native handle: a cudaStream_t on CUDA
    std::span<const std::span<std::byte>> reads;   ///< operands as the program lists them
    std::span<const std::span<std::byte>> writes;  ///< results as the program lists them; one that is read
                                                   ///< too is at the same place
    std::span<std::byte> workspace;                ///< scratch, contents undefined

    /// Operand `i` as values of type T; bytes beyond a multiple of its size are left out.
    template <class T>
    [[nodiscard]] std::span<const T> input(std::size_t i) const noexcept {
        return {reinterpret_cast<const T*>(reads[i].data()), reads[i].size() / sizeof(T)};
    }
    /// Result `i` as values of type T.
    template <class T>
    [[nodiscard]] std::span<T> output(std::size_t i) const noexcept {
        return {reinterpret_cast<T*>(writes[i].data()), writes[i].size() / sizeof(T)};
    }
    /// The scratch as values of type T.
    template <class T>
    [[nodiscard]] std::span<T> scratch() const noexcept {
        return {reinterpret_cast<T*>(workspace.data()), workspace.size() / sizeof(T)};
    }
};

/// One callable for all operators: it is told which one by the call. It may throw; then the run fails. A
/// host device calls it from several threads at once, one a compute lane.
template <class K, class Handle>
concept plain_kernels = requires(K& kernels, const kernel_call<Handle>& call) {
    kernels(call);
};

}  // namespace stowage::exec
