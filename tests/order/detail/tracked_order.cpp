#include <stowage/order/detail/tracked_order.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/detail/live_state.hpp>

#include "support/any_program.hpp"

namespace {

using namespace stowage;
using namespace stowage::order::detail;

std::int64_t excess_over(const std::vector<std::int64_t>& hills, std::int64_t threshold) {
    std::int64_t sum = 0;
    for (const std::int64_t hill : hills)
        sum += std::max<std::int64_t>(0, hill - threshold);
    return sum;
}

void check_all(const tracked_order& order, const order_problem& problem) {
    const auto hills = hills_of(problem, order.order());
    std::vector<bool> hot(order.size(), false);
    for (const std::uint32_t at : order.hot())
        hot[at] = true;
    for (std::size_t at = 0; at < order.size(); ++at) {
        CHECK(order.hill(at) == hills[at]);
        CHECK(order.position(order.at(at)) == at);
        CHECK(hot[at] == (hills[at] > order.threshold()));
    }
    CHECK(order.excess() == excess_over(hills, order.threshold()));
    CHECK(order.peak() == *std::max_element(hills.begin(), hills.end()));
}

// A random legal rearrangement of the operators at [first, last].
std::vector<operator_index> rearranged(const tracked_order& order, const order_problem& problem,
                                       std::size_t first, std::size_t last,
                                       stowage::detail::splitmix64& random) {
    std::vector<operator_index> left(order.order().begin() + static_cast<std::ptrdiff_t>(first),
                                     order.order().begin() + static_cast<std::ptrdiff_t>(last + 1));
    std::vector<operator_index> result;
    while (!left.empty()) {
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i < left.size(); ++i) {
            const auto before = problem.predecessors[left[i]];
            const bool waits = std::any_of(before.begin(), before.end(), [&](operator_index op) {
                return std::find(left.begin(), left.end(), op) != left.end();
            });
            if (!waits) ready.push_back(i);
        }
        const std::size_t pick = ready[random.below(ready.size())];
        result.push_back(left[pick]);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    return result;
}

}  // namespace

TEST_CASE("trials and accepted windows agree with evaluating the whole order") {
    stowage::detail::splitmix64 random(85);
    for (int trial = 0; trial < 60; ++trial) {
        const order_problem problem = make_order_problem(
            make_tensor_graph(test::any_program(random, {.operators = 2 + random.below(18)})));
        const std::size_t count = problem.operator_count();
        tracked_order order(problem);
        std::vector<operator_index> start(count);
        for (operator_index op = 0; op < count; ++op)
            start[op] = op;
        order.assign(start);
        check_all(order, problem);
        CHECK(order.excess() == 0);
        for (int move = 0; move < 40; ++move) {
            if (random.below(4) == 0) order.set_threshold(static_cast<std::int64_t>(random.below(60)));
            std::size_t first = random.below(count);
            std::size_t last = random.below(count);
            if (first > last) std::swap(first, last);
            const auto window = rearranged(order, problem, first, last, random);
            std::vector<operator_index> whole(order.order().begin(), order.order().end());
            std::copy(window.begin(), window.end(), whole.begin() + static_cast<std::ptrdiff_t>(first));
            const auto hills = hills_of(problem, whole);
            const std::int64_t expected = excess_over(hills, order.threshold()) - order.excess() +
                                          order.excess_in(first, window.size());
            const std::int64_t most = static_cast<std::int64_t>(random.below(60));
            const auto found = order.trial(first, window, most);
            CHECK(found.has_value() == (expected <= most));
            if (!found) continue;
            CHECK(*found == expected);
            if (random.below(3) == 0) continue;
            order.accept(first, window);
            check_all(order, problem);
        }
    }
}

TEST_CASE("sizes near 2^63: the excess is scaled, not wrapped") {
    program step;
    constexpr std::int64_t large = std::numeric_limits<std::int64_t>::max() / 8;
    for (int i = 0; i < 7; ++i)
        step.add_operator({.writes = {step.add_buffer({.bytes = large, .kind = buffer_kind::output})}});
    const order_problem problem = make_order_problem(make_tensor_graph(step));
    tracked_order order(problem);
    const std::vector<operator_index> start = {0, 1, 2, 3, 4, 5, 6};
    order.assign(start);
    order.set_threshold(0);
    CHECK(order.excess() > 0);
    CHECK(order.excess() < std::int64_t{1} << 62U);
    CHECK(order.hot().size() == 7);
    CHECK(order.trial(0, std::vector<operator_index>{1, 0}, std::numeric_limits<std::int64_t>::max())
              .has_value());
}
