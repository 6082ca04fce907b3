#pragma once
// Composes an order policy and a layout policy into a planner of whole programs, after ROAM: first the order,
// whose peak is the least arena that any layout can reach, then the layout of the lifetimes that the order
// makes. Source: ROAM, "memory-efficient large DNN training via optimized operator ordering and memory
// layout".

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/layout/first_fit.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/order/bounds.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/order/portfolio.hpp>
#include <stowage/roam/arena_bound.hpp>
#include <stowage/roam/granule.hpp>
#include <stowage/roam/highest_pin.hpp>
#include <stowage/roam/joint.hpp>
#include <stowage/roam/options.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/roam/top_shelf.hpp>

namespace stowage::roam {

namespace detail {

/// Takes an order that was found in rounded sizes back to the sizes as they are: its peak, and what min cuts
/// prove of the least peak.
template <class = void>
void back_from_rounded(const counted_program& program, order::solution& found, budget& account,
                       std::uint64_t seed) {
    found.peak = peak_bytes(program.graph(), found.order);
    order::context shared{.account = account, .incumbent = found.order, .seed = seed};
    (void)order::bounds{}(program.graph(), shared);
    found.lower_bound = shared.lower_bound;
    found.witness = std::move(shared.witness);
}

/// Where that leaves the least peak open, the policy says more of it; another order that this meets becomes
/// an alternative.
template <order::detail::portfolio_policy OrderPolicy>
void bound_peak(const tensor_graph& graph, order::solution& found, const OrderPolicy& policy, budget& account,
                std::uint64_t seed) {
    if (found.peak <= found.lower_bound || account.exhausted()) return;
    order::solution other = order::plan(graph, policy, account, seed);
    if (other.lower_bound > found.lower_bound) {
        found.lower_bound = other.lower_bound;
        found.witness = std::move(other.witness);
    }
    if (other.order != found.order) found.alternatives.push_back(std::move(other.order));
}

/// A share of the wall-clock budget; limits in states stay as they are.
template <class = void>
[[nodiscard]] search_limits share_of(search_limits limits, double share) {
    if (limits.time) {
        limits.time = std::chrono::duration_cast<std::chrono::nanoseconds>(*limits.time * share);
    }
    return limits;
}

/// The share of the order search: twice the states, and of a wall-clock budget no
/// more than leaves time for a first layout, which takes some 200 ns a buffer and an operator.
template <class = void>
[[nodiscard]] search_limits order_share(search_limits limits, double share, const tensor_graph& graph) {
    const std::optional<std::chrono::nanoseconds> whole = limits.time;
    limits = share_of(limits, share);
    limits.states = stowage::detail::saturating_multiply(limits.states, 2);
    if (whole) {
        const std::chrono::nanoseconds layout(200 * (graph.buffer_count() + graph.operator_count()));
        limits.time = std::max(std::chrono::nanoseconds(0), std::min(*limits.time, *whole - layout));
    }
    return limits;
}

/// What there is no time to improve on: first fit by birth.
template <class = void>
[[nodiscard]] layout::solution first_layout(const layout::problem& problem) {
    budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
    return layout::plan(problem, layout::first_fit{}, unlimited);
}

/// Order and layout as one plan.
template <class = void>
[[nodiscard]] plan assemble(const tensor_graph& graph, ordered_layout found, proven_arena proven,
                            std::int64_t alignment) {
    plan result;
    result.offsets = found.items.buffer_offsets(found.laid_out.offsets);
    result.workspace_offsets = found.items.workspace_offsets(found.laid_out.offsets);
    result.alignment = alignment;
    result.peak = {.bytes = found.ordered.peak, .lower_bound = found.ordered.lower_bound};
    result.arena = {.bytes = found.laid_out.arena, .lower_bound = proven.bytes};
    result.witness = std::move(found.ordered.witness);
    result.arena_witness = std::move(proven.witness);
    result.persistent_bytes = persistent_bytes(graph);
    result.status = result.arena.bytes <= proven.bytes ? status::optimal : status::feasible;
    result.fingerprint = graph.fingerprint();
    result.order_by = std::move(found.ordered.found_by);
    result.layout_by = std::move(found.laid_out.found_by);
    result.order = std::move(found.ordered.order);
    return result;
}

}  // namespace detail

/// A planner of whole programs from an order policy and a layout policy, each the library's or the caller's.
/// Where alignment pads buffers, the order policy is given the program in sizes rounded up to it, so that it
/// makes what the arena needs small; and once more as it is, where that leaves the least peak open.
/// Calling it is const and reentrant if that holds of the policies. A wall-clock budget is shared: the
/// order search may use the first 60 %, the layout search what is left up to 80 %, and the rest is for laying
/// out other orders where the first one's layout is left above what is proven.
///
/// Example: `roam::planner planner{order::lescea{}, layout::llfb{}}; plan p = planner(my_graph);`
template <order::detail::portfolio_policy OrderPolicy, layout::layout_policy LayoutPolicy>
class planner {
public:
    /// Takes the policies by value.
    planner(OrderPolicy order_policy, LayoutPolicy layout_policy)
        : order_policy_(std::move(order_policy)), layout_policy_(std::move(layout_policy)) {}

