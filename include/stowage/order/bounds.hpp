#pragma once
// Lower bounds on the peak of all legal orders, from cheap to strong (papers/roam.md), each with the operator
// at which it is met: the working set of one operator; what is alive at both ends; what is surely alive while
// an operator runs; the min cut, the least that can be alive while it runs.

#include <cstdint>
#include <limits>

#include <stowage/budget.hpp>
#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/order/detail/falling_hill.hpp>
#include <stowage/order/detail/plain_bounds.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

/// The largest sum of one operator's buffers and workspace. Rule "working set". O(accesses).
template <plannable Graph>
[[nodiscard]] bound working_set_bound(const Graph& graph) {
    return detail::working_set(detail::make_order_problem(make_tensor_graph(graph)));
}

/// All outputs, and the least that dies with an operator that may be the last (rule "outputs"); or, if that
/// is more, all donated buffers and the least that an operator that may be the first adds (rule "inputs").
/// O(accesses).
template <plannable Graph>
[[nodiscard]] bound ends_bound(const Graph& graph) {
    return detail::both_ends(detail::make_order_problem(make_tensor_graph(graph)));
}

namespace detail {

/// Raises the bound of the bench by the bounds that need one pass.
template <class = void>
void raise_by_plain_bounds(workbench& bench) {
    for (const bound& b : {working_set(bench.problem()), both_ends(bench.problem())})
        bench.raise(b.bytes, b.witness.rule.c_str(), b.witness.at);
}

/// Raises the bound of the bench to what is surely alive at some operator.
template <class = void>
void raise_by_surely_alive(workbench& bench) {
    constexpr std::uint64_t work_a_unit = 256;
    surely_alive alive(bench.problem());
    by_falling_hill(
        bench.problem().operator_count(), [&](operator_index op) { return bench.least_hill(op); },
        [&] { return bench.lower_bound(); },
        [&](operator_index op) {
            const std::uint64_t before = alive.work();
            bench.raise(alive.at(op), "surely alive", op);
            return bench.account().spend(1 + (alive.work() - before) / work_a_unit);
        });
}

template <class Raise>
[[nodiscard]] bound bound_by(const tensor_graph& graph, const search_limits& limits, Raise raise) {
    budget account(limits);
    context shared{account};
    workbench bench(graph, shared);
    offer_list_orders(bench);
    raise(bench);
    return {shared.lower_bound, shared.witness};
}

}  // namespace detail

/// The largest sum, over operators v, of the buffers made by v, its ancestors or before the program and used
/// by v, its descendants or after the program, and v's workspace. Rule "surely alive". O(n + m) for each
/// operator whose hill in the best of a few orders is above the bound; O(n) memory. If `limits` run out
/// first, the largest found by then.
template <plannable Graph>
[[nodiscard]] bound surely_alive_bound(const Graph& graph, const search_limits& limits = {}) {
    return detail::bound_by(make_tensor_graph(graph), limits,
                            [](detail::workbench& bench) { detail::raise_by_surely_alive(bench); });
}

/// The largest min cut of all operators v: the fewest bytes that can be alive while v runs, over all sets of
/// operators that may have run before it. Rule "min cut". At least the bound "surely alive". O(n + m) and a
/// maximum flow for each operator whose hill in the best of a few orders is above the bound, mostly one; O(n
/// + m) memory. If `limits` run out first, the largest found by then.
template <plannable Graph>
[[nodiscard]] bound min_cut_bound(const Graph& graph, const search_limits& limits = {}) {
    return detail::bound_by(make_tensor_graph(graph), limits, [](detail::workbench& bench) {
        detail::raise_by_min_cuts(bench, std::numeric_limits<std::uint64_t>::max());
    });
}

/// A policy that finds no order but raises the bound: working set, both ends, then min cuts by falling hill.
struct bounds {
    static constexpr std::string_view name = "bounds";  ///< for reports
    std::uint64_t most_states = 50'000;  ///< of the budget that min cuts may take; one cut is always made

    /// Raises the bound in the context; always empty.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        detail::raise_by_plain_bounds(bench);
        if (bench.pool().empty()) detail::offer_list_orders(bench);
        if (!bench.proven()) detail::raise_by_min_cuts(bench, most_states);
    }
};
static_assert(searching_order_policy<bounds> && detail::bench_policy<bounds>);

}  // namespace stowage::order
