#pragma once
// LLaMA's kernels on CUDA for programs that nvcc does not compile: make.cu makes them.

#include <cuda_runtime_api.h>

#include <functional>
#include <vector>

#include <stowage/exec/kernel.hpp>
#include <stowage/graph/tensor_graph.hpp>

#include "../../llama_programs.hpp"

namespace examples {

/// Kernels of every operator, one callable for all; they put their work into their lane's stream.
using llama_cuda_function = std::function<void(const stowage::exec::kernel_call<cudaStream_t>&)>;

/// Those of a program that was made for `run`, whose device d is CUDA's number ordinals[d]. Everything that
/// they need beside the plan's memory (a cuBLAS handle and the table of turns, each device) is made here.
/// Throws std::runtime_error with the library's word for what it refuses.
[[nodiscard]] llama_cuda_function make_llama_cuda_kernels(const stowage::tensor_graph& program,
                                                          const llama_shape& shape, const llama_run& run,
                                                          const std::vector<int>& ordinals);

}  // namespace examples
