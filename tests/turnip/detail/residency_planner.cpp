#include <stowage/turnip/detail/residency_planner.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/verify/memgraph.hpp>
#include "support/memgraph_contents.hpp"

namespace turnip = stowage::turnip;

namespace {

/// Layers whose activations, of all sizes, wait for the backward pass, and parameters that it updates.
stowage::tensor_graph training_step(std::uint64_t seed, std::size_t layers) {
    stowage::detail::splitmix64 random(seed);
    stowage::program step;
    const auto some = [&](std::int64_t least, std::uint64_t more) {
        return least + static_cast<std::int64_t>(random.below(more));
    };
    std::vector<stowage::buffer_id> values{
        step.add_buffer({.bytes = 100, .kind = stowage::buffer_kind::input})};
    std::vector<stowage::buffer_id> weights;
    std::vector<std::vector<stowage::buffer_id>> kept(layers);
    for (std::size_t k = 0; k < layers; ++k) {
        values.push_back(step.add_buffer({.bytes = some(100, 900)}));
        weights.push_back(
            step.add_buffer({.bytes = some(100, 900), .kind = stowage::buffer_kind::parameter}));
        std::vector<stowage::buffer_id> made{values.back()};
        for (std::uint64_t more = 1 + random.below(2); more > 0; --more) {
            kept[k].push_back(step.add_buffer({.bytes = some(50, 500)}));
            made.push_back(kept[k].back());
        }
        step.add_operator({.reads = {values[k], weights[k]}, .writes = made});
    }
    auto gradient = step.add_buffer({.bytes = 100});
    step.add_operator({.reads = {values.back()}, .writes = {gradient}});
    for (std::size_t k = layers; k-- > 0;) {
        const auto next = step.add_buffer(
            {.bytes = some(100, 900),
             .kind = k == 0 ? stowage::buffer_kind::output : stowage::buffer_kind::intermediate});
        std::vector<stowage::buffer_id> reads{gradient, values[k], weights[k]};
        reads.insert(reads.end(), kept[k].begin(), kept[k].end());
        step.add_operator({.reads = reads, .writes = {next, weights[k]}});
        gradient = next;
    }
    return stowage::make_tensor_graph(step);
}

}  // namespace

TEST_CASE("a layout that nearly fits is searched for longer: fewer bytes move where layouts are hard") {
    std::int64_t with = 0;
    std::int64_t without = 0;
    for (const auto& [seed, percent] : {std::pair{18U, 45}, {21U, 45}, {28U, 60}, {37U, 60}, {53U, 60}}) {
        CAPTURE(seed);
        const turnip::taskgraph task = turnip::make_taskgraph(training_step(seed, 16 + seed % 24),
                                                              {.start = turnip::start_rule::steady});
        const auto live = stowage::live_bytes(task.program, stowage::program_order(task.program));
        const std::int64_t capacity = *std::max_element(live.begin(), live.end()) * percent / 100;
        const turnip::compile_options options{.devices = {{.capacity = capacity}},
                                              .limits = {.states = 20'000}};
        const turnip::compiled hard = turnip::compile(task, options);
        const turnip::compiled easy = turnip::compile(task, options, turnip::residency{{.hard_layouts = 0}});
        REQUIRE(hard.ok());
        REQUIRE(easy.ok());
        CHECK(stowage::verify::check_memgraph(task, hard.memgraph, {.capacities = {capacity}}).reason == "");
        CHECK(stowage::test::runs_right(task.program, hard.memgraph, seed));
        with += hard.bytes_moved;
        without += easy.bytes_moved;
    }
    CHECK(with < 0.995 * static_cast<double>(without));
}
