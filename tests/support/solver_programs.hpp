#pragma once
// The integer programs of the order and layout rooms, solved by one solver and held against brute force and
// the exact searches: part of what a solver must do.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <thread>

#include <stowage/graph.hpp>
#include <stowage/layout/integer_program.hpp>
#include <stowage/layout/model.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/integer_program.hpp>
#include <stowage/order/integer_timesteps.hpp>
#include <stowage/order/model.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/verify/layout.hpp>
#include <stowage/verify/order.hpp>
#include <stowage/verify/timesteps.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/brute_force_steps.hpp"
#include "support/dense_layouts.hpp"
#include "support/layout_cases.hpp"

namespace stowage::test {

template <solver::mip_solver Solver>
void check_layout_programs(const Solver& solver) {
    detail::splitmix64 random(71);
    for (int round = 0; round < 40; ++round) {
        const layout_cases::features features{.alignment = round % 2 == 0,
                                              .mixed_alignment = round % 3 == 0,
                                              .pins = round % 5 == 0,
                                              .gaps = round % 7 == 0,
                                              .empty = round % 4 == 0};
        const layout::problem posed =
            round % 2 == 0 ? layout_cases::random_problem(2 + random.below(4), features, random)
                           : dense_layouts::fill(6, 13, 6, random);
        CAPTURE(round);
        const layout::integer_program<Solver> policy{.solver = solver,
                                                     .options = {.warm_start = round % 3 != 0}};
        const layout::solution found = layout::plan(posed, policy, search_limits{.states = 1'000'000'000});
        CHECK(verify::check_layout(posed, found));
        CHECK(found.arena == layout_cases::least_arena(posed));
        CHECK(found.status == status::optimal);
    }
}

template <solver::mip_solver Solver>
void check_order_programs(const Solver& solver) {
    detail::splitmix64 random(72);
    for (int round = 0; round < 40; ++round) {
        const tensor_graph graph = make_tensor_graph(any_program(random, {.operators = 2 + random.below(5)}));
        const std::int64_t least = least_peak(graph);
        CAPTURE(round);
        budget account({.states = 1'000'000'000});
        order::context alone{.account = account};
        const order::sequence order = order::integer_program<Solver>{
            .solver = solver, .options = {.warm_start = round % 2 == 0}}(graph, alone);
        CHECK(verify::check_order(graph, std::span<const operator_index>(order)).peak == least);
        CHECK(alone.lower_bound == least);

        const std::size_t steps = order::detail::longest_path(order::detail::make_order_problem(graph));
        const order::timesteps_solution several = order::integer_timesteps<Solver>{
            .solver = solver, .options = {.steps = steps, .warm_start = round % 2 == 0}}(graph, account);
        CHECK(verify::check_timesteps(graph, several));
        CHECK(several.status == status::optimal);
        if (graph.operator_count() < 6) CHECK(several.peak == least_peak_in_steps(graph, steps));
    }
}

/// Stopped at any moment, what is claimed still holds: orders are legal, bounds not above the least peak.
template <solver::mip_solver Solver>
void check_interrupted_programs(const Solver& solver) {
    using namespace std::chrono_literals;
    detail::splitmix64 random(73);
    for (int round = 0; round < 12; ++round) {
        const tensor_graph graph =
            make_tensor_graph(any_program(random, {.operators = 14, .window = 12, .writes_again = false}));
        budget free;
        const order::solution best = order::plan(graph, order::exact{}, free);
        REQUIRE(best.status == status::optimal);
        std::stop_source stop;
        std::jthread killer([&, pause = std::chrono::microseconds(random.below(100'000))] {
            std::this_thread::sleep_for(pause);
            stop.request_stop();
        });
        budget account({.time = 10s, .stop = stop.get_token()});
        order::context alone{.account = account};
        const order::sequence order = order::integer_program<Solver>{.solver = solver}(graph, alone);
        const verify::verdict verdict = verify::check_order(graph, std::span<const operator_index>(order));
        CAPTURE(round);
        CHECK(verdict.ok);
        CHECK(verdict.peak >= best.peak);
        CHECK(alone.lower_bound <= best.peak);
    }
}

template <solver::mip_solver Solver>
void check_rivals(const Solver& solver) {
    detail::splitmix64 random(74);
    for (int round = 0; round < 15; ++round) {
        const tensor_graph graph = make_tensor_graph(any_program(random, {.operators = 2 + random.below(4)}));
        CAPTURE(round);
        const std::int64_t least = least_peak(graph);
        budget account({.states = 1'000'000'000});
        order::context alone{.account = account};
        const order::sequence single = order::model_ss<Solver>{.solver = solver}(graph, alone);
        CHECK(verify::check_order(graph, std::span<const operator_index>(single)).peak == least);
        CHECK(alone.lower_bound == least);
        const order::timesteps_solution several = order::model_ms<Solver>{.solver = solver}(graph, account);
        CHECK(verify::check_timesteps(graph, several));
        CHECK(several.status == status::optimal);
        const layout::order_layout posed = layout::layout_problem_of(graph, single);
        const layout::solution laid_out =
            layout::plan(posed.problem, layout::model<Solver>{.solver = solver}, account);
        CHECK(verify::check_layout(posed.problem, laid_out));
    }
}

}  // namespace stowage::test
