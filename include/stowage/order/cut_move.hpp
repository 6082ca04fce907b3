#pragma once
// Cut moves: improves each order found so far by moving operators to their side of a min cut, at the highest
// hills first (papers/order.md, rule 12). One descent of some ten moves often ends at the optimum.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <stowage/order/detail/mixed_search.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

namespace detail {

/// The orders of the bench, best first, the first found of equal ones first.
template <class = void>
[[nodiscard]] std::vector<sequence> orders_to_improve(const workbench& bench, std::size_t most) {
    std::vector<const candidate*> ranked;
    for (const candidate& found : bench.pool())
        ranked.push_back(&found);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const candidate* a, const candidate* b) { return a->peak < b->peak; });
    std::vector<sequence> orders;
    for (const candidate* found : ranked) {
        if (orders.size() == most) break;
        orders.push_back(found->order);
    }
    return orders;
}

}  // namespace detail

/// Improves the orders found so far, or those of the list rules, by cut moves. A try costs a min cut at one
/// operator, which is kept for later, and O(n).
struct cut_moves {
    static constexpr std::string_view name = "cut moves";  ///< for reports
    std::size_t starts = 8;                                ///< how many orders are improved, best first
    std::size_t tries = 60;                                ///< moves that are tried from each

    /// A better order; empty if there is none.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        if (bench.pool().size() < 2) detail::offer_list_orders(bench);
        detail::mixed_search search(bench);
        for (const sequence& order : detail::orders_to_improve(bench, starts)) {
            if (bench.finished()) return;
            search.start(order);
            search.descend(tries);
            search.offer(name);
        }
    }
};
static_assert(searching_order_policy<cut_moves> && detail::bench_policy<cut_moves>);

}  // namespace stowage::order