    /// Plans `graph`, a tensor_graph or anything that models tensor_program. The plan is always complete: if
    /// a policy finds nothing within its limits, program order and first fit stand in. Throws program_error
    /// for a graph that breaks a rule or an order policy whose answer is no legal order, layout_error for an
    /// alignment that is not positive or pins in conflict, overflow_error for sums beyond 2^63 - 1.
    template <plannable Graph>
    [[nodiscard]] plan operator()(const Graph& graph, const options& options = {}) const {
        const auto start = budget::clock::now();
        const auto& compact = make_tensor_graph(graph);
        return (*this)(compact, options, start);
    }

    /// The same with wall-clock time counted from `start`, e.g. the end of reading a file.
    [[nodiscard]] plan operator()(const tensor_graph& graph, const options& options,
                                  budget::clock::time_point start) const;

    /// The order policy.
    [[nodiscard]] const OrderPolicy& order_policy() const noexcept { return order_policy_; }
    /// The layout policy.
    [[nodiscard]] const LayoutPolicy& layout_policy() const noexcept { return layout_policy_; }

private:
    [[nodiscard]] static double seconds(budget::clock::duration span) {
        return std::chrono::duration<double>(span).count();
    }
    static void report(const options& options, std::string_view phase, std::int64_t best,
                       std::int64_t bound) {
        if (options.on_progress)
            options.on_progress({.phase = phase, .best_bytes = best, .bound_bytes = bound});
    }
    OrderPolicy order_policy_;
    LayoutPolicy layout_policy_;
};

template <order::detail::portfolio_policy OrderPolicy, layout::layout_policy LayoutPolicy>
plan planner<OrderPolicy, LayoutPolicy>::operator()(const tensor_graph& graph, const options& options,
                                                    budget::clock::time_point start) const {
    if (options.alignment <= 0) {
        throw layout_error("alignment " + std::to_string(options.alignment) + " of the plan is not positive",
                           {});
    }
    const search_limits limits = options.limits();
    const counted_program program(graph, common_granule(graph, options.alignment));
    const bool by_granule = program.granule() > 1;
    budget order_account(detail::order_share(limits, by_granule ? 0.4 : 0.6, graph), start);
    ordered_layout best;
    best.ordered = order::plan(program.rounded(), order_policy_, order_account, options.seed);
    budget bound_account(detail::share_of(limits, 0.6), start);
    proven_arena proven = arena_bound_by_cuts(program, best.ordered.lower_bound, best.ordered.witness,
                                              best.ordered.order, bound_account, options.seed);
    if (by_granule) {
        detail::back_from_rounded(program, best.ordered, bound_account, options.seed);
        detail::bound_peak(graph, best.ordered, order_policy_, bound_account, options.seed);
    }
    proven.bytes = std::max({proven.bytes, best.ordered.lower_bound, highest_pin(graph).bytes});
    report(options, "order", best.ordered.peak, best.ordered.lower_bound);
    const auto ordered_at = budget::clock::now();

    best.items = layout::layout_problem_of(graph, best.ordered.order, options.alignment);
    search_limits layout_limits = detail::share_of(limits, 0.8);
    layout_limits.states = std::max<std::uint64_t>(limits.states, best.items.item_count());
    budget layout_account(layout_limits, start);
    const auto lay_out = [&](budget& account) {
        layout::solution found =
            layout::detail::affords_layout(account, best.items.item_count())
                ? lay_out_to_bound(best.items.problem, layout_policy_, account, options.seed, proven)
                : detail::first_layout(best.items.problem);
        if (best.laid_out.found_by.empty() || found.arena < best.laid_out.arena)
            best.laid_out = std::move(found);
        report(options, "layout", best.laid_out.arena, proven.bytes);
    };
    if (by_granule && options.try_other_orders) {
        budget first = layout_account.slice(detail::few_states(best.items));
        lay_out(first);
        layout_account.settle(first);
        budget undercut_account(layout_limits, start);
        try_to_undercut(program, best, layout_policy_, proven, undercut_account, options.seed);
    }
    const bool improvable = best.laid_out.arena > proven.bytes &&
                            layout::detail::affords_layout(layout_account, best.items.item_count());
    if (best.laid_out.found_by.empty() || improvable) lay_out(layout_account);

    budget joint_account(limits, start);
    if (options.try_other_orders)
        try_other_orders(program, best, layout_policy_, proven, joint_account, options.seed);
    report(options, "layout", best.laid_out.arena, proven.bytes);
    plan result = detail::assemble(graph, std::move(best), std::move(proven), options.alignment);
    const auto end = budget::clock::now();
    result.seconds = {.order = seconds(ordered_at - start),
                      .layout = seconds(end - ordered_at),
                      .total = seconds(end - start)};
    return result;
}

/// The library's best: order::portfolio{}, layout::default_portfolio, and other orders where that leaves a
/// gap. One call from a program to a plan.
///
/// Example: `plan p = roam::best(step, {.alignment = 256}); p.arena.bytes; p.offset(y);`
template <plannable Graph>
[[nodiscard]] plan best(const Graph& graph, options options = {}) {
    options.try_other_orders = true;
    return planner(order::portfolio{}, layout::default_portfolio<std::void_t<Graph>>())(graph, options);
}

// The default is instantiated once a program where that asks for it: docs/cookbook.md, "Pay for the planner
// once".
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template plan planner<decltype(order::portfolio{}), decltype(layout::default_portfolio())>::
operator()(const tensor_graph&, const options&, budget::clock::time_point) const;
#endif

}  // namespace stowage::roam
