#pragma once
// Orders as the ROAM paper makes them: weight updates are given to segments, the segments are ordered one by
// one, the whole is their concatenation. The delay radius, which the paper finds by experience, and alpha are
// chosen by trying some with a list rule in every segment.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/detail/run_policy.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/roam/by_segments.hpp>
#include <stowage/roam/update_schedule.hpp>

namespace stowage::roam {

/// Options of paper_order.
struct paper_order_options {
    update_options updates =
        {};  ///< whether to delay, and what of a branch; radius and alpha, unless others are tried
    /// Delay radii to try; the one whose order has the least peak is taken, the first of equal ones.
    std::vector<double> radii = {1, 2, 4, 8, 16, 32, 0};
    /// Alphas to try beside each branch's own, unless `updates` has one: the paper's for Adam, and a larger
    /// one, since the estimates see neither temporary tensors nor gradients that are kept waiting.
    std::vector<double> alphas = {3, 5};
    /// Try segments between boundaries of all operators beside those of the trunk, and take what has the
    /// least peak: they are longer, and so hold better orders, but are harder.
    bool long_segments = true;
    /// Keep program order where it has a smaller peak than the segments' orders together.
    bool keep_program_order = true;
};

/// An order and how it came about.
struct paper_ordering {
    update_schedule schedule = {};  ///< segments, branches and their places
    segmented_order ordered = {};   ///< order, peak, and a report a segment
    /// Memory-insensitive operators of the trunk, which the layout is cut at, ascending.
    std::vector<operator_index> boundaries = {};
    bool trunk = true;                 ///< segments are those of the trunk, else longer ones
    double radius = 0;                 ///< delay radius that was taken
    std::optional<double> alpha = {};  ///< alpha that was taken; none: each branch's own
    bool is_program_order = false;     ///< program order was better, and is what `ordered` holds
    /// Number of branches that run later than they could.
    template <class = void>
    [[nodiscard]] std::size_t delayed() const noexcept {
        std::size_t count = 0;
        for (const scheduled_branch& branch : schedule.branches)
            count += branch.scheduled != branch.earliest ? 1U : 0U;
        return count;
    }
};

namespace detail {

/// What the rule is to be tried with, the first of equal ones being taken.
template <class = void>
[[nodiscard]] std::vector<update_options> settings_to_try(const paper_order_options& options,
                                                          bool has_branches) {
    std::vector<update_options> result;
    const bool delays = options.updates.delay && has_branches;
    std::vector<std::optional<double>> alphas = {options.updates.alpha};
    if (delays && !options.updates.alpha)
        alphas.insert(alphas.end(), options.alphas.begin(), options.alphas.end());
    std::vector<double> radii = {options.updates.radius};
    if (delays && !options.radii.empty()) radii = options.radii;
    for (const bool trunk : {true, false}) {
        if (trunk != options.updates.trunk && !options.long_segments) continue;
        for (const std::optional<double>& alpha : alphas) {
            for (const double radius : radii) {
                update_options tried = options.updates;
                tried.trunk = trunk;
                tried.alpha = alpha;
                tried.radius = radius;
                result.push_back(tried);
            }
        }
    }
    return result;
}

}  // namespace detail

/// Orders `graph` with `policy` in every segment; threads, account and errors as in order_segments.
template <order::detail::portfolio_policy Policy>
[[nodiscard]] paper_ordering order_as_paper(const tensor_graph& graph, const Policy& policy, budget& account,
                                            const paper_order_options& options = {}, std::uint64_t seed = 1,
                                            unsigned threads = 1, const segments_done& on_done = {}) {
    paper_ordering result;
    update_options chosen = options.updates;
    result.schedule = schedule_updates(graph, chosen);
    result.boundaries = result.schedule.boundaries;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::vector<std::vector<std::uint32_t>> seen;  // segments that were looked at
    for (const update_options& tried : detail::settings_to_try(options, !result.schedule.branches.empty())) {
        if (!seen.empty() && account.exhausted()) break;
        update_schedule schedule = schedule_updates(graph, tried);
        std::vector<std::uint32_t> segment_of = schedule.segmentation.segment_of();
        if (std::find(seen.begin(), seen.end(), segment_of) != seen.end()) continue;
        seen.push_back(std::move(segment_of));
        // A glance, not a search: the list rule alone, whatever is left on the account.
        budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
        const std::int64_t peak =
            order_segments(graph, schedule.segmentation, order::lescea{}, unlimited, seed, threads).peak;
        if (peak >= least) continue;
        least = peak;
        chosen = tried;
        result.schedule = std::move(schedule);
    }
    result.trunk = chosen.trunk;
    result.radius = chosen.radius;
    result.alpha = chosen.alpha;
    result.ordered =
        order_segments(graph, result.schedule.segmentation, policy, account, seed, threads, on_done);
    if (!options.keep_program_order) return result;
    order::sequence as_written = program_order(graph);
    const std::int64_t peak = peak_bytes(graph, as_written);
    if (peak >= result.ordered.peak) return result;
    result.ordered.order = std::move(as_written);
    result.ordered.peak = peak;
    result.is_program_order = true;
    return result;
}

/// The paper's order as an order policy, with any policy in the segments: `paper_order{order::exact{}}`.
template <order::detail::portfolio_policy Policy>
struct paper_order {
    static constexpr std::string_view name = "roam-paper";  ///< for reports
    Policy policy{};                                        ///< orders each segment
    paper_order_options options{};
    unsigned threads = 1;  ///< threads that may be used; the order does not depend on it

    /// The order; empty if the incumbent is as good.
    [[nodiscard]] order::sequence operator()(const tensor_graph& graph, order::context& shared) const {
        paper_ordering found = order_as_paper(graph, policy, shared.account, options, shared.seed, threads);
        if (found.schedule.segmentation.independent && found.ordered.lower_bound > shared.lower_bound) {
            shared.lower_bound = found.ordered.lower_bound;
            shared.witness = {"segments", no_operator};
        }
        if (!shared.incumbent.empty() && found.ordered.peak >= shared.incumbent_peak) return {};
        return std::move(found.ordered.order);
    }
};
template <class Policy>
paper_order(Policy) -> paper_order<Policy>;
template <class Policy>
paper_order(Policy, paper_order_options) -> paper_order<Policy>;
template <class Policy>
paper_order(Policy, paper_order_options, unsigned) -> paper_order<Policy>;

static_assert(order::searching_order_policy<paper_order<order::lescea>>);

}  // namespace stowage::roam
