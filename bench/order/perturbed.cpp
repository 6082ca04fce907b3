// Programs like the captured ones (other sizes, operators left out, dependencies added): how many of them the
// default search proves optimal within its default limit, and how far it stays away on the worst.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <stowage/io/access_list.hpp>
#include <stowage/order.hpp>

#include "support/perturbed_program.hpp"

namespace {

using namespace stowage;

constexpr std::uint64_t seeds = 8;

void plan_perturbed(benchmark::State& state, const tensor_graph& captured) {
    std::vector<tensor_graph> graphs;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        graphs.push_back(test::perturbed_program(captured, seed));
    double proven = 0;
    double worst = 0;
    for (auto _ : state) {
        proven = worst = 0;
        for (const tensor_graph& graph : graphs) {
            const order::solution found = order::portfolio{}(graph, {.states = 1'000'000});
            proven += found.status == status::optimal ? 1 : 0;
            const auto bound = static_cast<double>(found.lower_bound);
            worst = std::max(worst, 100.0 * (static_cast<double>(found.peak) - bound) / bound);
        }
    }
    state.counters["programs"] = static_cast<double>(seeds);
    state.counters["proven"] = proven;
    state.counters["worst_gap_percent"] = worst;
}

const int registered = [] {
    for (const char* name :
         {"alexnet-b32", "vgg16-b1", "mnasnet1_0-b1", "efficientnet_b0-b1", "resnet50-b1", "vit_b_16-b1",
          "bert-b1", "gpt2-xl-b1", "inductor-gpt2-bwd", "inductor-resnet50-bwd", "inductor-densenet121-bwd",
          "xla-gpt2-donate-mem", "xla-lstm_unrolled-donate-mem", "xla-resnet18-donate-mem",
          "xla-unet-donate-mem"}) {
        const auto graph = std::make_shared<tensor_graph>(
            io::read_access_list(STOWAGE_EXAMPLE_DATA "/" + std::string(name) + ".json.gz").graph);
        benchmark::RegisterBenchmark((std::string("perturbed/") + name).c_str(),
                                     [graph](benchmark::State& state) { plan_perturbed(state, *graph); })
            ->Unit(benchmark::kMillisecond)
            ->Iterations(1);
    }
    return 0;
}();

}  // namespace
