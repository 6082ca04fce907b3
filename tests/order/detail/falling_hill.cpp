#include <stowage/order/detail/falling_hill.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"

using namespace stowage;
using namespace stowage::order::detail;

TEST_CASE("operators come by falling hill, ties by index, down to the bound") {
    const std::vector<std::int64_t> hills = {5, 9, 3, 9, 7, 4};
    std::vector<operator_index> seen;
    std::int64_t bound = 3;
    by_falling_hill(
        hills.size(), [&](operator_index op) { return hills[op]; }, [&] { return bound; },
        [&](operator_index op) {
            seen.push_back(op);
            if (op == 4) bound = 4;
            return true;
        });
    CHECK(seen == std::vector<operator_index>{1, 3, 4, 0});
    seen.clear();
    by_falling_hill(
        hills.size(), [&](operator_index op) { return hills[op]; }, [] { return std::int64_t{0}; },
        [&](operator_index op) {
            seen.push_back(op);
            return seen.size() < 2;
        });
    CHECK(seen == std::vector<operator_index>{1, 3});
}

TEST_CASE("by falling hill is the largest cut of all operators, with fewer cuts") {
    stowage::detail::splitmix64 random(87);
    std::size_t made = 0;
    std::size_t operators = 0;
    for (int trial = 0; trial < 100; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 25}));
        budget account;
        order::context shared{.account = account};
        workbench bench(graph, shared);
        bench.offer(program_order(graph), "program");
        CHECK(raise_by_min_cuts(bench, std::numeric_limits<std::uint64_t>::max()));
        std::int64_t largest = 0;
        cut_library all(bench.problem());
        for (operator_index op = 0; op < graph.operator_count(); ++op)
            largest = std::max(largest, all.least_hill(op));
        CHECK(bench.lower_bound() == largest);
        made += bench.cuts().cuts();
        operators += graph.operator_count();
    }
    CHECK(made * 2 < operators);
}

TEST_CASE("one cut is made even where there is nothing left to spend") {
    stowage::detail::splitmix64 random(88);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 60}));
    budget account(search_limits{.states = 0});
    order::context shared{.account = account};
    workbench bench(graph, shared);
    bench.offer(program_order(graph), "program");
    raise_by_min_cuts(bench, 0);
    CHECK(bench.cuts().cuts() == 1);
    CHECK(bench.lower_bound() > 0);
}
