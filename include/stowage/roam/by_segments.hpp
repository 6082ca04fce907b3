#pragma once
// Orders a program segment by segment with any order policy: each segment with its boundary is a problem of
// its own, several may be solved at once, the whole order is their concatenation (ROAM, equations 2 and 3).

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/detail/run_policy.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/roam/detail/parallel.hpp>
#include <stowage/roam/segment_program.hpp>
#include <stowage/roam/segments.hpp>
#include <stowage/status.hpp>

namespace stowage::roam {

/// How one segment was ordered.
struct segment_report {
    std::size_t operators = 0;                  ///< in the segment
    std::size_t buffers = 0;                    ///< born or dying in it
    std::int64_t passing_bytes = 0;             ///< alive all through it; part of the two figures that follow
    std::int64_t peak = 0;                      ///< of the order found, in bytes
    std::int64_t lower_bound = 0;               ///< proven: no order of the segment needs less
    std::string found_by = {};                  ///< policy that found the order
    std::string proven_by = {};                 ///< rule that the bound comes from
    stowage::status status = status::feasible;  ///< optimal if peak == lower_bound
    double seconds = 0;                         ///< wall-clock time
};

/// An order made of segments.
struct segmented_order {
    order::sequence order = {};    ///< a legal order of the whole program
    std::int64_t peak = 0;         ///< its peak in bytes
    std::int64_t lower_bound = 0;  ///< proven: no order has a smaller peak that runs the segments one after
                                   ///< the other; if they are independent, no order at all
    std::vector<segment_report> segments = {};  ///< one a segment, in running order
};

/// Called with (segments done, segments) on the thread that asked for the order.
using segments_done = std::function<void(std::size_t, std::size_t)>;

/// Orders `segmentation` of `graph` by `policy`, on at most `threads` threads. Each segment has a share of
/// the account in proportion to its operators (at least 100 units), so the answer does not depend on the
/// number of threads, unless a clock ends it. A const call of the policy must be reentrant if there are
/// several threads. Throws program_error if the segments are not legal or the policy's order is not.
template <order::detail::portfolio_policy Policy>
[[nodiscard]] segmented_order order_segments(const tensor_graph& graph, const segmentation& segmentation,
                                             const Policy& policy, budget& account, std::uint64_t seed = 1,
                                             unsigned threads = 1, const segments_done& on_done = {}) {
    const segment_programs programs(graph, segmentation);
    const std::size_t count = programs.size();
    std::vector<order::sequence> orders(count);
    std::vector<std::uint64_t> spent(count, 0);
    segmented_order result;
    result.segments.resize(count);
    const std::uint64_t left = account.left();
    const auto share = [&](std::size_t operators) -> std::uint64_t {
        if (account.timed()) return left;
        const std::uint64_t whole = std::max<std::uint64_t>(graph.operator_count(), 1);
        return std::max<std::uint64_t>(100, left / whole * operators + left % whole * operators / whole);
    };
    const auto work = [&](std::size_t i) {
        const auto start = budget::clock::now();
        const segment_program part = programs[i];
        budget own = account.slice(share(part.operators.size()));
        order::solution found = order::plan(part.graph, policy, own, seed);
        segment_report& report = result.segments[i];
        report.operators = part.operators.size();
        report.buffers = part.graph.buffer_count();
        report.passing_bytes = part.passing_bytes;
        report.peak = stowage::detail::checked_add(found.peak, part.passing_bytes, "bytes alive");
        report.lower_bound = found.lower_bound + part.passing_bytes;
        report.found_by = std::move(found.found_by);
        report.proven_by = std::move(found.witness.rule);
        report.status = found.status;
        report.seconds = std::chrono::duration<double>(budget::clock::now() - start).count();
        spent[i] = own.spent();
        orders[i] = part.in_whole(found.order);
    };
    detail::for_each_item(count, threads, work, [&](std::size_t done) {
        if (on_done) on_done(done, count);
    });
    result.order.reserve(graph.operator_count());
    for (std::size_t i = 0; i < count; ++i) {
        result.order.insert(result.order.end(), orders[i].begin(), orders[i].end());
        result.peak = std::max(result.peak, result.segments[i].peak);
        result.lower_bound = std::max(result.lower_bound, result.segments[i].lower_bound);
        account.spend(spent[i]);
    }
    return result;
}

/// An order policy that orders independent segments by another policy: `by_segments{order::lescea{}}`.
/// Raises the context's bound to what the parts prove. O(size) beside what the other one takes.
template <order::detail::portfolio_policy Policy>
struct by_segments {
    static constexpr std::string_view name = "by segments";  ///< for reports
    Policy policy{};                                         ///< orders each segment
    unsigned threads = 1;  ///< threads that may be used; the order does not depend on it

    /// The order; empty if the incumbent is as good.
    [[nodiscard]] order::sequence operator()(const tensor_graph& graph, order::context& shared) const {
        const segmentation segmentation = independent_segments(graph);
        segmented_order found =
            order_segments(graph, segmentation, policy, shared.account, shared.seed, threads);
        if (segmentation.independent && found.lower_bound > shared.lower_bound) {
            shared.lower_bound = found.lower_bound;
            shared.witness = {"segments", no_operator};
        }
        if (!shared.incumbent.empty() && found.peak >= shared.incumbent_peak) return {};
        return std::move(found.order);
    }
};
template <class Policy>
by_segments(Policy) -> by_segments<Policy>;
template <class Policy>
by_segments(Policy, unsigned) -> by_segments<Policy>;

}  // namespace stowage::roam
