#pragma once
// Order and layout together: orders of nearly the same peak make layouts of very different difficulty, so
// where the best order's layout is left above what is proven, other orders are laid out too, and the smallest
// arena wins.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/order/detail/order_moves.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/tracked_order.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/roam/arena_bound.hpp>
#include <stowage/roam/granule.hpp>
#include <stowage/roam/top_shelf.hpp>

namespace stowage::roam {

/// An order with a layout of the lifetimes that it makes.
struct ordered_layout {
    order::solution ordered;     ///< the order
    layout::order_layout items;  ///< the layout problem that it poses
    layout::solution laid_out;   ///< the layout
};

namespace detail {

/// States for a first layout, enough for a skyline or two.
template <class = void>
[[nodiscard]] std::uint64_t few_states(const layout::order_layout& items) {
    return std::max<std::uint64_t>(2 * items.item_count(), 2'000);
}

/// Units for each of `parts` equal parts of what is left; a unit stands for a microsecond where a clock
/// limits the search.
template <class = void>
[[nodiscard]] std::uint64_t equal_share(const budget& account, std::size_t parts) {
    const auto time = account.time_left();
    const std::uint64_t left = time ? static_cast<std::uint64_t>(time->count()) / 1'000 : account.left();
    return left / parts;
}

/// Lays out `order` if its peak leaves room for a smaller arena; true if it found one.
template <layout::layout_policy LayoutPolicy>
bool try_order(const counted_program& program, ordered_layout& best, std::span<const operator_index> order,
               const LayoutPolicy& policy, const proven_arena& proven, std::uint64_t states, budget& account,
               std::uint64_t seed) {
    const tensor_graph& graph = program.graph();
    account.spend(1 + graph.operator_count() / 50);
    if (!program.leaves_room(order, best.laid_out.arena)) return false;
    budget part = account.slice(states);
    layout::order_layout items = layout::layout_problem_of(graph, order, best.items.problem.alignment);
    layout::solution laid_out = lay_out_to_bound(items.problem, policy, part, seed, proven);
    account.settle(part);
    if (laid_out.arena >= best.laid_out.arena) return false;
    best.items = std::move(items);
    best.laid_out = std::move(laid_out);
    best.ordered.order.assign(order.begin(), order.end());
    best.ordered.peak = peak_bytes(graph, order);
    return true;
}

}  // namespace detail

/// Where sizes count by a granule: searches for an order that leaves room below the arena, and lays it out,
/// as long as that makes the arena smaller; where there is none, that is a proof, and `proven` is raised to
/// the arena. An order that the layout made nothing of becomes the first of the alternatives. Stops when the
/// account is exhausted.
template <layout::layout_policy LayoutPolicy>
void try_to_undercut(const counted_program& program, ordered_layout& best, const LayoutPolicy& policy,
                     proven_arena& proven, budget& account, std::uint64_t seed = 1) {
    while (best.laid_out.arena > proven.bytes && !account.exhausted()) {
        order::sequence found =
            undercut(program, best.laid_out.arena, best.ordered.order, order::exact{}, account, seed, proven);
        if (found.empty() || found == best.ordered.order) return;
        const std::uint64_t states = detail::few_states(best.items);
        if (!detail::try_order(program, best, found, policy, proven, states, account, seed)) {
            best.ordered.alternatives.insert(best.ordered.alternatives.begin(), std::move(found));
            return;
        }
    }
}

/// Lays out the other good orders that the order search found, best peak first, each with an equal share of
/// half of what is left on the account; then orders that random moves make of the best one so far, all of
/// whose peaks, in sizes rounded to the granule, leave room below its arena. Keeps the one with the smallest
/// arena; equal ones change nothing. Stops at the proven arena, or when the account is exhausted.
template <layout::layout_policy LayoutPolicy>
void try_other_orders(const counted_program& program, ordered_layout& best, const LayoutPolicy& policy,
                      const proven_arena& proven, budget& account, std::uint64_t seed = 1) {
    const std::vector<order::sequence> others = std::move(best.ordered.alternatives);
    best.ordered.alternatives.clear();
    const auto done = [&] {
        return best.laid_out.arena <= proven.bytes || account.exhausted() ||
               !layout::detail::affords_layout(account, best.items.item_count());
    };
    for (const order::sequence& other : others) {
        if (done()) return;
        detail::try_order(program, best, other, policy, proven,
                          detail::equal_share(account, 2 * others.size()), account, seed);
    }
    if (done() || program.graph().operator_count() < 2) return;
    const order::detail::order_problem problem = order::detail::make_order_problem(program.rounded());
    order::detail::tracked_order wandering(problem);
    order::detail::order_moves moves(problem, wandering);
    stowage::detail::splitmix64 random(seed);
    const std::uint64_t states = detail::few_states(best.items);
    while (!done()) {
        wandering.assign(best.ordered.order);
        wandering.set_threshold(program.round(best.laid_out.arena - 1));
        for (std::uint64_t left = 1 + random.below(64); left > 0; --left)
            moves.chunk(random);
        detail::try_order(program, best, wandering.order(), policy, proven, states, account, random());
    }
}

}  // namespace stowage::roam
