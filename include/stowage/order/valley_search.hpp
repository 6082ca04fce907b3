#pragma once
// The decision search by committed valleys (papers/order.md, rules 2 to 10) as a policy: the program is
// reduced and cut into segments, and in each of them the least peak is closed in on by decisions.

#include <cstdint>
#include <string_view>

#include <stowage/order/detail/bisection.hpp>
#include <stowage/order/detail/part_stages.hpp>
#include <stowage/order/detail/valley_solver.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

namespace detail {

/// Closes in on the least peak of a bench's problem, `states` a valley.
template <class = void>
void search_valleys(workbench& bench, std::uint64_t states, const valley_settings& settings) {
    valley_solver solver(bench.problem(), settings);
    search_effort effort{.account = &bench.account()};
    bracket range{bench.lower_bound(), bench.best_peak(), {}};
    bisect(solver, bench.problem(), range, states, effort);
    if (!range.order.empty()) bench.offer(std::move(range.order), "valley search");
    bench.raise(range.lower, "search", no_operator);
}

/// Asks for a better order than the best one, by commits from both ends, until there is none or the question
/// stays open.
template <class = void>
void search_by_commits(workbench& bench, std::uint64_t states, const valley_settings& settings) {
    valley_solver solver(bench.problem(), settings);
    search_effort effort{.account = &bench.account()};
    while (!bench.finished()) {
        const verdict result = solver.decide(bench.best_peak() - 1, states, effort);
        if (result == verdict::refuted) bench.raise(bench.best_peak(), "search", no_operator);
        if (result != verdict::found) return;
        bench.offer(solver.order(), "valley search");
    }
}

}  // namespace detail

/// Proves the least peak of programs whose memory rises and falls in narrow places, such as training steps
/// and inference, in milliseconds. On others a limit of states runs out and what was found by then stands.
struct valley_search {
    static constexpr std::string_view name = "valley search";  ///< for reports
    std::uint64_t states = 3'000;       ///< states (about 1 us each) after which one valley is given up
    detail::parts_settings parts{};     ///< rules 6 to 8
    detail::valley_settings valleys{};  ///< rule 10

    /// A better order; empty if there is none.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        if (bench.pool().empty()) detail::offer_list_orders(bench);
        if (!detail::affords_passes(bench.account(), bench.problem(), detail::part_stages::passes)) return;
        detail::part_stages stages(bench, parts, name);
        stages.run([&](detail::workbench& part) { detail::search_valleys(part, states, valleys); });
    }
};
static_assert(searching_order_policy<valley_search> && detail::bench_policy<valley_search>);

}  // namespace stowage::order
