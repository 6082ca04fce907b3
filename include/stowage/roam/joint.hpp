#pragma once
// Order and layout together: orders of nearly the same peak make layouts of very different difficulty, so
// where the best order's layout is left above what is proven, other orders are laid out too, and the smallest
// arena wins.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <stowage/budget.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::roam {

/// An order with a layout of the lifetimes that it makes.
struct ordered_layout {
    order::solution ordered;     ///< the order
    layout::order_layout items;  ///< the layout problem that it poses
    layout::solution laid_out;   ///< the layout
};

/// Lays out the other good orders that the order search found, best peak first, each with an equal share of
/// what is left on the account, and keeps the one with the smallest arena; equal ones change nothing. Stops
/// at `bound`, which no arena can undercut. An order whose peak is no smaller than the best arena is passed
/// over.
template <layout::layout_policy LayoutPolicy>
void try_other_orders(const tensor_graph& graph, ordered_layout& best, const LayoutPolicy& policy,
                      std::int64_t bound, budget& account, std::uint64_t seed = 1) {
    const std::vector<order::sequence> others = std::move(best.ordered.alternatives);
    best.ordered.alternatives.clear();
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (best.laid_out.arena <= bound || account.exhausted()) return;
        const std::int64_t peak = peak_bytes(graph, others[i]);
        if (peak >= best.laid_out.arena) continue;
        budget part = account.slice(account.left() / (others.size() - i));
        layout::order_layout items =
            layout::layout_problem_of(graph, others[i], best.items.problem.alignment);
        layout::solution laid_out = layout::plan(items.problem, policy, part, seed);
        account.settle(part);
        if (laid_out.arena >= best.laid_out.arena) continue;
        best.items = std::move(items);
        best.laid_out = std::move(laid_out);
        best.ordered.order = others[i];
        best.ordered.peak = peak;
    }
}

}  // namespace stowage::roam
