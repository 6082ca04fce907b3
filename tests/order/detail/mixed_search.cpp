#include <stowage/order/detail/mixed_search.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include <stowage/graph.hpp>
#include <stowage/verify/order.hpp>

#include "support/any_program.hpp"

using namespace stowage;
using namespace stowage::order::detail;

TEST_CASE("ten-thousandths of large numbers") {
    CHECK(lowered(10'000, 100) == 9'900);
    CHECK(lowered(99, 100) == 99);
    CHECK(lowered(std::numeric_limits<std::int64_t>::max(), 5) < std::numeric_limits<std::int64_t>::max());
    CHECK(lowered(std::numeric_limits<std::int64_t>::max(), 9'999) > 0);
}

TEST_CASE("searches offer legal orders with the peak they say, and only better ones") {
    stowage::detail::splitmix64 random(89);
    int better = 0;
    for (int trial = 0; trial < 40; ++trial) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 80, .window = 12}));
        budget account(search_limits{.states = 50'000});
        order::context shared{.account = account};
        workbench bench(graph, shared);
        bench.offer(program_order(graph), "program");
        const std::int64_t start = bench.best_peak();
        mixed_search search(bench);
        search.start(bench.best());
        CHECK(search.peak() == start);
        search.descend(40);
        const std::int64_t descended = search.peak();
        CHECK(descended <= start);
        search.run(500, 100, random);
        CHECK(search.peak() <= descended);
        search.offer("search");
        CHECK(bench.best_peak() == search.peak());
        const auto verdict = verify::check_order(graph, bench.best());
        CHECK(verdict.ok);
        CHECK(verdict.peak == bench.best_peak());
        better += bench.best_peak() < start ? 1 : 0;
        CHECK(bench.lower_bound() <= bench.best_peak());
    }
    CHECK(better > 30);
}
