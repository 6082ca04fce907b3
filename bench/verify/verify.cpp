// Verification by n: a layout of n buffers in a few thousand tracks, an order and a plan of n operators that
// each read some of the last few hundred buffers. The exponent of growth is reported.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/verify.hpp>

namespace {

using namespace stowage;

void check_layout(benchmark::State& state) {
    detail::splitmix64 random(1);
    const auto tracks = static_cast<std::size_t>(std::sqrt(static_cast<double>(state.range(0)))) + 1;
    std::vector<std::int64_t> free_at(tracks, 0);
    layout::problem problem;
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        const std::size_t track = random.below(tracks);
        const auto span = static_cast<std::int64_t>(1 + random.below(100));
        problem.buffers.push_back({.lower = free_at[track], .upper = free_at[track] + span, .size = 64});
        offsets.push_back(static_cast<std::int64_t>(track) * 64);
        free_at[track] += span;
    }
    for ([[maybe_unused]] auto _ : state) {
        const verify::verdict found = verify::check_layout(problem, offsets);
        if (!found) state.SkipWithError(found.reason.c_str());
        benchmark::DoNotOptimize(found.arena);
    }
    state.SetComplexityN(state.range(0));
}

void check_order(benchmark::State& state) {
    detail::splitmix64 random(2);
    program p;
    std::vector<buffer_id> made;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        operator_options op;
        for (int k = 0; k < 3 && !made.empty(); ++k) {
            const std::uint64_t back = random.below(std::min<std::uint64_t>(made.size(), 300));
            op.reads.push_back(made[made.size() - 1 - back]);
        }
        made.push_back(p.add_buffer({.bytes = 64}));
        op.writes = {made.back()};
        p.add_operator(std::move(op));
    }
    const tensor_graph graph = make_tensor_graph(p);
    const std::vector<operator_index> order = program_order(graph);
    for ([[maybe_unused]] auto _ : state) {
        const verify::verdict found = verify::check_order(graph, order);
        if (!found) state.SkipWithError(found.reason.c_str());
        benchmark::DoNotOptimize(found.peak);
    }
    state.SetComplexityN(state.range(0));
}

BENCHMARK(check_layout)
    ->RangeMultiplier(10)
    ->Range(1000, 1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK(check_order)
    ->RangeMultiplier(10)
    ->Range(1000, 1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
