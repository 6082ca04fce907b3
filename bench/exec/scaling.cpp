// How runs grow: the executor by the number of vertices, and on the host by the lanes of a device and by the
// memory that a program is given, beside the same program in memory. An iteration is one run.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/turnip/compile.hpp>

#include "dispatch_graph.hpp"

namespace {

namespace exec = stowage::exec;
namespace turnip = stowage::turnip;

/// Vertices without work, by their number: nanoseconds a vertex are time / vertices.
void vertices_executor(benchmark::State& state) {
    const auto graph = bench::make_dispatch_graph(static_cast<std::uint32_t>(state.range(0)));
    const bench::dispatch_memgraph made(graph, 4);
    const auto kernel = [](const exec::kernel_call<exec::lane_index>& call) {
        auto op = call.op;
        benchmark::DoNotOptimize(op);
    };
    exec::inline_device device({.memory = false});
    exec::executor executor{made.program, made.graph, kernel, device, {.priority = exec::fifo{}}};
    for (auto _ : state) {
        if (!executor.run({.keep_times = false})) std::abort();
    }
    state.counters["vertices"] = static_cast<double>(graph.vertices);
}
BENCHMARK(vertices_executor)->RangeMultiplier(10)->Range(1'000, 1'000'000)->Unit(benchmark::kMicrosecond);

constexpr std::int64_t values = 1 << 16;
constexpr std::int64_t bytes = values * static_cast<std::int64_t>(sizeof(float));

/// y = x w, often enough that an operator takes some 200 us.
struct scale_kernel {
    void operator()(const exec::kernel_call<exec::lane_index>& call) const {
        const auto x = call.input<float>(0);
        const auto w = call.input<float>(1);
        const auto y = call.output<float>(0);
        for (std::size_t i = 0; i < y.size(); ++i) {
            float value = x[i];
            for (int round = 0; round < 8; ++round)
                value = value * w[i] + 0.25F;
            y[i] = value;
        }
    }
};

/// `chains` chains of `depth` operators, each with a weight of its own.
[[nodiscard]] stowage::tensor_graph chains_of(std::size_t chains, std::size_t depth) {
    stowage::program step;
    for (std::size_t c = 0; c < chains; ++c) {
        auto x = step.add_buffer({.bytes = bytes, .kind = stowage::buffer_kind::input});
        for (std::size_t i = 0; i < depth; ++i) {
            const auto w = step.add_buffer({.bytes = bytes, .kind = stowage::buffer_kind::parameter});
            const auto kind =
                i + 1 == depth ? stowage::buffer_kind::output : stowage::buffer_kind::intermediate;
            const auto y = step.add_buffer({.bytes = bytes, .kind = kind});
            step.add_operator({.reads = {x, w}, .writes = {y}, .flops = 16.0 * values});
            x = y;
        }
    }
    return stowage::make_tensor_graph(step);
}

/// The memgraph for `percent` of what all of it needs.
[[nodiscard]] turnip::compiled compile(const turnip::taskgraph& task, std::int64_t percent) {
    turnip::compile_options options{.goal = turnip::goal::time, .alignment = 64};
    options.devices = {{std::numeric_limits<std::int64_t>::max() / 4}};
    turnip::compiled whole = turnip::compile(task, options);
    if (!whole.ok() || percent >= 100) return whole;
    options.devices = {{whole.memgraph.arena_bytes[0] * percent / 100}};
    return turnip::compile(task, options);
}

void run_on_host(benchmark::State& state, const turnip::taskgraph& task, const turnip::compiled& made,
                 std::uint32_t lanes) {
    if (!made.ok()) {
        state.SkipWithError(made.reason.c_str());
        return;
    }
    exec::host_device device({.compute_lanes = lanes});
    exec::executor executor{task.program, made.memgraph, scale_kernel{}, device, {.priority = exec::need{}}};
    const std::vector<float> halves(static_cast<std::size_t>(values), 0.5F);
    for (const turnip::residence& r : made.memgraph.start)
        executor.write(r.buffer, std::as_bytes(std::span(halves)));
    for (auto _ : state) {
        if (!executor.run({.keep_times = false})) std::abort();
    }
    state.counters["moved"] = static_cast<double>(made.bytes_moved);
    state.counters["arena"] = static_cast<double>(made.memgraph.arena_bytes[0]);
}

void memory_host(benchmark::State& state) {
    const turnip::taskgraph task =
        turnip::make_taskgraph(chains_of(1, 48), {.start = turnip::start_rule::steady});
    run_on_host(state, task, compile(task, state.range(0)), 1);
}
BENCHMARK(memory_host)
    ->ArgName("percent")
    ->Arg(100)
    ->Arg(75)
    ->Arg(50)
    ->Arg(30)
    ->Arg(15)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void lanes_host(benchmark::State& state) {
    const turnip::taskgraph task =
        turnip::make_taskgraph(chains_of(8, 12), {.start = turnip::start_rule::steady});
    run_on_host(state, task, compile(task, 100), static_cast<std::uint32_t>(state.range(0)));
}
BENCHMARK(lanes_host)
    ->ArgName("lanes")
    ->RangeMultiplier(2)
    ->Range(1, 8)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
