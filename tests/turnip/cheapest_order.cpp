#include <stowage/turnip/cheapest_order.hpp>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/verify/memgraph.hpp>
#include "support/memgraph_contents.hpp"
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using stowage::buffer_kind;
using stowage::operator_index;

namespace {

/// A training step whose updates all come last: every gradient waits for the end.
stowage::tensor_graph late_updates(std::size_t layers) {
    stowage::program step;
    std::vector<stowage::buffer_id> weights;
    std::vector<stowage::buffer_id> gradients;
    for (std::size_t k = 0; k < layers; ++k)
        weights.push_back(step.add_buffer({.bytes = 10, .kind = buffer_kind::parameter}));
    for (std::size_t k = 0; k < layers; ++k) {
        gradients.push_back(step.add_buffer({.bytes = 10}));
        step.add_operator({.name = "backward", .reads = {weights[k]}, .writes = {gradients[k]}});
    }
    for (std::size_t k = 0; k < layers; ++k)
        step.add_operator({.name = "update", .reads = {gradients[k], weights[k]}, .writes = {weights[k]}});
    return stowage::make_tensor_graph(step);
}

turnip::compile_options with_capacity(std::int64_t capacity) {
    return {.devices = {{.capacity = capacity}}, .limits = {.states = 20'000}};
}

}  // namespace

TEST_CASE("updates come when their gradient is there, from program order too") {
    const turnip::taskgraph task = turnip::make_taskgraph(late_updates(6));
    const turnip::compile_options options = with_capacity(25);
    const std::vector<std::vector<operator_index>> program{stowage::program_order(task.program)};
    const turnip::chosen_order moved = turnip::choose_order(task, program, options);
    CHECK(moved.moves > 0);
    CHECK(moved.bytes_moved == 6 * (10 + 10));  // each weight in once and out once
    const turnip::compiled plain = turnip::compile(task, options);
    const turnip::compiled chosen = turnip::compile(task, options, turnip::cheapest_order{});
    REQUIRE(plain.ok());
    REQUIRE(chosen.ok());
    CHECK(chosen.bytes_moved == 6 * (10 + 10));
    CHECK(plain.bytes_moved > chosen.bytes_moved);
    CHECK(stowage::verify::check_memgraph(task, chosen.memgraph, {.capacities = {25}}).reason == "");
    CHECK(stowage::test::runs_right(task.program, chosen.memgraph, 1));
}

TEST_CASE("the order is legal, no dearer than any candidate, and the same again") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        const auto start = static_cast<turnip::start_rule>(seed % 3);
        const auto devices = static_cast<std::uint32_t>(1 + seed % 2);
        const turnip::taskgraph task = turnip::make_taskgraph(
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 12, .largest = 9})),
            {.devices = devices, .start = start});
        turnip::compile_options options = with_capacity(40);
        options.devices.resize(devices, {.capacity = 40});
        options.limits.states = 2'000;
        const std::vector<std::vector<operator_index>> candidates{
            stowage::program_order(task.program), stowage::order::depth_first{}(task.program)};
        const turnip::chosen_order chosen = turnip::choose_order(task, candidates, options);
        CHECK(chosen.order == turnip::choose_order(task, candidates, options).order);
        CHECK(chosen.candidate < 2);
        turnip::detail::order_price price(task, options);
        for (const std::vector<operator_index>& candidate : candidates)
            CHECK(chosen.bytes_moved <= price(candidate));
        CHECK(chosen.bytes_moved == price(chosen.order));
        const turnip::compiled made = turnip::compile(task, chosen.order, options);
        if (!made.ok()) continue;
        CHECK(made.order == chosen.order);
        CHECK(stowage::verify::check_memgraph(task, made.memgraph).reason == "");
    }
}

TEST_CASE("where nobody fits, a candidate comes back") {
    const turnip::taskgraph task = turnip::make_taskgraph(late_updates(2));
    const std::vector<std::vector<operator_index>> program{stowage::program_order(task.program)};
    const turnip::chosen_order none = turnip::choose_order(task, program, with_capacity(5));
    CHECK(none.bytes_moved == std::numeric_limits<std::int64_t>::max());
    CHECK(none.order == program[0]);
    CHECK(turnip::compile(task, with_capacity(5), turnip::cheapest_order{}).status ==
          stowage::status::infeasible);
}
