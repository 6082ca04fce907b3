#pragma once
// The search for an order one byte better than the best, or the proof that there is none (papers/order.md,
// rules 14 to 17), as policies: splits alone, probing alone, and both with branching.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <stowage/order/detail/branch_search.hpp>
#include <stowage/order/detail/part_stages.hpp>
#include <stowage/order/detail/residual.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

namespace detail {

/// Decides whether an order of the bench's problem within `bound` exists, and takes note of the answer.
template <class = void>
verdict search_within(workbench& bench, branch_search& search, std::int64_t bound, search_effort& effort,
                      std::string_view finder) {
    residual rest(bench.problem(), bench.best(), bound);
    for (const candidate& found : bench.pool()) {
        if (found.order != bench.best()) rest.offer(found.order);
    }
    const verdict result = search.decide(rest, effort);
    if (result == verdict::refuted) bench.raise(bound + 1, "search", no_operator);
    if (result == verdict::found) bench.offer(rest.order(), finder);
    return result;
}

/// Asks for a better order than the best one until there is none or the question stays open.
template <class = void>
void search_below_best(workbench& bench, const branch_settings& settings, std::string_view finder) {
    search_effort effort{.account = &bench.account()};
    branch_search search(settings);
    while (!bench.finished()) {
        if (search_within(bench, search, bench.best_peak() - 1, effort, finder) != verdict::found) return;
    }
}

/// Narrows the range between bound and best order where the last byte stays open: bisection, each time away
/// from what could not be decided.
template <class = void>
void narrow_gap(workbench& bench, const branch_settings& settings, std::string_view finder) {
    constexpr int most_trials = 8;
    search_effort effort{.account = &bench.account()};
    branch_search search(settings);
    std::int64_t open_from = bench.best_peak() - 1;  // the lowest bound that stayed open
    for (int trial = 0; trial < most_trials && !bench.finished(); ++trial) {
        open_from = std::min(open_from, bench.best_peak() - 1);
        const std::int64_t bound = bench.lower_bound() + (open_from - bench.lower_bound()) / 2;
        if (bound >= open_from) return;
        if (search_within(bench, search, bound, effort, finder) == verdict::open) open_from = bound;
    }
}

/// search_below_best on each open part of the bench's program.
template <class = void>
void search_parts_below_best(workbench& bench, const parts_settings& parts, const branch_settings& settings,
                             std::string_view finder) {
    if (bench.pool().empty()) offer_list_orders(bench);
    if (!affords_passes(bench.account(), bench.problem(), part_stages::passes)) return;
    part_stages stages(bench, parts, finder);
    stages.run([&](workbench& part) { search_below_best(part, settings, finder); });
}

}  // namespace detail

/// Splits at the operators where the bound leaves least room. With a good order at hand they prove in
/// milliseconds what no single operator shows.
struct splits {
    static constexpr std::string_view name = "splits";  ///< for reports
    std::size_t operators = 4;                          ///< how many operators are split at
    detail::split_settings split{};                     ///< limits of one split
    detail::parts_settings parts{};                     ///< how the program is taken apart

    /// A better order; empty if there is none.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        const detail::branch_settings settings{
            .probe = false, .split_operators = operators, .split = split, .nodes = 1};
        detail::search_parts_below_best(bench, parts, settings, name);
    }
};
static_assert(searching_order_policy<splits> && detail::bench_policy<splits>);

/// Precedence probing: shows by pairs of operators that no better order exists.
struct probing {
    static constexpr std::string_view name = "probing";  ///< for reports
    detail::probing_settings settings{};                 ///< limits
    detail::parts_settings parts{};                      ///< how the program is taken apart

    /// A better order; empty if there is none.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        const detail::branch_settings with{.probing = settings, .split_operators = 0, .nodes = 1};
        detail::search_parts_below_best(bench, parts, with, name);
    }
};
static_assert(searching_order_policy<probing> && detail::bench_policy<probing>);

/// Branches on the order of two operators, with commits, probing and splits at each node.
struct branching {
    static constexpr std::string_view name = "branching";  ///< for reports
    detail::branch_settings settings{.nodes = 1'000};      ///< limits
    detail::parts_settings parts{};                        ///< how the program is taken apart

    /// A better order; empty if there is none.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        detail::search_parts_below_best(bench, parts, settings, name);
    }
};
static_assert(searching_order_policy<branching> && detail::bench_policy<branching>);

}  // namespace stowage::order
