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

#include <stowage/order/detail/cut_network.hpp>
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
    split_settings split{};             ///< limits of one split
    std::size_t nodes = 12;             ///< nodes after which it gives up
};

/// One branching search; it may be used for one decision after the other.
class branch_search {
public:
    explicit branch_search(const branch_settings& settings) : settings_(settings) {}

    /// found: rest.order() is an order of the whole within its bound. Takes the residual apart.
    verdict decide(residual& rest, search_effort& effort) {
        nodes_ = 0;
        return solve(rest, 0, effort);
    }
    /// Nodes of the last decide().
    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }

private:
    static constexpr std::size_t deepest = 64;

    struct pair_choice {
        double score = -1;
        operator_index first = 0;
        operator_index second = 0;
    };

    verdict solve(residual& rest, std::size_t depth, search_effort& effort) {
        if (++nodes_ > settings_.nodes || depth > deepest || effort.exhausted()) return verdict::open;
        constexpr int most_rounds = 3;  // of commits and probing with little gain
        for (int round = 0;; ++round) {
            const verdict committed = rest.commit(settings_.commit_states, settings_.valleys, effort);
            if (committed != verdict::open) return committed;
            if (!settings_.probe || effort.exhausted()) break;
            probing_settings probing = settings_.probing;
            if (depth > 0) probing.most_slack = settings_.most_slack_below;
            precedence_prober prober(rest, probing);
            if (prober.run(effort) == verdict::refuted) return verdict::refuted;
            if (prober.added() == 0 || round + 1 == most_rounds) break;
        }
        if (settings_.segments) {
            bool apart = false;
            const verdict result = solve_segments(rest, depth, effort, apart);
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
        return branch(rest, tight, depth, effort);
    }

    /// apart: the problem falls apart, or an operator between its segments is too high.
    verdict solve_segments(residual& rest, std::size_t depth, search_effort& effort, bool& apart) {
        const segmentation segments = find_segments(rest.problem(), false);
        if (segments.cuts.empty()) return verdict::open;
        const std::vector<std::int64_t> hills = hills_of(rest.problem(), segments.order);
        std::vector<std::pair<std::size_t, std::size_t>> spans;
        std::size_t begin = 0;
        for (const std::size_t cut : segments.cuts) {
            if (hills[cut] > rest.bound()) {
                apart = true;
                return verdict::refuted;
            }
            if (cut > begin) spans.emplace_back(begin, cut);
            begin = cut + 1;
        }
        if (segments.order.size() > begin) spans.emplace_back(begin, segments.order.size());
        if (spans.size() < 2) return verdict::open;
        apart = true;
        std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
            return a.second - a.first < b.second - b.first;
        });
        std::vector<operator_index> order = segments.order;
        for (const auto& [first, last] : spans) {
            residual part(rest, segments.order, first, last);
            const verdict result = solve(part, depth + 1, effort);
            if (result != verdict::found) return result;
            std::copy(part.order().begin(), part.order().end(),
                      order.begin() + static_cast<std::ptrdiff_t>(first));
        }
        rest.finish(order);
        return verdict::found;
    }

    verdict solve_splits(residual& rest, std::span<const std::pair<std::int64_t, operator_index>> tight,
                         search_effort& effort) const {
        for (const auto& [slack, v] : tight.first(std::min(tight.size(), settings_.split_operators))) {
            for (const split_side from : {split_side::after, split_side::before}) {
                split_search split(rest.problem(), v, from, settings_.split);
                const verdict result = split.decide(rest.bound(), effort);
                if (result == verdict::found) rest.finish(split.order());
                if (result != verdict::open || effort.exhausted()) return result;
            }
        }
        return verdict::open;
    }

    verdict branch(residual& rest, std::span<const std::pair<std::int64_t, operator_index>> tight,
                   std::size_t depth, search_effort& effort) {
        const pair_choice pair = choose(rest, tight, effort);
        verdict result = verdict::refuted;
        for (const auto& dependency :
             {std::pair(pair.first, pair.second), std::pair(pair.second, pair.first)}) {
            residual child = rest;
            if (!child.add_dependencies(std::span(&dependency, 1))) continue;
            const verdict of_child = solve(child, depth + 1, effort);
            if (of_child == verdict::found) {
                rest = std::move(child);
                return of_child;
            }
            if (of_child == verdict::open) result = of_child;
            if (nodes_ > settings_.nodes || effort.exhausted()) return verdict::open;
        }
        return result;
    }

    /// The pair of operators on whose order to branch, the side that loses less slack first.
    [[nodiscard]] static pair_choice choose(const residual& rest,
                                            std::span<const std::pair<std::int64_t, operator_index>> tight,
                                            search_effort& effort) {
        constexpr std::size_t fewest = 4;
        constexpr std::size_t most_free = 200;
        const std::int64_t cutoff = std::max(3 * tight[0].first, tight[0].first + rest.bound() / 1000);
        std::size_t count = 0;
        while (count < tight.size() && (count < fewest || tight[count].first <= cutoff))
            ++count;
        std::vector<cut_network> networks;
        std::vector<std::vector<std::int64_t>> saved;
        for (std::size_t k = 0; k < count; ++k) {
            networks.emplace_back(rest.problem());
            networks.back().least_live(tight[k].second);
            saved.push_back(networks.back().flow().residual());
        }
        // How much slack the dependency a -> b costs: with b there, a must be.
        const auto loss = [&](operator_index a, operator_index b) {
            double largest = 0;
            double sum = 0;
            for (std::size_t k = 0; k < count; ++k) {
                const std::int64_t room = tight[k].first + 1;
                const std::int64_t lost =
                    std::min(room, forced_flow(networks[k], tight[k].second, a, b, room));
                networks[k].flow().restore(saved[k]);
                const double scale = static_cast<double>(tight[0].first + 1) / static_cast<double>(room);
                const double share =
                    lost >= room ? 1.0 : static_cast<double>(lost) / static_cast<double>(room) * scale;
                largest = std::max(largest, share);
                sum += share;
            }
            if (effort.account != nullptr) effort.account->spend(1 + count * saved[0].size() / 512);
            return largest + 0.01 * sum;
        };
        pair_choice best;
        for (std::size_t k = 0; k < count; ++k) {
            const operator_index v = tight[k].second;
            const std::vector<operator_index> free = networks[k].free_operators();
            for (const operator_index u : std::span(free).first(std::min(free.size(), most_free))) {
                if (effort.exhausted() && best.score >= 0) return best;
                const double before = loss(u, v);
                if (before < best.score) continue;
                const double after = loss(v, u);
                const double score = std::min(before, after) + 0.05 * std::max(before, after);
                if (score <= best.score) continue;
                best = before <= after ? pair_choice{score, u, v} : pair_choice{score, v, u};
            }
        }
        return best;
    }
    /// What the dependency a -> b adds to the least f at v, or a part of it, up to `most`: the flow through
    /// an arc from b to a of unlimited capacity.
    static std::int64_t forced_flow(cut_network& network, operator_index v, operator_index a,
                                    operator_index b, std::int64_t most) {
        flow_network& flow = network.flow();
        const flow_network::node from = b == v ? cut_network::source : network.node_of(b);
        const flow_network::node to = a == v ? cut_network::sink : network.node_of(a);
        if (from == to || from == cut_network::sink || to == cut_network::source) return 0;
        if (from != cut_network::source) most = flow.augment(cut_network::source, from, most);
        if (to != cut_network::sink && most > 0)
            most = std::min(most, flow.augment(to, cut_network::sink, most));
        return most;
    }

    branch_settings settings_;
    std::size_t nodes_ = 0;
};

}  // namespace stowage::order::detail
