// ctest-alone: the first range of a process is what looks for a profiler
// Ranges of NVTX round kernels, told to a profiler of this test's own.

#include <doctest/doctest.h>

#include "support/fake_cuda.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/exec/cuda.hpp>
#include <stowage/exec/cuda_nvtx.hpp>
#include <stowage/graph.hpp>

using namespace stowage;

#if __has_include(<nvtx3/nvToolsExt.h>)

namespace {

std::vector<std::string> told;

int push(const char* name) {
    told.push_back("push " + std::string(name));
    return 0;
}
int pop() {
    told.emplace_back("pop");
    return 0;
}
int install(NvtxGetExportTableFunc_t get) {
    const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
    *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&push);
    *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
    return 1;
}

}  // namespace

TEST_CASE("each kernel is in a range with its operator's name") {
    InitializeInjectionNvtx2_fnptr = &install;  // looked at by the first range of the process
    REQUIRE(fake_cuda::world::get().reset());
    stowage::program source;
    source.add_operator({.name = "first"});
    source.add_operator({});
    const tensor_graph program = make_tensor_graph(source);
    turnip::memgraph graph;
    graph.arena_bytes = {0};
    graph.add({.op = 0}, {}, {});
    graph.add({.op = 1}, {}, {});
    graph.edges = {{0, 1, turnip::edge_kind::control}};
    const auto kernel = [](const exec::kernel_call<cudaStream_t>&) { told.emplace_back("kernel"); };
    {
        exec::cuda_device device(0);
        exec::executor executor{program, graph, exec::nvtx_kernels(program, kernel), device};
        REQUIRE(executor.run());
    }
    CHECK(told ==
          std::vector<std::string>{"push first", "kernel", "pop", "push operator 1", "kernel", "pop"});
    CHECK(fake_cuda::world::get().reset());
}

#else

TEST_CASE("there is no NVTX here: kernels are called all the same") {
    CHECK_FALSE(exec::has_nvtx);
}

#endif
