#pragma once
// Contents in which any wrong byte is seen, on a CUDA device: what an operator reads is copied to pinned
// memory of the host, compared there, and what it writes is made there and copied back, all in its lane's
// stream. It needs no kernel, so the host's compiler alone builds it; it is as slow as the copies are.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/exec.hpp>
#include <stowage/exec/cuda.hpp>

namespace examples {

/// Kernels of one program for cuda_device. Pinned memory is made when a stream is used first, and freed with
/// this, which must outlive the executor's runs.
class staged_contents {
public:
    using call_type = stowage::exec::kernel_call<cudaStream_t>;

    staged_contents(const stowage::tensor_graph& program, const stowage::turnip::memgraph& graph,
                    const stowage::exec::synthetic_kernels& kernels)
        : kernels_(&kernels), tasks_(graph.vertices.size()) {
        for (stowage::operator_index op = 0; op < program.operator_count(); ++op) {
            std::int64_t bytes = program.workspace(op);
            for (const stowage::buffer_index b : program.reads(op))
                bytes = stowage::detail::checked_add(bytes, program.bytes(b));
            for (const stowage::buffer_index b : program.writes(op))
                bytes = stowage::detail::checked_add(bytes, program.bytes(b));
            most_ = std::max(most_, bytes);
        }
    }
    staged_contents(const staged_contents&) = delete;
    staged_contents& operator=(const staged_contents&) = delete;
    ~staged_contents() {
        for (const auto& [stream, block] : blocks_)
            (void)cudaFreeHost(block);
    }

    /// Called by the dispatcher. Throws device_error where CUDA refuses.
    void operator()(const call_type& call) {
        task& made = tasks_[call.vertex];
        made.all = this;
        made.op = call.op;
        made.reads.clear();
        made.writes.clear();
        std::byte* at = block_of(call.handle);
        const auto stage = [&](std::span<std::byte> bytes) {
            const std::span<std::byte> staged(at, bytes.size());
            at += bytes.size();
            return staged;
        };
        for (const std::span<std::byte> bytes : call.reads) {
            made.reads.push_back(stage(bytes));
            copy(made.reads.back(), bytes, cudaMemcpyDeviceToHost, call.handle);
        }
        for (const std::span<std::byte> bytes : call.writes)
            made.writes.push_back(stage(bytes));
        made.workspace = stage(call.workspace);
        stowage::exec::detail::cuda_check(cudaLaunchHostFunc(call.handle, &staged_contents::compute, &made),
                                          "its host function cannot be launched", "stream");
        copy(call.workspace, made.workspace, cudaMemcpyHostToDevice, call.handle);
        for (std::size_t i = 0; i < call.writes.size(); ++i)
            copy(call.writes[i], made.writes[i], cudaMemcpyHostToDevice, call.handle);
    }
    /// Throws the first contents_error of the runs so far.
    void rethrow() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (wrong_) std::rethrow_exception(wrong_);
    }

private:
    struct task {
        staged_contents* all = nullptr;
        stowage::operator_index op = 0;
        std::vector<std::span<std::byte>> reads;
        std::vector<std::span<std::byte>> writes;
        std::span<std::byte> workspace;
    };

    static void copy(std::span<std::byte> to, std::span<const std::byte> from, cudaMemcpyKind kind,
                     cudaStream_t stream) {
        if (to.empty()) return;
        stowage::exec::detail::cuda_check(cudaMemcpyAsync(to.data(), from.data(), to.size(), kind, stream),
                                          "operands cannot be staged", "stream");
    }
    /// A stream's work is in order, so one block serves all of it.
    [[nodiscard]] std::byte* block_of(cudaStream_t stream) {
        const auto [found, added] = blocks_.try_emplace(stream, nullptr);
        if (added) {
            stowage::exec::detail::cuda_check(
                cudaHostAlloc(&found->second, static_cast<std::size_t>(std::max<std::int64_t>(1, most_)),
                              cudaHostAllocDefault),
                "there is no pinned memory to check contents in", "host", most_);
        }
        return static_cast<std::byte*>(found->second);
    }
    /// In the stream, on a thread of CUDA's: makes no CUDA call.
    static void CUDART_CB compute(void* self) {
        const task& made = *static_cast<const task*>(self);
        stowage::exec::kernel_call<cudaStream_t> call;
        call.op = made.op;
        call.reads = made.reads;
        call.writes = made.writes;
        call.workspace = made.workspace;
        try {
            (*made.all->kernels_)(call);
        } catch (const stowage::exec::contents_error&) {
            const std::lock_guard<std::mutex> lock(made.all->mutex_);
            if (!made.all->wrong_) made.all->wrong_ = std::current_exception();
        }
    }

    const stowage::exec::synthetic_kernels* kernels_;
    std::vector<task> tasks_;  // by vertex
    std::int64_t most_ = 0;    // bytes that one operator touches
    std::map<cudaStream_t, void*> blocks_;
    std::mutex mutex_;
    std::exception_ptr wrong_;
};

}  // namespace examples
