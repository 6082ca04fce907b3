#include <stowage/order/integer_timesteps.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/layout/of_timesteps.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/verify/layout.hpp>
#include <stowage/verify/timesteps.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/brute_force_steps.hpp"

using namespace stowage;
using namespace stowage::order;

namespace {

std::size_t path_of(const tensor_graph& graph) {
    return order::detail::longest_path(order::detail::make_order_problem(graph));
}

}  // namespace

TEST_CASE("the multi-streaming program is exact on small programs with everything") {
    stowage::detail::splitmix64 random(41);
    for (int round = 0; round < 120; ++round) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 2 + random.below(4)}));
        const std::size_t steps = path_of(graph) + random.below(2);
        const std::int64_t least = test::least_peak_in_steps(graph, steps);
        CAPTURE(round);
        for (const bool warm : {true, false}) {
            budget account({.states = 2'000'000'000});
            const integer_timesteps<> policy{.options = {.steps = steps, .warm_start = warm}};
            const timesteps_solution found = policy(graph, account);
            const verify::verdict verdict = verify::check_timesteps(graph, found);
            CAPTURE(verdict.reason);
            CHECK(verdict.ok);
            CHECK(found.peak == least);
            CHECK(found.status == status::optimal);
            CHECK(peak_bytes(graph, found.timesteps) == found.peak);
        }
    }
}

TEST_CASE("with as many steps as operators it needs no more than the best order") {
    stowage::detail::splitmix64 random(42);
    for (int round = 0; round < 40; ++round) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 5}));
        CAPTURE(round);
        budget account({.states = 2'000'000'000});
        const timesteps_solution found =
            integer_timesteps<>{.options = {.steps = graph.operator_count()}}(graph, account);
        CHECK(found.peak == test::least_peak(graph));
    }
}

TEST_CASE("the layout of steps is valid, and its load is their peak") {
    stowage::detail::splitmix64 random(43);
    for (int round = 0; round < 40; ++round) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 8}));
        budget account({.states = 1'000'000});
        const timesteps_solution found = integer_timesteps<>{}(graph, account);
        const layout::order_layout posed = layout::layout_problem_of(graph, found.timesteps);
        const layout::solution laid_out = layout::plan(posed.problem);
        CHECK(verify::check_layout(posed.problem, laid_out));
        CHECK(laid_out.load == found.peak);
    }
}

TEST_CASE(
    "T is a parameter: too few are refused by name, by default there is a hundredth more than the path") {
    program chain;
    buffer_id last = chain.add_buffer({.bytes = 1});
    chain.add_operator({.writes = {last}});
    for (int i = 0; i < 199; ++i) {
        const buffer_id next = chain.add_buffer({.bytes = 1});
        chain.add_operator({.reads = {last}, .writes = {next}});
        last = next;
    }
    const tensor_graph graph = make_tensor_graph(chain);
    budget account;
    CHECK_THROWS_WITH_AS(static_cast<void>(integer_timesteps<>{.options = {.steps = 199}}(graph, account)),
                         "199 steps are fewer than the 200 operators of a longest path", program_error);
    const timesteps_solution found = integer_timesteps<>{.options = {.operators = 10}}(graph, account);
    CHECK(found.limit == 202);
    CHECK(found.timesteps.steps.size() == 200);
    CHECK(found.peak == 2);
    CHECK(verify::check_timesteps(graph, found));
}

TEST_CASE("what is too large, stopped or out of time keeps the warm start; without one there is nothing") {
    stowage::detail::splitmix64 random(44);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 20}));
    using namespace std::chrono_literals;
    for (int round = 0; round < 10; ++round) {
        std::stop_source stop;
        std::jthread killer([&, pause = std::chrono::microseconds(random.below(3'000))] {
            std::this_thread::sleep_for(pause);
            stop.request_stop();
        });
        budget account({.time = 10s, .stop = stop.get_token()});
        CHECK(verify::check_timesteps(graph, integer_timesteps<>{}(graph, account)));
    }
    budget none({.time = 0ns});
    CHECK(verify::check_timesteps(graph, integer_timesteps<>{}(graph, none)));
    const timesteps_solution nothing = integer_timesteps<>{.options = {.warm_start = false}}(graph, none);
    CHECK(nothing.status == status::unknown);
    CHECK(nothing.timesteps.steps.empty());
    budget account;
    const tensor_graph empty = make_tensor_graph(program{});
    const timesteps_solution of_empty = integer_timesteps<>{}(empty, account);
    CHECK(of_empty.peak == 0);
    CHECK(of_empty.status == status::optimal);
}
