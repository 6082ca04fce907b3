// The long fault campaign: 10,000 runs, faults drawn over all kinds, vertices and lanes, each followed by
// what it must say and by a good run. The counts are printed; one wrong report ends it.

#include <benchmark/benchmark.h>

#include <cstdint>

#include <stowage/exec.hpp>

#include "support/fault_campaign.hpp"

namespace {

template <class Device>
void faults(benchmark::State& state) {
    const auto runs = static_cast<std::uint64_t>(state.range(0));
    stowage::test::fault_counts counts;
    for (auto _ : state) {
        try {
            stowage::test::run_campaign<Device>(1'000'000, runs, counts);
        } catch (const stowage::test::wrong_campaign& wrong) {
            state.SkipWithError(wrong.what());
        }
    }
    state.SetLabel(counts.text());
    state.counters["runs"] = static_cast<double>(runs);
}
BENCHMARK_TEMPLATE(faults, stowage::exec::simulated_device)
    ->Arg(7'000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_TEMPLATE(faults, stowage::exec::host_device)
    ->Arg(3'000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond)
    ->UseRealTime();

}  // namespace
