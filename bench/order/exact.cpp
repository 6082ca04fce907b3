// The exact order search: layers of captured training steps repeated to a million operators; and each
// captured program with one rule after the other switched off, which shows what the rule brings (bytes of gap
// left, states).

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <stowage/io/access_list.hpp>
#include <stowage/order.hpp>

#include "order/repeated_layers.hpp"

namespace {

using namespace stowage;

tensor_graph captured(const std::string& name) {
    return io::read_access_list(std::string(STOWAGE_EXAMPLE_DATA) + "/" + name + ".json.gz").graph;
}

void report(benchmark::State& state, const order::solution& found, std::uint64_t states) {
    state.counters["proven"] = found.status == status::optimal ? 1 : 0;
    state.counters["gap_percent"] =
        100.0 * static_cast<double>(found.peak - found.lower_bound) / static_cast<double>(found.lower_bound);
    state.counters["states"] = static_cast<double>(states);
}

void repeated(benchmark::State& state, const char* name, const bench::layer_periods& periods) {
    const tensor_graph graph =
        bench::layer_repeater(captured(name), periods).make(static_cast<std::size_t>(state.range(0)));
    order::solution found;
    std::uint64_t states = 0;
    for (auto _ : state) {
        budget account;
        found = order::plan(graph, order::exact{}, account);
        states = account.spent();
    }
    report(state, found, states);
    state.counters["operators"] = static_cast<double>(graph.operator_count());
}

void without_a_rule(benchmark::State& state, const tensor_graph& graph, const order::exact& policy) {
    order::solution found;
    std::uint64_t states = 0;
    for (auto _ : state) {
        budget account(search_limits{.states = 2'000'000});
        found = order::plan(graph, policy, account);
        states = account.spent();
    }
    report(state, found, states);
}

struct variant {
    const char* name;
    order::exact policy;
};

std::vector<variant> variants() {
    std::vector<variant> all(15);
    all[0].name = "all";
    all[1].name = "no_reductions";
    all[1].policy.parts.reductions = {false, false, false, false};
    all[2].name = "no_segments";
    all[2].policy.parts.segments = false;
    all[3].name = "no_relaxed_segments";
    all[3].policy.parts.relaxed = false;
    all[4].name = "no_components";
    all[4].policy.valleys.components = all[4].policy.branches.valleys.components = false;
    all[4].policy.branches.split.valleys.components = false;
    all[5].name = "no_splits";
    all[5].policy.branches.split_operators = 0;
    all[6].name = "no_splits_from_before";
    all[6].policy.branches.split_before = false;
    all[7].name = "no_probing";
    all[7].policy.branches.probe = false;
    all[8].name = "no_witnesses";
    all[8].policy.branches.probing.witnesses = false;
    all[9].name = "no_branching";
    all[9].policy.branches.nodes = 1;
    all[10].name = "no_moves";
    all[10].policy.moves = false;
    all[11].name = "no_contraction";
    all[11].policy.parts.reductions.contract = false;
    all[12].name = "no_search_first";
    all[12].policy.search_first = false;
    all[13].name = "no_narrow";
    all[13].policy.narrow = false;
    all[14].name = "no_components_apart";
    all[14].policy.parts.components = false;
    return all;
}

const int registered = [] {
    const auto repeat = [](const char* name, const bench::layer_periods& periods) {
        benchmark::RegisterBenchmark((std::string("repeated/") + name).c_str(), repeated, name, periods)
            ->Unit(benchmark::kMillisecond)
            ->RangeMultiplier(10)
            ->Range(10'000, 1'000'000);
    };
    repeat("llama-7b-lora-b1", {68, 106, 72});
    repeat("gpt2-xl-b1", {36, 41, 96});
    for (const char* name : {"efficientnet_b0-b1", "mnasnet1_0-b1", "vit_b_16-b1", "vgg16-b32",
                             "inductor-gpt2-bwd", "xla-gpt2-donate-mem", "xla-lstm_unrolled-donate-mem",
                             "xla-resnet18-donate-mem", "xla-unet-donate-mem"}) {
        const auto graph = std::make_shared<tensor_graph>(captured(name));
        for (const variant& v : variants()) {
            benchmark::RegisterBenchmark((std::string("rules/") + name + "/" + v.name).c_str(),
                                         [graph, policy = v.policy](benchmark::State& state) {
                                             without_a_rule(state, *graph, policy);
                                         })
                ->Unit(benchmark::kMillisecond)
                ->Iterations(1);
        }
    }
    return 0;
}();

}  // namespace
