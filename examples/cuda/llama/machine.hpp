#pragma once
// CUDA devices as the machine of llama_experiment.hpp.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
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
    using memory_type = device_type;
    [[nodiscard]] device_type memory() const { return device(); }
    /// Streams that an event loop puts work into; each end is told by a host function of the stream's, which
    /// is on the heap.
    class event_lanes {
    public:
        event_lanes(const cuda_machine& machine, const std::vector<stowage::turnip::memory_index>& lanes)
            : machine_(machine), streams_(lanes.size()) {
            for (std::size_t l = 0; l < lanes.size(); ++l) {
                ordinals_.push_back(machine.ordinals_[lanes[l]]);
                const stowage::exec::detail::cuda_scope scope(ordinals_[l]);
                check(cudaStreamCreateWithPriority(&streams_[l], cudaStreamNonBlocking, 0));
            }
        }
        event_lanes(const event_lanes&) = delete;
        event_lanes& operator=(const event_lanes&) = delete;
        ~event_lanes() {
            for (cudaStream_t stream : streams_) {
                if (stream == nullptr) continue;
                (void)cudaStreamSynchronize(stream);
                (void)cudaStreamDestroy(stream);
            }
        }
        /// Throws device_error, and what kernels throw.
        void start(std::size_t lane, stowage::exec::kernel_call<cudaStream_t> call,
                   std::function<void()> ended) {
            const stowage::exec::detail::cuda_scope scope(ordinals_[lane]);
            call.handle = streams_[lane];
            machine_.kernels_(call);
            check(cudaPeekAtLastError());
            tell(lane, std::move(ended));
        }
        void start(std::size_t lane, const moved_bytes& copy, std::function<void()> ended) {
            const auto ordinal_of = [&](stowage::turnip::memory_index memory) {
                return memory == stowage::turnip::host ? ordinals_[lane] : machine_.ordinals_[memory];
            };
            const int to = ordinal_of(copy.to_memory);
            const int from = ordinal_of(copy.from_memory);
            check(to == from
                      ? cudaMemcpyAsync(copy.to, copy.from, copy.bytes, cudaMemcpyDefault, streams_[lane])
                      : cudaMemcpyPeerAsync(copy.to, to, copy.from, from, copy.bytes, streams_[lane]));
            tell(lane, std::move(ended));
        }

    private:
        static void check(cudaError_t code) {
            stowage::exec::detail::cuda_check(code, "the event loop's work is refused", "stream");
        }
        void tell(std::size_t lane, std::function<void()> ended) {
            auto held = std::make_unique<std::function<void()>>(std::move(ended));
            check(cudaLaunchHostFunc(
                streams_[lane],
                [](void* given) {
                    const std::unique_ptr<std::function<void()>> taken(
                        static_cast<std::function<void()>*>(given));
                    (*taken)();
                },
                held.get()));
            (void)held.release();  // the stream has it
        }
        const cuda_machine& machine_;
        std::vector<int> ordinals_;
        std::vector<cudaStream_t> streams_;
    };
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
