#include <stowage/order/detail/valley_solver.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/order/detail/interval.hpp>
#include <stowage/order/detail/reduction.hpp>
#include <stowage/order/detail/segments.hpp>
#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/rounds.hpp"

namespace {

namespace order = stowage::order::detail;
using stowage::operator_index;

bool is_legal(const order::order_problem& problem, std::span<const operator_index> sequence) {
    std::vector<std::uint8_t> done(problem.operator_count(), 0);
    for (const operator_index op : sequence) {
        for (const operator_index before : problem.predecessors[op]) {
            if (done[before] == 0) return false;
        }
        if (done[op]++ != 0) return false;
    }
    return sequence.size() == problem.operator_count();
}

stowage::test::any_program_options random_shape(stowage::detail::splitmix64& random) {
    stowage::test::any_program_options options;
    options.operators = 3 + random.below(9);
    options.window = 2 + random.below(8);
    options.most_bytes = random.below(2) == 0 ? 3 : 20;
    options.writes_again = random.below(2) == 0;
    return options;
}

}  // namespace

TEST_CASE("a decision agrees with the least peak, for every bound, with and without rule 10") {
    stowage::detail::splitmix64 random(11);
    for (int round = 0; round < stowage::test::rounds(4000); ++round) {
        CAPTURE(round);
        const auto graph =
            stowage::make_tensor_graph(stowage::test::any_program(random, random_shape(random)));
        const std::int64_t least = stowage::test::least_peak(graph);
        const order::order_problem problem = order::make_order_problem(graph);
        const order::valley_settings settings{.components = random.below(2) == 0,
                                              .plain_states = 1 + random.below(4)};
        order::valley_solver solver(problem, settings);
        for (int trial = 0; trial < 5; ++trial) {
            const std::int64_t bound =
                std::max<std::int64_t>(0, least - 3 + static_cast<std::int64_t>(random.below(6)));
            order::search_effort effort{.state_limit = 1'000'000};
            const order::verdict verdict = solver.decide(bound, 1'000'000, effort);
            if (problem.operator_count() == 0) continue;
            REQUIRE(verdict == (bound >= least ? order::verdict::found : order::verdict::refuted));
            if (verdict == order::verdict::found) {
                REQUIRE(is_legal(problem, solver.order()));
                REQUIRE(order::peak_of(problem, solver.order()) <= bound);
            } else {
                REQUIRE(effort.least_refused > bound);
                REQUIRE(effort.least_refused <= least);
            }
        }
    }
}

TEST_CASE("commits under a limit leave a part that decides alike") {
    stowage::detail::splitmix64 random(12);
    int left = 0;
    for (int round = 0; round < stowage::test::rounds(4000); ++round) {
        CAPTURE(round);
        const auto graph =
            stowage::make_tensor_graph(stowage::test::any_program(random, random_shape(random)));
        const std::int64_t least = stowage::test::least_peak(graph);
        const order::order_problem problem = order::make_order_problem(graph);
        const std::int64_t bound =
            std::max<std::int64_t>(0, least - 1 + static_cast<std::int64_t>(random.below(3)));
        order::valley_solver solver(problem);
        order::search_effort effort{.state_limit = 1'000'000};
        const std::uint64_t states = 1 + random.below(4);
        const order::verdict verdict = solver.decide(bound, states, effort);
        if (verdict == order::verdict::found) REQUIRE(bound >= least);
        if (verdict == order::verdict::refuted) REQUIRE(bound < least);
        if (verdict != order::verdict::open) continue;
        ++left;
        std::vector<operator_index> whole(solver.front().begin(), solver.front().end());
        std::vector<std::uint8_t> placed(problem.operator_count(), 0);
        const std::vector<operator_index> back = solver.back();
        for (const operator_index op : whole)
            placed[op] = 1;
        for (const operator_index op : back)
            placed[op] = 1;
        for (operator_index op = 0; op < problem.operator_count(); ++op)
            if (placed[op] == 0) whole.push_back(op);
        whole.insert(whole.end(), back.begin(), back.end());
        REQUIRE(is_legal(problem, whole));
        order::interval_cutter cutter(problem, whole);
        const order::interval part = cutter.cut(solver.front().size(), whole.size() - back.size());
        order::valley_solver rest(part.problem);
        order::search_effort again{.state_limit = 1'000'000};
        const order::verdict of_rest = rest.decide(bound - part.base, 1'000'000, again);
        REQUIRE(of_rest == (bound >= least ? order::verdict::found : order::verdict::refuted));
    }
    CHECK(left > stowage::test::rounds(100));
}

TEST_CASE("a reduction keeps the least peak, an expanded order its hills") {
    stowage::detail::splitmix64 random(13);
    for (int round = 0; round < stowage::test::rounds(4000); ++round) {
        CAPTURE(round);
        const auto graph =
            stowage::make_tensor_graph(stowage::test::any_program(random, random_shape(random)));
        const std::int64_t least = stowage::test::least_peak(graph);
        const order::order_problem problem = order::make_order_problem(graph);
        const order::reduction_settings settings{.last_users = random.below(3) != 0,
                                                 .idle = random.below(3) != 0,
                                                 .merge = random.below(3) != 0,
                                                 .contract = random.below(3) != 0};
        const order::reduction reduced = order::reduce(problem, settings);
        order::valley_solver solver(reduced.problem);
        order::search_effort effort{.state_limit = 1'000'000};
        if (reduced.problem.operator_count() == 0) continue;
        REQUIRE(solver.decide(least, 1'000'000, effort) == order::verdict::found);
        const std::vector<operator_index> expanded = order::expand(problem, reduced, solver.order());
        REQUIRE(is_legal(problem, expanded));
        REQUIRE(order::peak_of(problem, expanded) == order::peak_of(reduced.problem, solver.order()));
        REQUIRE(order::restrict_order(problem, reduced, expanded) == solver.order());
        REQUIRE(solver.decide(least - 1, 1'000'000, effort) == order::verdict::refuted);
    }
}
