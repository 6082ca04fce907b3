#pragma once
// Which of several ready vertices a lane starts first. A policy gives every vertex a key; the least key goes
// first, ties in the vertex's index. Without keys, vertices go in the order in which they became ready.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::exec {

/// What a policy may look at.
struct priority_view {
    const tensor_graph& program;                       ///< the program
    const turnip::memgraph& graph;                     ///< the memgraph
    std::span<const turnip::vertex_index> order;       ///< a legal order of its vertices
    std::span<const std::uint32_t> successor_begin;    ///< by vertex, and one more
    std::span<const turnip::vertex_index> successors;  ///< rows of successors
    std::span<const double> seconds;                   ///< by vertex: estimate of how long it takes
    /// Vertices that wait for `v`.
    [[nodiscard]] std::span<const turnip::vertex_index> after(turnip::vertex_index v) const noexcept {
        return successors.subspan(successor_begin[v], successor_begin[v + 1] - successor_begin[v]);
    }
};

/// `policy(view, keys)` fills the keys and returns true, or returns false: no keys. Called once, before the
/// first run. If it has `rekey(keys, seed)`, that is called before each run, and allocates nothing.
template <class P>
concept priority_policy = requires(const P& policy, const priority_view& view,
                                   std::span<std::uint64_t> keys) {
    { policy(view, keys) } -> std::same_as<bool>;
};

/// First ready, first started.
struct fifo {
    bool operator()(const priority_view&, std::span<std::uint64_t>) const noexcept { return false; }
};
static_assert(priority_policy<fifo>);

/// The vertex with the longest way, by estimated time, to the end of the run goes first. O(V + E).
struct critical_path {
    template <class = void>
    bool fill(const priority_view& view, std::span<std::uint64_t> keys) const {
        constexpr double most = 9.0e18;
        std::vector<double> way(keys.size(), 0.0);
        for (std::size_t i = view.order.size(); i-- > 0;) {
            const turnip::vertex_index v = view.order[i];
            double longest = 0.0;
            for (const turnip::vertex_index next : view.after(v))
                longest = std::max(longest, way[next]);
            way[v] = longest + view.seconds[v];
        }
        for (std::size_t v = 0; v < keys.size(); ++v)
            keys[v] = static_cast<std::uint64_t>(most - std::min(most, way[v] * 1e12));
        return true;
    }
    bool operator()(const priority_view& view, std::span<std::uint64_t> keys) const {
        return fill(view, keys);
    }
};
static_assert(priority_policy<critical_path>);

/// What is needed first goes first: an operator by its place in the memgraph, a move by the first operator
/// that waits for it, directly or through other moves. O(V + E).
struct need {
    template <class = void>
    bool fill(const priority_view& view, std::span<std::uint64_t> keys) const {
        for (std::size_t i = view.order.size(); i-- > 0;) {
            const turnip::vertex_index v = view.order[i];
            if (view.graph.vertices[v].kind == turnip::vertex_kind::op) {
                keys[v] = i;
                continue;
            }
            std::uint64_t first = view.order.size();
            for (const turnip::vertex_index next : view.after(v))
                first = std::min(first, keys[next]);
            keys[v] = first;
        }
        return true;
    }
    bool operator()(const priority_view& view, std::span<std::uint64_t> keys) const {
        return fill(view, keys);
    }
};
static_assert(priority_policy<need>);

/// By chance: another order for each seed, which run_options gives. For tests: a memgraph without races gives
/// the same contents in each.
struct seeded_random {
    bool operator()(const priority_view&, std::span<std::uint64_t> keys) const noexcept {
        rekey(keys, 1);
        return true;
    }
    void rekey(std::span<std::uint64_t> keys, std::uint64_t seed) const noexcept {
        stowage::detail::splitmix64 random(seed);
        for (std::uint64_t& key : keys)
            key = random();
    }
};
static_assert(priority_policy<seeded_random>);

/// Any of them, chosen when the program runs.
class any_priority {
public:
    /// Takes a policy of any type.
    template <priority_policy P>
        requires(!std::same_as<P, any_priority>)
    any_priority(P policy) {  // NOLINT(google-explicit-constructor): policies are given as options
        if constexpr (requires(std::span<std::uint64_t> keys) { policy.rekey(keys, std::uint64_t{}); })
            rekey_ = [policy](std::span<std::uint64_t> keys, std::uint64_t seed) {
                policy.rekey(keys, seed);
            };
        fill_ = std::move(policy);
    }
    bool operator()(const priority_view& view, std::span<std::uint64_t> keys) const {
        return fill_(view, keys);
    }
    /// Draws new keys, where the policy does so for each run.
    void rekey(std::span<std::uint64_t> keys, std::uint64_t seed) const {
        if (rekey_) rekey_(keys, seed);
    }

private:
    std::function<bool(const priority_view&, std::span<std::uint64_t>)> fill_;
    std::function<void(std::span<std::uint64_t>, std::uint64_t)> rekey_;
};
static_assert(priority_policy<any_priority>);

}  // namespace stowage::exec
