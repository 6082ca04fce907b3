#include <stowage/order/detail/segments.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <stowage/order/detail/closure.hpp>
#include <stowage/order/detail/interval.hpp>
#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/reduction.hpp>
#include <stowage/order/detail/valley_solver.hpp>

#include "support/brute_force_order.hpp"
#include "support/order_problems.hpp"

using namespace stowage;
namespace detail_ = stowage::order::detail;

TEST_CASE("plain cuts are the operators that every other one stands before or after") {
    stowage::detail::splitmix64 random(71);
    int cuts = 0;
    for (int round = 0; round < 2'000; ++round) {
        CAPTURE(round);
        const detail_::order_problem problem = detail_::make_order_problem(test::order_graph(random));
        const detail_::closure closure(problem);
        const detail_::segmentation segments = detail_::find_segments(problem, false, false);
        std::vector<std::uint8_t> is_cut(problem.operator_count(), 0);
        for (const std::size_t cut : segments.cuts)
            is_cut[segments.order[cut]] = 1;
        for (operator_index v = 0; v < problem.operator_count(); ++v) {
            bool all = true;
            for (operator_index u = 0; u < problem.operator_count(); ++u) {
                all = all && (u == v || closure.ancestors.test(v, u) || closure.descendants.test(v, u));
                CHECK(closure.ancestors.test(v, u) == closure.descendants.test(u, v));
            }
            CHECK(all == (is_cut[v] != 0));
            cuts += all ? 1 : 0;
        }
    }
    CHECK(cuts > 1'000);
}

TEST_CASE("normalising an order raises no peak, and segments are independent then") {
    stowage::detail::splitmix64 random(72);
    int relaxed = 0;
    int grouped = 0;
    for (int round = 0; round < 6'000; ++round) {
        CAPTURE(round);
        const tensor_graph graph = round % 4 < 2 ? test::side_by_side(random) : test::order_graph(random);
        const detail_::order_problem whole = detail_::make_order_problem(graph);
        const detail_::reduction reduced = detail_::reduce(whole, {.contract = round % 2 == 0});
        const detail_::order_problem& problem = reduced.problem;
        if (problem.operator_count() == 0) continue;
        const bool components = random.below(4) != 0;
        const detail_::segmentation segments = detail_::find_segments(problem, true, components);
        relaxed += segments.cuts.size() > detail_::find_segments(problem, false, components).cuts.size();
        grouped += *std::max_element(segments.group.begin(), segments.group.end()) > 1;
        REQUIRE(test::is_legal(problem, segments.order));
        const std::vector<operator_index> order = test::random_order(random, problem);
        std::vector<operator_index> normal = detail_::normalise(problem, segments.moves, order);
        REQUIRE(test::is_legal(problem, normal));
        REQUIRE(detail_::peak_of(problem, normal) <= detail_::peak_of(problem, order));
        normal = detail_::by_groups(segments.group, normal);
        REQUIRE(test::is_legal(problem, normal));
        REQUIRE(detail_::peak_of(problem, normal) <= detail_::peak_of(problem, order));
        for (const std::size_t cut : segments.cuts)
            REQUIRE(normal[cut] == segments.order[cut]);
        // The least peak of the whole is the largest of those of the segments and of the cuts.
        detail_::interval_cutter cutter(problem, segments.order);
        const std::vector<std::int64_t> hills = detail_::hills_of(problem, segments.order);
        std::int64_t largest = 0;
        for (const auto& [first, last] : segments.spans) {
            const detail_::interval part = cutter.cut(first, last);
            detail_::valley_solver solver(part.problem);
            detail_::search_effort effort;
            std::int64_t bound = 0;
            while (solver.decide(bound - part.base, 1'000'000, effort) != detail_::verdict::found)
                ++bound;
            largest = std::max(largest, bound);
        }
        for (const std::size_t cut : segments.cuts)
            largest = std::max(largest, hills[cut]);
        REQUIRE(largest == test::least_peak(graph));
    }
    CHECK(relaxed > 100);
    CHECK(grouped > 100);
}

TEST_CASE("a part has the hills of the whole, less its base") {
    stowage::detail::splitmix64 random(73);
    for (int round = 0; round < 2'000; ++round) {
        CAPTURE(round);
        const detail_::order_problem problem = detail_::make_order_problem(test::order_graph(random));
        const std::vector<operator_index> order = test::random_order(random, problem);
        const std::vector<std::int64_t> hills = detail_::hills_of(problem, order);
        detail_::interval_cutter cutter(problem, order);
        const std::size_t first = random.below(order.size() + 1);
        const std::size_t last = first + random.below(order.size() + 1 - first);
        const detail_::interval part = cutter.cut(first, last);
        REQUIRE(part.problem.operator_count() == last - first);
        std::vector<operator_index> identity(last - first);
        for (operator_index k = 0; k < identity.size(); ++k) {
            identity[k] = k;
            REQUIRE(part.origin[k] == order[first + k]);
        }
        const std::vector<std::int64_t> inner = detail_::hills_of(part.problem, identity);
        for (std::size_t k = 0; k < inner.size(); ++k)
            REQUIRE(inner[k] + part.base == hills[first + k]);
        REQUIRE(part.problem.live_at_start() + part.base == cutter.live_before(first));
        REQUIRE(part.problem.live_at_end() + part.base == cutter.live_before(last));
    }
}
