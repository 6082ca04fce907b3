// LLaMA's kernels on a GPU: how the bodies of math.hpp are launched. One block of threads works on a row.

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

#include "kernels.hpp"
#include "make.hpp"

namespace examples {
namespace {

constexpr int threads = math::group_threads;

/// The threads of one block.
struct block_group {
    double* shared;  // one value a thread

    template <class Body>
    __device__ void each(std::int64_t count, const Body& body) const {
        for (std::int64_t i = threadIdx.x; i < count; i += threads)
            body(i);
        __syncthreads();
    }
    template <class Value>
    __device__ double sum(std::int64_t count, const Value& value) const {
        double mine = 0;
        for (std::int64_t i = threadIdx.x; i < count; i += threads)
            mine += value(i);
        return reduced(mine, [](double a, double b) { return a + b; });
    }
    template <class Value>
    __device__ float most(std::int64_t count, const Value& value) const {
        double mine = -1e38;
        for (std::int64_t i = threadIdx.x; i < count; i += threads)
            mine = max(mine, static_cast<double>(value(i)));
        return static_cast<float>(reduced(mine, [](double a, double b) { return max(a, b); }));
    }

private:
    template <class Join>
    __device__ double reduced(double mine, const Join& join) const {
        shared[threadIdx.x] = mine;
        __syncthreads();
        for (unsigned half = threads / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
            __syncthreads();
        }
        const double result = shared[0];
        __syncthreads();  // before the next use of it
        return result;
    }
};

template <class Body>
__global__ void each_value(std::int64_t count, Body body) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < count) body(i);
}
template <class Body>
__global__ void each_row(Body body) {
    __shared__ double shared[threads];
    body(block_group{shared}, static_cast<std::int64_t>(blockIdx.x));
}

struct launch {
    template <class Body>
    static void values(cudaStream_t stream, std::int64_t count, const Body& body) {
        if (count == 0) return;
        each_value<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(count,
                                                                                                   body);
    }
    template <class Body>
    static void rows(cudaStream_t stream, std::int64_t count, const Body& body) {
        if (count == 0) return;
        each_row<<<static_cast<unsigned>(count), threads, 0, stream>>>(body);
    }
};

}  // namespace

llama_cuda_function make_llama_cuda_kernels(const stowage::tensor_graph& program, const llama_shape& shape,
                                            const llama_run& run, const std::vector<int>& ordinals) {
    const auto kernels = std::make_shared<const llama_cuda_kernels<launch>>(program, shape, run, ordinals);
    return [kernels](const stowage::exec::kernel_call<cudaStream_t>& call) { (*kernels)(call); };
}

}  // namespace examples
