#pragma once
// The list rules that a portfolio begins with. None is safe alone: on compilers' graphs each is up to 1.5 to
// 3.6 times the optimum somewhere, and the worst is often the best start of a search.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include <stowage/order/depth_first.hpp>
#include <stowage/order/detail/falling_hill.hpp>
#include <stowage/order/detail/run_policy.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/eager_free.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/program.hpp>
#include <stowage/order/reversed.hpp>
#include <stowage/order/xla_list.hpp>

namespace stowage::order {

namespace detail {

/// Runs the list rules on the bench, cheapest first, until one meets the bound or a clock runs out. They take
/// no states: each is one pass, and the least that a program of any size should get.
template <class = void>
void offer_list_orders(workbench& bench) {
    const auto rules =
        std::tuple(in_program_order{}, depth_first{}, depth_first{first_subtree::lightest}, lescea{},
                   xla_list{}, eager_free{}, reversed{lescea{}}, reversed{xla_list{}});
    budget passes = bench.account().without_states();
    std::size_t position = 0;
    const auto run = [&](const auto& rule) {
        if (position > 0 && (bench.proven() || passes.exhausted())) return;
        offer_list_order(bench, rule, position++, passes);
    };
    std::apply([&](const auto&... rule) { (..., run(rule)); }, rules);
}

}  // namespace detail

/// Program order, depth first both ways, LESCEA, XLA list, eager-free, and LESCEA and XLA list backwards: the
/// best of them. A searching policy: it stops at the bound, which it first raises by the min cut at the
/// highest hill of program order, since that is often all that is needed. O((n + m) log n) and a flow.
struct list_orders {
    static constexpr std::string_view name = "list rules";  ///< for reports

    /// The best of them; empty if none is better than the incumbent.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        constexpr std::uint64_t states_of_first_cuts = 200;
        detail::run_policy(bench, in_program_order{}, 0);
        if (!bench.finished()) detail::raise_by_min_cuts(bench, states_of_first_cuts);
        if (!bench.finished()) detail::offer_list_orders(bench);
    }
};
static_assert(searching_order_policy<list_orders> && detail::bench_policy<list_orders>);

}  // namespace stowage::order
