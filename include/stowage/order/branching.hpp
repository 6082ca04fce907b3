#pragma once
// The search for an order one byte better than the best, or the proof that there is none (papers/order.md,
// rules 14 to 17), as policies: splits alone, probing alone, and both with branching.

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

/// Asks for a better order than the best one until there is none or the question stays open.
inline void search_below_best(workbench& bench, const branch_settings& settings, std::string_view finder) {
    search_effort effort{.account = &bench.account()};
    branch_search search(settings);
    while (!bench.finished()) {
        residual rest(bench.problem(), bench.best(), bench.best_peak() - 1);
        for (const candidate& found : bench.pool()) {
            if (found.order != bench.best()) rest.offer(found.order);
        }
        const verdict result = search.decide(rest, effort);
        if (result == verdict::refuted) bench.raise(bench.best_peak(), "search", no_operator);
        if (result != verdict::found) return;
        bench.offer(rest.order(), finder);
    }
}

/// search_below_best on each open part of the bench's program.
inline void search_parts_below_best(workbench& bench, const parts_settings& parts,
                                    const branch_settings& settings, std::string_view finder) {
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
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
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
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
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
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    void search(detail::workbench& bench) const {
        detail::search_parts_below_best(bench, parts, settings, name);
    }
};
static_assert(searching_order_policy<branching> && detail::bench_policy<branching>);

}  // namespace stowage::order
