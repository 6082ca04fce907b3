#pragma once
// The mixed local search of papers/order.md, rule 13: chunks of operators hoisted before or sunk behind high
// hills, with cut moves between, from each of the orders found so far. It moves on while the sum of what the
// hills have above a threshold falls; the threshold differs from start to start, since one value alone gets
// stuck.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/order/bounds.hpp>
#include <stowage/order/cut_move.hpp>
#include <stowage/order/detail/falling_hill.hpp>
#include <stowage/order/detail/mixed_search.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

/// Improves the orders found so far, or those of the list rules, until the best is proven, the rounds are
/// done or the budget is spent. Every other round begins with the same orders again, the rest with the best
/// that were found since. A move costs its window, some microseconds; the answer depends on seed and
/// states alone.
struct local_search {
    static constexpr std::string_view name = "local search";  ///< for reports
    std::size_t starts = 8;                                   ///< how many orders are improved, best first
    std::size_t moves_a_start = 3'000;                        ///< hoist and sink moves from each in one round
    std::size_t rounds = 0;  ///< how often each start is taken up; 0: until the budget is spent

    /// A better order; empty if there is none.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        constexpr std::array<std::int64_t, 4> thresholds = {100, 200, 30,
                                                            5};  // ten-thousandths below the peak
        if (bench.pool().size() < 2) detail::offer_list_orders(bench);
        if (bench.lower_bound() == 0) detail::raise_by_plain_bounds(bench);
        if (bench.problem().operator_count() < 2) return;
        const std::vector<sequence> first = detail::orders_to_improve(bench, starts);
        detail::mixed_search search(bench);
        stowage::detail::splitmix64 random(bench.shared().seed);
        for (std::size_t round = 0; rounds == 0 || round < rounds; ++round) {
            const std::vector<sequence> orders =
                round % 2 == 0 ? first : detail::orders_to_improve(bench, starts);
            for (std::size_t start = 0; start < orders.size(); ++start) {
                if (bench.finished()) return;
                search.start(orders[start]);
                search.descend(200);
                search.run(moves_a_start, thresholds[(round + start) % thresholds.size()], random);
                search.offer(name);
            }
            const std::uint64_t most_states = std::min<std::uint64_t>(bench.account().left() / 4, 50'000);
            if (!bench.proven()) detail::raise_by_min_cuts(bench, most_states);
        }
    }
};
static_assert(searching_order_policy<local_search> && detail::bench_policy<local_search>);

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template void local_search::search(detail::workbench&) const;
#endif

}  // namespace stowage::order
