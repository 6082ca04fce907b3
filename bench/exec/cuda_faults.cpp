// The long fault campaign on cuda_device over the tests' fake of CUDA's runtime; faults.cpp has the other
// devices. The counts are printed; one wrong report ends it.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "support/cuda_faults.hpp"
#include "support/fake_cuda.hpp"

namespace {

void faults_cuda(benchmark::State& state) {
    const auto runs = static_cast<std::uint64_t>(state.range(0));
    stowage::test::fault_counts counts;
    for (auto _ : state) {
        try {
            stowage::test::run_cuda_campaign(1'000'000, runs, counts);
        } catch (const stowage::test::wrong_campaign& wrong) {
            state.SkipWithError(wrong.what());
        }
    }
    state.SetLabel(counts.text());
    state.counters["runs"] = static_cast<double>(runs);
}
BENCHMARK(faults_cuda)->Arg(10'000)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
