#pragma once
// Splits as a policy (papers/order.md, rules 9, 14, 17): is there an order one byte better than the best? The
// valleys at both ends are committed first, then the rest is split at the operators of least slack, where the
// bound leaves least room.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/order/detail/cut_network.hpp>
#include <stowage/order/detail/part_stages.hpp>
#include <stowage/order/detail/residual.hpp>
#include <stowage/order/detail/split_search.hpp>
#include <stowage/order/detail/valley_solver.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

/// How splits are tried.
struct split_options {
    std::size_t operators = 4;          ///< operators of least slack that are tried
    std::uint64_t commit_states = 500;  ///< states a valley while the ends are committed
    detail::split_settings split{};     ///< limits of one split
};

namespace detail {

/// Decides whether an order of a residual problem within its bound exists by splits at the operators of
/// least slack.
inline verdict decide_by_splits(residual& rest, const split_options& options, search_effort& effort) {
    for (const auto& [slack, op] : rest.least_slack(options.operators, effort)) {
        if (slack < 0) return verdict::refuted;
        for (const split_side side : {split_side::after, split_side::before}) {
            split_search split(rest.problem(), op, side, options.split);
            const verdict result = split.decide(rest.bound(), effort);
            if (result == verdict::found) rest.finish(split.order());
            if (result != verdict::open || effort.exhausted()) return result;
        }
    }
    return verdict::open;
}

/// Asks for a better order than the best one until there is none or the question stays open.
inline void search_by_splits(workbench& bench, const split_options& options) {
    search_effort effort{.account = &bench.account()};
    while (!bench.finished()) {
        residual rest(bench.problem(), bench.best(), bench.best_peak() - 1);
        verdict result = rest.commit(options.commit_states, options.split.valleys, effort);
        if (result == verdict::open) result = decide_by_splits(rest, options, effort);
        if (result == verdict::refuted) bench.raise(bench.best_peak(), "search", no_operator);
        if (result != verdict::found) return;
        bench.offer(rest.order(), "splits");
    }
}

}  // namespace detail

/// Proves that no order is better than the best one found, or finds one. Worth its time where a good order is
/// at hand.
struct splits {
    static constexpr std::string_view name = "splits";  ///< for reports
    split_options options{};                            ///< limits
    detail::parts_settings parts{};                     ///< rules 6 to 8

    /// A better order; empty if there is none.
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    void search(detail::workbench& bench) const {
        if (bench.pool().empty()) detail::offer_list_orders(bench);
        detail::part_stages stages(bench, parts, name);
        stages.run([&](detail::workbench& part) { detail::search_by_splits(part, options); });
    }
};
static_assert(searching_order_policy<splits> && detail::bench_policy<splits>);

}  // namespace stowage::order
