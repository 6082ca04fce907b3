// Orders and bounds by size, on synthetic programs, with the growth exponent fitted; and the whole search on
// each captured program, with its peak, its gap to the bound and its cuts.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <stowage/io/access_list.hpp>
#include <stowage/order.hpp>

#include "order/programs.hpp"

namespace {

using namespace stowage;

constexpr std::int64_t largest = 1'000'000;

template <class Rule>
void list_rule(benchmark::State& state, const Rule& rule) {
    const tensor_graph graph = bench::training_step(static_cast<std::size_t>(state.range(0)));
    const auto problem = order::detail::make_order_problem(graph);
    for (auto _ : state)
        benchmark::DoNotOptimize(rule.arrange(problem));
    state.SetComplexityN(static_cast<std::int64_t>(graph.operator_count()));
}

void by_size(benchmark::internal::Benchmark* benchmark) {
    benchmark->RangeMultiplier(10)->Range(1'000, largest)->Unit(benchmark::kMillisecond)->Complexity();
}

template <class Bound>
void lower_bound(benchmark::State& state, Bound bound) {
    const tensor_graph graph = bench::training_step(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(bound(graph));
    state.SetComplexityN(static_cast<std::int64_t>(graph.operator_count()));
}

template <class Make>
void whole_search(benchmark::State& state, Make make) {
    const tensor_graph graph = make(static_cast<std::size_t>(state.range(0)));
    order::solution found;
    for (auto _ : state)
        found = order::portfolio{}(graph);
    state.SetComplexityN(static_cast<std::int64_t>(graph.operator_count()));
    state.counters["gap_percent"] =
        100.0 * static_cast<double>(found.peak - found.lower_bound) / static_cast<double>(found.lower_bound);
}

void captured(benchmark::State& state, const tensor_graph& graph) {
    order::solution found;
    for (auto _ : state)
        found = order::portfolio{}(graph);
    state.SetLabel("by " + found.found_by + ", bound by " + found.witness.rule);
    state.counters["operators"] = static_cast<double>(graph.operator_count());
    state.counters["peak_MiB"] = static_cast<double>(found.peak) / 1024.0 / 1024.0;
    state.counters["gap_percent"] =
        100.0 * static_cast<double>(found.peak - found.lower_bound) / static_cast<double>(found.lower_bound);
}

template <class Function>
void add_by_size(const std::string& name, Function function) {
    by_size(benchmark::RegisterBenchmark(name.c_str(), function));
}

const bool registered = [] {
    const auto add_rule = [](const std::string& name, const auto& rule) {
        add_by_size("list/" + name, [rule](benchmark::State& state) { list_rule(state, rule); });
    };
    add_rule("lescea", order::lescea{});
    add_rule("xla-list", order::xla_list{});
    add_rule("eager-free", order::eager_free{});
    add_rule("dfs", order::depth_first{});
    add_rule("reversed lescea", order::reversed{order::lescea{}});
    const auto add_bound = [](const std::string& name, auto bound) {
        add_by_size("bound/" + name, [bound](benchmark::State& state) { lower_bound(state, bound); });
    };
    add_bound("working set", [](const tensor_graph& graph) { return order::working_set_bound(graph); });
    add_bound("both ends", [](const tensor_graph& graph) { return order::ends_bound(graph); });
    add_bound("surely alive", [](const tensor_graph& graph) { return order::surely_alive_bound(graph); });
    add_bound("min cut", [](const tensor_graph& graph) { return order::min_cut_bound(graph); });
    add_by_size("portfolio/training step",
                [](benchmark::State& state) { whole_search(state, bench::training_step); });
    add_by_size("portfolio/random window", [](benchmark::State& state) {
        whole_search(state, [](std::size_t n) { return bench::random_window(n, 12); });
    });
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(STOWAGE_EXAMPLE_DATA)) {
        if (entry.path().extension() == ".gz") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        const auto program = std::make_shared<const io::access_list>(io::read_access_list(file));
        benchmark::RegisterBenchmark(("captured/" + program->name).c_str(), [program](
                                                                                benchmark::State& state) {
            captured(state, program->graph);
        })->Unit(benchmark::kMillisecond);
    }
    return true;
}();

}  // namespace
