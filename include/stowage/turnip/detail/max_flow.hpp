#pragma once
// Maximal flow through a network with whole capacities, in phases of shortest paths. Source: E. A. Dinic,
// "Algorithm for solution of a problem of maximum flow in networks with power estimation" (1970).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stowage::turnip::detail {

/// One network, from node 0 to node 1. Use it once.
template <class = void>
class basic_max_flow {
public:
    static constexpr std::uint32_t source = 0;
    static constexpr std::uint32_t sink = 1;
    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 4;

    basic_max_flow() : first_(2, none) {}
    /// A node more.
    [[nodiscard]] std::uint32_t add_node() {
        first_.push_back(none);
        return static_cast<std::uint32_t>(first_.size() - 1);
    }
    /// Capacities that are not positive are left out. The sum of all but `unlimited` ones is less than that.
    void add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
        if (capacity <= 0 || from == to) return;
        add_half(from, to, capacity);
        add_half(to, from, 0);
    }
    /// The flow after at most so many phases: a lower bound on the least cut, and equal to it once no path is
    /// left. A phase is O(nodes x edges) at worst, far less on networks of programs.
    [[nodiscard]] std::int64_t operator()(std::size_t phases) {
        std::int64_t flow = 0;
        for (std::size_t k = 0; k < phases && find_levels(); ++k) {
            next_ = first_;
            while (const std::int64_t more = push_path())
                flow += more;
        }
        return flow;
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    struct half_edge {
        std::uint32_t to;
        std::uint32_t next;  // of the same node
        std::int64_t left;
    };
    void add_half(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
        edges_.push_back({to, first_[from], capacity});
        first_[from] = static_cast<std::uint32_t>(edges_.size() - 1);
    }
    [[nodiscard]] bool find_levels() {
        level_.assign(first_.size(), none);
        queue_.assign(1, source);
        level_[source] = 0;
        for (std::size_t k = 0; k < queue_.size(); ++k) {
            const std::uint32_t node = queue_[k];
            for (std::uint32_t e = first_[node]; e != none; e = edges_[e].next) {
                if (edges_[e].left == 0 || level_[edges_[e].to] != none) continue;
                level_[edges_[e].to] = level_[node] + 1;
                queue_.push_back(edges_[e].to);
            }
        }
        return level_[sink] != none;
    }
    /// One more path of shortest length; what flows along it, 0 if there is none.
    [[nodiscard]] std::int64_t push_path() {
        path_.clear();
        std::uint32_t node = source;
        while (node != sink) {
            std::uint32_t& e = next_[node];
            while (e != none && (edges_[e].left == 0 || level_[edges_[e].to] != level_[node] + 1))
                e = edges_[e].next;
            if (e != none) {
                path_.push_back(e);
                node = edges_[e].to;
                continue;
            }
            level_[node] = none;  // a dead end
            if (path_.empty()) return 0;
            node = edges_[path_.back() ^ 1U].to;
            path_.pop_back();
        }
        std::int64_t least = unlimited;
        for (const std::uint32_t e : path_)
            least = std::min(least, edges_[e].left);
        for (const std::uint32_t e : path_) {
            edges_[e].left -= least;
            edges_[e ^ 1U].left += least;
        }
        return least;
    }

    std::vector<std::uint32_t> first_;  // by node: its first edge
    std::vector<half_edge> edges_;      // an edge and its reverse stand side by side
    std::vector<std::uint32_t> level_;
    std::vector<std::uint32_t> next_;  // by node: the edge to try
    std::vector<std::uint32_t> queue_;
    std::vector<std::uint32_t> path_;
};
using max_flow = basic_max_flow<>;

}  // namespace stowage::turnip::detail
