#include <stowage/order/cut_move.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/detail/cut_library.hpp>
#include <stowage/order/detail/live_state.hpp>
#include <stowage/verify/order.hpp>

#include "support/any_program.hpp"

namespace {

using namespace stowage;

// A random legal order.
order::sequence random_order(const tensor_graph& graph, stowage::detail::splitmix64& random) {
    order::sequence order;
    std::vector<std::size_t> waits(graph.operator_count());
    std::vector<operator_index> ready;
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        waits[op] = graph.predecessors(op).size();
        if (waits[op] == 0) ready.push_back(op);
    }
    while (!ready.empty()) {
        const std::size_t at = random.below(ready.size());
        const operator_index op = ready[at];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
        order.push_back(op);
        for (const operator_index next : graph.successors(op)) {
            if (--waits[next] == 0) ready.push_back(next);
        }
    }
    return order;
}

}  // namespace

TEST_CASE("operators that stay on their side of v, and v, never get a higher hill") {
    stowage::detail::splitmix64 random(41);
    int changed_sides = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 2 + random.below(20)}));
        const auto problem = order::detail::make_order_problem(graph);
        order::detail::cut_library cuts(problem);
        for (int move = 0; move < 5; ++move) {
            const order::sequence before = random_order(graph, random);
            const auto v = static_cast<operator_index>(random.below(graph.operator_count()));
            const auto& sets = cuts.sets(v);
            const auto& y = random.below(2) == 0 ? sets.least : sets.greatest;
            order::sequence after;
            for (const operator_index op : before) {
                if (y.contains(op)) after.push_back(op);
            }
            after.push_back(v);
            for (const operator_index op : before) {
                if (!y.contains(op) && op != v) after.push_back(op);
            }
            REQUIRE(verify::check_order(graph, after).ok);
            const auto step_before = steps_of(graph, before);
            const auto step_after = steps_of(graph, after);
            const auto live_before = live_bytes(graph, before);
            const auto live_after = live_bytes(graph, after);
            for (operator_index op = 0; op < graph.operator_count(); ++op) {
                const bool stays = op == v || (step_before[op] < step_before[v]) == y.contains(op);
                changed_sides += stays ? 0 : 1;
                if (stays) CHECK(live_after[step_after[op]] <= live_before[step_before[op]]);
            }
            CHECK(live_after[step_after[v]] == cuts.least_hill(v));
        }
    }
    CHECK(changed_sides > 100);
}

TEST_CASE("as a policy: legal, never worse than the incumbent, the same every time") {
    stowage::detail::splitmix64 random(42);
    int better = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 40}));
        const order::sequence start = random_order(graph, random);
        const auto improve = [&] {
            budget account;
            order::context shared{.account = account};
            shared.incumbent = start;
            shared.incumbent_peak = peak_bytes(graph, start);
            return order::cut_moves{}(graph, shared);
        };
        const order::sequence found = improve();
        CHECK(found == improve());
        if (found.empty()) continue;
        const auto verdict = verify::check_order(graph, found);
        CHECK(verdict.ok);
        CHECK(verdict.peak < peak_bytes(graph, start));
        ++better;
    }
    CHECK(better > 40);
}
