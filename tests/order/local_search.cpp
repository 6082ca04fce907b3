#include <stowage/order/local_search.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include <stowage/graph.hpp>
#include <stowage/verify/order.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"

using namespace stowage;

TEST_CASE("finds the optimum of nearly all small programs, by seed and states alone") {
    stowage::detail::splitmix64 random(51);
    int optimal = 0;
    constexpr int trials = 60;
    for (int trial = 0; trial < trials; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 12}));
        const auto search = [&](std::uint64_t seed) {
            budget account(search_limits{.states = 20'000});
            order::context shared{.account = account, .seed = seed};
            return order::local_search{}(graph, shared);
        };
        const order::sequence found = search(1);
        CHECK(found == search(1));
        const auto verdict = verify::check_order(graph, found);
        CHECK(verdict.ok);
        const std::int64_t optimum = test::least_peak(graph);
        CHECK(verdict.peak >= optimum);
        optimal += verdict.peak == optimum ? 1 : 0;
    }
    CHECK(optimal >= trials - 2);
}

TEST_CASE("improves the incumbent only, spends what it is given, raises the bound") {
    stowage::detail::splitmix64 random(52);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 300, .window = 12}));
    const order::sequence start = program_order(graph);
    budget account(search_limits{.states = 3'000});
    order::context shared{.account = account, .incumbent = start, .incumbent_peak = peak_bytes(graph, start)};
    const order::sequence found = order::local_search{.rounds = 1}(graph, shared);
    REQUIRE(!found.empty());
    CHECK(peak_bytes(graph, found) < peak_bytes(graph, start));
    CHECK(shared.lower_bound > 0);
    CHECK(shared.lower_bound <= peak_bytes(graph, found));
    CHECK(account.spent() < 20'000);
    shared.incumbent = found;
    shared.incumbent_peak = shared.lower_bound;  // proven: nothing to do
    CHECK(order::local_search{}(graph, shared).empty());
}

TEST_CASE("programs of no and of one operator") {
    budget account;
    order::context shared{.account = account};
    CHECK(order::local_search{}(make_tensor_graph(program{}), shared).empty());
    program one;
    one.add_operator({.workspace = 5});
    CHECK(order::local_search{}(make_tensor_graph(one), shared) == order::sequence{0});
}
