#pragma once
// Random memgraphs with kernels for a cuda_device on the fake of CUDA's runtime, which the source that
// includes this must include before.

#include <cstdint>

#include <stowage/exec.hpp>
#include <stowage/exec/cuda.hpp>

#include "support/fake_cuda.hpp"
#include "support/random_memgraph.hpp"

namespace stowage::test {

/// Kernels that put the synthetic ones into their stream.
struct stream_kernels {
    exec::synthetic_kernels contents;
    void operator()(const exec::kernel_call<cudaStream_t>& call) const {
        fake_cuda::launch(call.handle, [this, call] {
            try {
                contents(call);
            } catch (const exec::contents_error&) {
                fake_cuda::lose_context();
            }
        });
    }
};

[[nodiscard]] inline exec::cuda_device_options two_devices(exec::notifier how) {
    exec::cuda_device_options options;
    options.ordinals = {0, 1};
    options.notifier = how;
    options.stage_bytes = 16;
    return options;
}

/// Of an odd seed: on two devices.
struct cuda_sample {
    random_memgraph made;
    exec::synthetic_digests digests;
    stream_kernels kernels;
    explicit cuda_sample(std::uint64_t seed)
        : made(make_random_memgraph(seed,
                                    {.operators = 20, .devices = 1 + static_cast<std::uint32_t>(seed % 2)})),
          digests(made.program), kernels{exec::synthetic_kernels(made.program, digests)} {}
};

}  // namespace stowage::test
