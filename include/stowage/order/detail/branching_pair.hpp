#pragma once
// On which two operators to branch (papers/order.md, rule 16): v among the operators of least slack, u free
// at v, the pair whose worse side loses most slack. A dependency a -> b costs, at each tight operator, the
// flow through an arc from b to a of unlimited capacity: with b in the set, a must be.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/order/detail/cut_network.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/residual.hpp>
#include <stowage/order/detail/valley_engine.hpp>

namespace stowage::order::detail {

/// Two operators on whose order to branch, the side that loses less slack first.
struct branching_pair {
    double score = -1;
    operator_index first = 0;
    operator_index second = 0;
};

/// What the dependency a -> b adds to the least f at v, or a part of it, up to `most`: the flow through
/// an arc from b to a of unlimited capacity.
template <class = void>
std::int64_t forced_flow(cut_network& network, operator_index v, operator_index a, operator_index b,
                         std::int64_t most) {
    flow_network& flow = network.flow();
    const flow_network::node from = b == v ? cut_network::source : network.node_of(b);
    const flow_network::node to = a == v ? cut_network::sink : network.node_of(a);
    if (from == to || from == cut_network::sink || to == cut_network::source) return 0;
    if (from != cut_network::source) most = flow.augment(cut_network::source, from, most);
    if (to != cut_network::sink && most > 0) most = std::min(most, flow.augment(to, cut_network::sink, most));
    return most;
}

/// Books the work on `network` since `paid`, and one copy of its flow.
template <class = void>
void pay_for(cut_network& network, std::uint64_t& paid, search_effort& effort) {
    constexpr std::uint64_t work_a_unit = 256;
    const std::uint64_t visited = network.flow().visited();
    if (effort.account != nullptr)
        effort.account->spend(1 + (network.flow().arc_count() + visited - paid) / work_a_unit);
    paid = visited;
}

/// The pairs of a tight operator and one that is free there that lose most slack there, on one side; and
/// all pairs of tight operators.
template <class = void>
std::vector<branching_pair> promising_pairs(std::vector<cut_network>& networks,
                                            const std::vector<std::vector<std::int64_t>>& saved,
                                            const std::vector<std::pair<std::int64_t, operator_index>>& tight,
                                            search_effort& effort) {
    constexpr std::size_t most_pairs = 32;
    std::vector<branching_pair> pairs;
    for (std::size_t k = 0; k < networks.size(); ++k) {
        const auto& [slack, v] = tight[k];
        std::uint64_t paid = networks[k].flow().visited();
        const double scale = static_cast<double>(tight[0].first + 1) / static_cast<double>(slack + 1);
        for (const operator_index u : std::vector<operator_index>(networks[k].free_operators())) {
            pay_for(networks[k], paid, effort);
            if (effort.exhausted() && !pairs.empty()) return pairs;
            for (const bool u_first : {true, false}) {
                const std::int64_t lost = std::min(
                    slack + 1, forced_flow(networks[k], v, u_first ? u : v, u_first ? v : u, slack + 1));
                networks[k].flow().restore(saved[k]);
                if (lost == 0 && !(pairs.empty() && !u_first)) continue;
                pairs.push_back({static_cast<double>(lost) / static_cast<double>(slack + 1) * scale, u, v});
            }
        }
    }
    const auto better = [](const branching_pair& a, const branching_pair& b) {
        return std::tie(b.score, a.second, a.first) < std::tie(a.score, b.second, b.first);
    };
    std::sort(pairs.begin(), pairs.end(), better);
    pairs.resize(std::min(pairs.size(), most_pairs));
    for (std::size_t k = 0; k < networks.size(); ++k) {
        for (std::size_t other = k + 1; other < networks.size(); ++other) {
            const operator_index u = tight[other].second;
            if (networks[k].side_of(u) == side::free) pairs.push_back({0, u, tight[k].second});
        }
    }
    return pairs;
}

/// The pair of operators on whose order to branch, the side that loses less slack first.
template <class = void>
[[nodiscard]] branching_pair choose_pair(const residual& rest,
                                         const std::vector<std::pair<std::int64_t, operator_index>>& tight,
                                         search_effort& effort) {
    constexpr std::size_t fewest = 4;
    const std::int64_t cutoff = std::max(3 * tight[0].first, tight[0].first + rest.bound() / 1000);
    std::size_t count = 0;
    while (count < tight.size() && (count < fewest || tight[count].first <= cutoff))
        ++count;
    std::vector<cut_network> networks;
    std::vector<std::vector<std::int64_t>> saved;
    for (std::size_t k = 0; k < count; ++k) {
        networks.emplace_back(rest.problem());
        std::uint64_t paid = 0;
        networks.back().least_live(tight[k].second);
        pay_for(networks.back(), paid, effort);
        saved.push_back(networks.back().flow().residual());
    }
    // How much slack the dependency a -> b costs: with b there, a must be.
    const auto loss = [&](operator_index a, operator_index b) {
        double largest = 0;
        double sum = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const std::int64_t room = tight[k].first + 1;
            std::uint64_t paid = networks[k].flow().visited();
            const std::int64_t lost = std::min(room, forced_flow(networks[k], tight[k].second, a, b, room));
            networks[k].flow().restore(saved[k]);
            pay_for(networks[k], paid, effort);
            const double scale = static_cast<double>(tight[0].first + 1) / static_cast<double>(room);
            const double share =
                lost >= room ? 1.0 : static_cast<double>(lost) / static_cast<double>(room) * scale;
            largest = std::max(largest, share);
            sum += share;
        }
        return largest + 0.01 * sum;
    };
    branching_pair best;
    for (const branching_pair& candidate : promising_pairs(networks, saved, tight, effort)) {
        if (effort.exhausted() && best.score >= 0) return best;
        const double one = loss(candidate.first, candidate.second);
        if (one < best.score) continue;
        const double other = loss(candidate.second, candidate.first);
        const double score = std::min(one, other) + 0.05 * std::max(one, other);
        if (score <= best.score) continue;
        best = one <= other ? branching_pair{score, candidate.first, candidate.second}
                            : branching_pair{score, candidate.second, candidate.first};
    }
    return best;
}

}  // namespace stowage::order::detail
