#include <stowage/order/detail/cut_library.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"

using namespace stowage;
using namespace stowage::order::detail;

TEST_CASE("least hills and sets, each computed once") {
    stowage::detail::splitmix64 random(84);
    for (int trial = 0; trial < 50; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 8}));
        const order_problem problem = make_order_problem(graph);
        cut_library cuts(problem);
        for (int ask = 0; ask < 30; ++ask) {
            const auto v = static_cast<operator_index>(random.below(graph.operator_count()));
            const test::operator_set bit = test::operator_set{1} << v;
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (test::operator_set set = 0; set < 1U << graph.operator_count(); ++set) {
                if ((set & bit) != 0 || !test::is_down_set(graph, set) ||
                    !test::is_down_set(graph, set | bit))
                    continue;
                least = std::min(least, test::live_during(graph, set, v));
            }
            CHECK(cuts.least_hill(v) == least);
            CHECK(cuts.knows(v));
            const auto& sets = cuts.sets(v);
            for (const operator_bits* y : {&sets.least, &sets.greatest}) {
                test::operator_set set = 0;
                for (operator_index op = 0; op < graph.operator_count(); ++op)
                    set |= static_cast<test::operator_set>(y->contains(op)) << op;
                CHECK(test::is_down_set(graph, set));
                CHECK(test::live_during(graph, set, v) == least);
            }
        }
        CHECK(cuts.cuts() <= graph.operator_count());
    }
}

TEST_CASE("a flow that is broken off gives a bound and sets to run from") {
    stowage::detail::splitmix64 random(85);
    int below = 0;
    for (int trial = 0; trial < 10; ++trial) {
        program step;
        std::vector<buffer_id> made;
        for (std::size_t i = 0; i < 600; ++i) {
            operator_options op;
            for (std::uint64_t k = i == 0 ? 0 : 3; k > 0; --k)
                op.reads.push_back(made[made.size() - 1 - random.below(std::min<std::size_t>(40, i))]);
            made.push_back(step.add_buffer({.bytes = static_cast<std::int64_t>(1 + random.below(999))}));
            op.writes = {made.back()};
            step.add_operator(op);
        }
        const order_problem problem = make_order_problem(make_tensor_graph(step));
        std::stop_source stop;
        stop.request_stop();
        const budget stopped(search_limits{.stop = stop.get_token()});
        const budget unhurried;
        cut_library whole(problem, &unhurried);
        cut_library part(problem, &stopped);
        for (operator_index v = 0; v < problem.operator_count(); v += 50) {
            CHECK(part.least_hill(v) <= whole.least_hill(v));
            below += part.least_hill(v) < whole.least_hill(v) ? 1 : 0;
            const auto& sets = part.sets(v);
            for (const operator_bits* y : {&sets.least, &sets.greatest}) {
                CHECK_FALSE(y->contains(v));
                for (operator_index op = 0; op < problem.operator_count(); ++op) {
                    if (!y->contains(op) && op != v) continue;
                    for (const operator_index before : problem.predecessors[op])
                        CHECK(y->contains(before));
                }
            }
        }
    }
    CHECK(below > 10);
}

TEST_CASE("bits of many operators") {
    std::vector<std::uint8_t> mark(200, 0);
    mark[0] = mark[63] = mark[64] = mark[199] = 1;
    const operator_bits bits(mark);
    for (operator_index op = 0; op < 200; ++op)
        CHECK(bits.contains(op) == (mark[op] != 0));
}
