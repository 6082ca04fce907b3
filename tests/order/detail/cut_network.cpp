#include <stowage/order/detail/cut_network.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"

namespace {

using namespace stowage;
using namespace stowage::order::detail;

test::operator_set bits(const std::vector<std::uint8_t>& mark) {
    test::operator_set set = 0;
    for (std::size_t i = 0; i < mark.size(); ++i)
        set |= static_cast<test::operator_set>(mark[i] != 0) << i;
    return set;
}

}  // namespace

TEST_CASE("the cut at an operator is the least of all down-sets from which it can run, ends included") {
    stowage::detail::splitmix64 random(11);
    std::vector<std::uint8_t> mark;
    for (int trial = 0; trial < 120; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 9}));
        const order_problem problem = make_order_problem(graph);
        cut_network cut(problem);
        const std::size_t count = graph.operator_count();
        for (operator_index v = 0; v < count; ++v) {
            std::int64_t least_live = std::numeric_limits<std::int64_t>::max();
            test::operator_set least = 0;
            test::operator_set greatest = 0;
            for (test::operator_set set = 0; set < 1U << count; ++set) {
                const test::operator_set with = set | test::operator_set{1} << v;
                if (with == set || !test::is_down_set(graph, set) || !test::is_down_set(graph, with))
                    continue;
                const std::int64_t live = test::live_after(graph, set);
                if (live > least_live) continue;
                if (live < least_live) {
                    least_live = live;
                    least = greatest = set;
                }
                least &= set;
                greatest |= set;
            }
            const std::int64_t limit = least_live - static_cast<std::int64_t>(random.below(5));
            cut.build(v);
            const std::int64_t part = cut.solve(limit);
            CHECK(part >= limit);
            CHECK(part <= least_live);
            CHECK(cut.solve() == least_live);
            cut.mark_least(mark);
            CHECK(bits(mark) == least);
            cut.mark_greatest(mark);
            CHECK(bits(mark) == greatest);
            CHECK(cut.side_of(v) == side::after);
            CHECK(cut.work() > 0);
            for (const operator_index op : cut.free_operators())
                CHECK(cut.node_of(op) > cut_network::sink);
        }
    }
}
