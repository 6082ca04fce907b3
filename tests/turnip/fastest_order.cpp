#include <stowage/turnip/fastest_order.hpp>

#include <algorithm>
#include <cstdint>
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
using stowage::stage;

namespace {

/// Layers of forward and backward operators of one second, then all updates: two operators each, of which the
/// first needs no gradient.
stowage::tensor_graph late_updates(std::size_t layers) {
    stowage::program step;
    std::vector<stowage::buffer_id> weights;
    std::vector<stowage::buffer_id> moments;
    std::vector<stowage::buffer_id> values{step.add_buffer({.bytes = 4, .kind = buffer_kind::input})};
    for (std::size_t k = 0; k < layers; ++k) {
        weights.push_back(step.add_buffer({.bytes = 10, .kind = buffer_kind::parameter}));
        moments.push_back(step.add_buffer({.bytes = 10, .kind = buffer_kind::optimizer_state}));
        values.push_back(step.add_buffer({.bytes = 4}));
        step.add_operator({.reads = {values[k], weights[k]},
                           .writes = {values[k + 1]},
                           .stage = stage::forward,
                           .seconds = 1.0});
    }
    std::vector<stowage::buffer_id> gradients;
    stowage::buffer_id dy = step.add_buffer({.bytes = 4});
    step.add_operator({.reads = {values.back()}, .writes = {dy}, .stage = stage::backward, .seconds = 1.0});
    for (std::size_t k = layers; k-- > 0;) {
        gradients.push_back(step.add_buffer({.bytes = 10}));
        const auto dx = step.add_buffer({.bytes = 4});
        step.add_operator({.reads = {dy, weights[k], values[k]},
                           .writes = {dx, gradients.back()},
                           .stage = stage::backward,
                           .seconds = 1.0});
        dy = dx;
    }
    for (std::size_t k = 0; k < layers; ++k) {
        step.add_operator(
            {.reads = {moments[k]}, .writes = {moments[k]}, .stage = stage::update, .seconds = 0.001});
        step.add_operator({.reads = {gradients[layers - 1 - k], moments[k], weights[k]},
                           .writes = {weights[k], moments[k]},
                           .stage = stage::update,
                           .seconds = 0.001});
    }
    return stowage::make_tensor_graph(step);
}

turnip::compile_options options_of(std::int64_t capacity) {
    turnip::compile_options options{
        .devices = {{.capacity = capacity}}, .goal = turnip::goal::time, .limits = {.states = 20'000}};
    options.machine.host_to_device_bytes_per_second = options.machine.device_to_host_bytes_per_second = 25;
    return options;
}

bool is_legal(const stowage::tensor_graph& program, const std::vector<operator_index>& order) {
    std::vector<std::size_t> place(program.operator_count(), program.operator_count());
    for (std::size_t k = 0; k < order.size(); ++k)
        place[order[k]] = k;
    return order.size() == place.size() && std::all_of(order.begin(), order.end(), [&](operator_index op) {
               const auto before = program.predecessors(op);
               return place[op] < place.size() &&
                      std::all_of(before.begin(), before.end(),
                                  [&](operator_index p) { return place[p] < place[op]; });
           });
}

}  // namespace

TEST_CASE("an update runs after its gradient, and what needs no gradient just before it") {
    const stowage::tensor_graph program = late_updates(3);
    const auto early = turnip::early_updates(program, stowage::program_order(program));
    // forward 0-2, loss 3, backward 4-6 (of layers 2, 1, 0), updates 7, 8 (layer 0), 9, 10 (1), 11, 12 (2)
    CHECK(early == std::vector<operator_index>{0, 1, 2, 3, 4, 11, 12, 5, 9, 10, 6, 7, 8});
}

TEST_CASE("early updates of any legal order are a legal order") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const stowage::tensor_graph program =
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 20}));
        const std::vector<operator_index> orders[] = {stowage::program_order(program),
                                                      stowage::order::depth_first{}(program)};
        for (const std::vector<operator_index>& order : orders) {
            const auto early = turnip::early_updates(program, order);
            CHECK(is_legal(program, early));
            CHECK(turnip::early_updates(program, early) == early);
        }
    }
}

TEST_CASE("copies of updates hide behind the backward pass: faster than in program order") {
    const turnip::taskgraph task = turnip::make_taskgraph(late_updates(8));
    turnip::compile_options options = options_of(80);
    std::size_t told = 0;
    options.on_progress = [&](const turnip::compile_progress& now) {
        ++told;
        CHECK(now.makespan >= now.makespan_lower_bound);
    };
    const turnip::compiled plain = turnip::compile(task, options);
    const turnip::compiled chosen = turnip::compile(task, options, turnip::fastest_order{});
    REQUIRE(plain.ok());
    REQUIRE(chosen.ok());
    CHECK(told > 0);
    CHECK(chosen.order != plain.order);
    CHECK(chosen.makespan < 0.9 * plain.makespan);
    CHECK(chosen.makespan >= chosen.makespan_lower_bound);
    CHECK(stowage::verify::check_memgraph(task, chosen.memgraph, {.capacities = {80}}).reason == "");
    CHECK(stowage::test::runs_right(task.program, chosen.memgraph, 1));
    options.goal = turnip::goal::bytes;
    CHECK(turnip::compile(task, options, turnip::fastest_order{}).order == plain.order);
}

TEST_CASE("where little memory is there, an order of low peak is faster") {
    double with = 0;
    double without = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        CAPTURE(seed);
        const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(
            stowage::test::random_program(seed, {.operators = 40, .largest = 100})));
        turnip::compile_options options = options_of(0);
        options.limits.states = 2'000;
        options.devices[0].capacity = turnip::compile(task, options).least_capacity + 100;
        const turnip::compiled low = turnip::compile(task, options, turnip::fastest_order{});
        const turnip::compiled plain =
            turnip::compile(task, options, turnip::fastest_order<>{.peak_states = 0});
        REQUIRE(low.ok());
        REQUIRE(plain.ok());
        CHECK(is_legal(task.program, low.order));
        CHECK(
            stowage::verify::check_memgraph(task, low.memgraph, {.capacities = {options.devices[0].capacity}})
                .reason == "");
        with += low.makespan;
        without += plain.makespan;
    }
    CHECK(with < 0.97 * without);
}

TEST_CASE("where nobody fits, the answer says so") {
    const turnip::taskgraph task = turnip::make_taskgraph(late_updates(2));
    CHECK(turnip::compile(task, options_of(5), turnip::fastest_order{}).status ==
          stowage::status::infeasible);
}
