#include <stowage/order/detail/order_moves.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/detail/cut_library.hpp>
#include <stowage/verify/order.hpp>

#include "support/any_program.hpp"

using namespace stowage;
using namespace stowage::order::detail;

TEST_CASE("moves keep the order legal, and what they say of the excess is true") {
    stowage::detail::splitmix64 random(86);
    int accepted_chunks = 0;
    int accepted_cuts = 0;
    for (int trial = 0; trial < 80; ++trial) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 2 + random.below(60), .window = 10}));
        const order_problem problem = make_order_problem(graph);
        tracked_order order(problem);
        order_moves moves(problem, order);
        cut_library cuts(problem);
        order.assign(program_order(graph));
        for (int move = 0; move < 100; ++move) {
            order.set_threshold(order.peak() - static_cast<std::int64_t>(random.below(20)));
            const std::int64_t before = order.excess();
            if (random.below(3) == 0) {
                const std::size_t at = random.below(order.size());
                const bool sideways = random.below(2) == 0;
                const auto& sets = cuts.sets(order.at(at));
                const operator_index v = order.at(at);
                const bool moved = moves.cut(at, random.below(2) == 0 ? sets.least : sets.greatest, sideways);
                CHECK(order.excess() <= before);
                if (!moved) CHECK(order.excess() == before);
                if (moved && !sideways) CHECK(order.excess() < before);
                if (moved) CHECK(order.hill(order.position(v)) == cuts.least_hill(v));
                accepted_cuts += moved ? 1 : 0;
            } else {
                const bool moved = moves.chunk(random);
                CHECK(order.excess() <= before + before / 100);
                if (!moved) CHECK(order.excess() == before);
                accepted_chunks += moved ? 1 : 0;
            }
            if (move % 10 == 0) {
                const auto verdict = verify::check_order(graph, order.order());
                CHECK(verdict.ok);
                CHECK(verdict.peak == order.peak());
            }
        }
        CHECK(moves.work() > 0);
    }
    CHECK(accepted_chunks > 500);
    CHECK(accepted_cuts > 100);
}
