#pragma once
// The decision "is there an order within B?" by branching on the order of two operators (papers/order.md,
// rule 16). Each node commits valleys at both ends, which leaves a smaller problem (rule 17), probes
// precedences (rule 15), falls apart at memory-insensitive operators (rule 7), is split at the operators of
// least slack (rule 14), and only then branches: v among the operators of least slack, u free at v; once u
// runs before v, once v before u. The pair is the one whose worse side loses most slack.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/order/detail/branching_pair.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/precedence_prober.hpp>
#include <stowage/order/detail/residual.hpp>
#include <stowage/order/detail/segments.hpp>
#include <stowage/order/detail/split_search.hpp>
#include <stowage/order/detail/valley_engine.hpp>

namespace stowage::order::detail {

/// How a branching search goes about.
struct branch_settings {
    std::uint64_t commit_states = 500;  ///< states a valley while the ends are committed
    valley_settings valleys{};          ///< how valleys are sought
    bool probe = true;                  ///< rule 15 at each node
    probing_settings probing{};         ///< at the first node
    int most_slack_below = 5;           ///< probing_settings::most_slack at the other nodes
    bool segments = true;               ///< rule 7 at each node
    std::size_t split_operators = 4;    ///< operators of least slack that are split at; 0: none
    bool split_before = true;           ///< splits from the side before v too, not only from the one after it
    split_settings split{};             ///< limits of one split
    std::size_t nodes = 12;             ///< nodes after which it gives up
    std::size_t one_sided = 2;          ///< branchings in a row on pairs that cost nothing on one side
};

/// One branching search; it may be used for one decision after the other.
template <class = void>
class basic_branch_search {
public:
    explicit basic_branch_search(const branch_settings& settings) : settings_(settings) {}

    /// found: rest.order() is an order of the whole within its bound. Takes the residual apart.
    verdict decide(residual& rest, search_effort& effort) {
        nodes_ = 0;
        return solve(rest, {}, effort);
    }
    /// Nodes of the last decide().
    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }

private:
    static constexpr std::size_t deepest = 64;

    /// Where a node is in the tree.
    struct place {
        std::size_t depth = 0;
        std::size_t one_sided = 0;  // nodes in a row above it whose pair cost nothing on one side
    };

    verdict solve(residual& rest, const place& at, search_effort& effort) {
        if (++nodes_ > settings_.nodes || at.depth > deepest || effort.exhausted()) return verdict::open;
        constexpr int most_rounds = 3;  // of commits and probing with little gain
        for (int round = 0;; ++round) {
            const verdict committed = rest.commit(settings_.commit_states, settings_.valleys, effort);
            if (committed != verdict::open) return committed;
            if (!settings_.probe || effort.exhausted()) break;
            probing_settings probing = settings_.probing;
            if (at.depth > 0) probing.most_slack = settings_.most_slack_below;
            precedence_prober prober(rest, probing);
            if (prober.run(effort) == verdict::refuted) return verdict::refuted;
            if (prober.added() == 0 || round + 1 == most_rounds) break;
        }
        if (settings_.segments) {
            bool apart = false;
            const verdict result = solve_segments(rest, at, effort, apart);
            if (apart) return result;
        }
        const std::vector<std::pair<std::int64_t, operator_index>> tight = rest.least_slack(12, effort);
        if (!tight.empty() && tight.front().first < 0) return verdict::refuted;
        if (tight.empty()) {  // every operator has one hill only
            if (effort.exhausted()) return verdict::open;
            if (peak_of(rest.problem(), rest.orders()[0]) > rest.bound()) return verdict::refuted;
            rest.finish(rest.orders()[0]);
            return verdict::found;
        }
        const verdict split = solve_splits(rest, tight, effort);
        if (split != verdict::open || effort.exhausted() || nodes_ >= settings_.nodes) return split;
        return branch(rest, tight, at, effort);
    }

    /// apart: the problem falls apart, or an operator between its segments is too high.
    verdict solve_segments(residual& rest, const place& at, search_effort& effort, bool& apart) {
        segmentation segments = find_segments(rest.problem(), false);
        std::vector<std::pair<std::size_t, std::size_t>>& spans = segments.spans;
        if (segments.cuts.empty() && spans.size() < 2) return verdict::open;
        const std::vector<std::int64_t> hills = hills_of(rest.problem(), segments.order);
        for (const std::size_t cut : segments.cuts) {
            if (hills[cut] > rest.bound()) {
                apart = true;
                return verdict::refuted;
            }
        }
        if (spans.size() < 2) return verdict::open;
        apart = true;
        std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
            return a.second - a.first < b.second - b.first;
        });
        std::vector<operator_index> order = segments.order;
        for (const auto& [first, last] : spans) {
            residual part(rest, segments.order, first, last);
            const verdict result = solve(part, {at.depth + 1, at.one_sided}, effort);
            if (result != verdict::found) return result;
            std::copy(part.order().begin(), part.order().end(),
                      order.begin() + static_cast<std::ptrdiff_t>(first));
        }
        rest.finish(order);
        return verdict::found;
    }

    verdict solve_splits(residual& rest, const std::vector<std::pair<std::int64_t, operator_index>>& tight,
                         search_effort& effort) const {
        for (std::size_t k = 0; k < std::min(tight.size(), settings_.split_operators); ++k) {
            const operator_index v = tight[k].second;
            for (const split_side from : {split_side::after, split_side::before}) {
                if (from == split_side::before && !settings_.split_before) continue;
                split_search split(rest.problem(), v, from, settings_.split);
                const verdict result = split.decide(rest.bound(), effort);
                if (result == verdict::found) rest.finish(split.order());
                if (result != verdict::open || effort.exhausted()) return result;
            }
        }
        return verdict::open;
    }

    verdict branch(residual& rest, const std::vector<std::pair<std::int64_t, operator_index>>& tight,
                   const place& at, search_effort& effort) {
        const branching_pair pair = choose_pair(rest, tight, effort);
        // Pairs that cost nothing on one side lead down long chains: a few are worth a try.
        constexpr double one_sided = 0.06;
        place below{at.depth + 1, pair.score < one_sided ? at.one_sided + 1 : 0};
        if (below.one_sided > settings_.one_sided) return verdict::open;
        for (const auto& dependency :
             {std::pair(pair.first, pair.second), std::pair(pair.second, pair.first)}) {
            residual child = rest;
            if (!child.add_dependencies({dependency})) continue;
            const verdict of_child = solve(child, below, effort);
            if (of_child == verdict::found) rest = std::move(child);
            if (of_child != verdict::refuted) return of_child;
        }
        return verdict::refuted;
    }

    branch_settings settings_;
    std::size_t nodes_ = 0;
};
using branch_search = basic_branch_search<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_branch_search<>;
#endif

}  // namespace stowage::order::detail
