#pragma once
// The least peak of one problem by decisions at one bound after the other (papers/order.md, rule 5): a
// refuted bound raises the lower end to the least hill that was refused, an order found lowers the upper end
// to its peak. The lower end is tried first, since most optima are at a bound known before.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/valley_solver.hpp>

namespace stowage::order::detail {

/// What is known of the least peak of a problem.
struct bracket {
    std::int64_t lower = 0;             ///< proven: no order has a smaller peak, or none that is asked for
    std::int64_t upper = 0;             ///< peak of `order`
    std::vector<operator_index> order;  ///< the best order so far
    [[nodiscard]] bool closed() const noexcept { return upper <= lower; }
};

/// Narrows `range` until it is closed, no decision comes to an end within `states` a valley, or the effort
/// runs out. Every trial keeps the commits of those below it.
template <class = void>
void bisect(valley_solver& solver, const order_problem& problem, bracket& range, std::uint64_t states,
            search_effort& effort) {
    constexpr std::int64_t finest = 256;  // bounds left open are narrowed to this part of the range
    constexpr int trials_at_lower = 2;
    const std::int64_t width = range.upper - range.lower;
    std::int64_t open_up_to = range.lower - 1;  // the highest bound that stayed open
    int trials = 0;
    while (!range.closed() && !effort.exhausted()) {
        std::int64_t bound = range.lower;
        if (open_up_to >= range.lower) {
            const std::int64_t rest = range.upper - 1 - open_up_to;
            if (rest <= width / finest) break;
            bound = open_up_to + std::max<std::int64_t>(1, rest / 2);
        } else if (trials >= trials_at_lower) {
            bound += (range.upper - 1 - range.lower) / 2;
        }
        ++trials;
        effort.least_refused = std::numeric_limits<std::int64_t>::max();
        const verdict result = solver.decide(bound, states, effort);
        if (result == verdict::found) {
            range.order = solver.order();
            range.upper = peak_of(problem, range.order);
        } else if (result == verdict::refuted) {
            range.lower = std::min(range.upper, std::max(bound + 1, effort.least_refused));
        } else {
            open_up_to = bound;
        }
    }
}

}  // namespace stowage::order::detail
