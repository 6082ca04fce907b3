#pragma once
// Maximum flow with 64-bit capacities and infinite arcs: Dinic's blocking flows (Soviet Math. Doklady 11,
// 1970) on arcs stored node by node, levels counted from the sink, no recursion.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace stowage::order::detail {

/// A directed network that keeps its flow: paths may be added between any two nodes, one call after the
/// other. The sum of its finite capacities must not pass 2^63 - 1. Storage is reused from one reset to the
/// next.
template <class = void>
class basic_flow_network {
public:
    using node = std::uint32_t;
    /// Capacity of an arc that no flow can fill.
    static constexpr std::int64_t infinite = std::numeric_limits<std::int64_t>::max();

    /// Drops all arcs; nodes are 0 to `nodes` - 1.
    void reset(std::size_t nodes) {
        nodes_ = nodes;
        listed_.clear();
    }
    /// One more node; its number. Before finish() only.
    node add_node() { return static_cast<node>(nodes_++); }
    /// Lists an arc. Before finish() only.
    void add_arc(node from, node to, std::int64_t capacity) {
        if (from != to && capacity > 0) listed_.push_back({from, to, capacity});
    }
    /// Number of nodes.
    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_; }
    /// Number of arcs, each counted with its reverse.
    [[nodiscard]] std::size_t arc_count() const noexcept { return arcs_.size(); }

    /// Makes the listed arcs ready for flow, which starts at 0. O(nodes + arcs).
    void finish() {
        begin_.assign(nodes_ + 1, 0);
        for (const listed_arc& arc : listed_) {
            ++begin_[arc.from + 1];
            ++begin_[arc.to + 1];
        }
        for (std::size_t i = 0; i < nodes_; ++i)
            begin_[i + 1] += begin_[i];
        current_.assign(begin_.begin(), begin_.end() - 1);
        arcs_.resize(2 * listed_.size());
        residual_.resize(2 * listed_.size());
        for (const listed_arc& arc : listed_) {
            const std::uint32_t there = current_[arc.from]++;
            const std::uint32_t back = current_[arc.to]++;
            arcs_[there] = {arc.to, back};
            arcs_[back] = {arc.from, there};
            residual_[there] = arc.capacity;
            residual_[back] = 0;
        }
        level_.assign(nodes_, no_level);
        queue_.resize(nodes_);
        leveled_ = 0;
    }

    /// Adds flow from `source` to `sink` until none can be added or at least `limit` has been, or for so many
    /// lengths of paths; returns what was added.
    std::int64_t augment(node source, node sink, std::int64_t limit = infinite,
                         std::size_t phases = std::numeric_limits<std::size_t>::max()) {
        std::int64_t added = 0;
        ended_ = false;
        for (; phases > 0 && added < limit; --phases) {
            ended_ = !set_levels(source, sink);
            if (ended_) break;
            added += block(source, sink, limit - added);
        }
        return added;
    }
    /// True if the last augment() left no path.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Arcs looked at by augment() so far, for a caller's account.
    [[nodiscard]] std::uint64_t visited() const noexcept { return visited_; }

    /// What every arc can still carry, to be put back later.
    [[nodiscard]] const std::vector<std::int64_t>& residual() const noexcept { return residual_; }
    /// Puts back a state of the same network.
    void restore(const std::vector<std::int64_t>& residual) { residual_ = residual; }

    /// Marks every node that `source` can still send flow to, itself among them. O(nodes + arcs).
    void mark_reached_from(node source, std::vector<std::uint8_t>& mark) {
        sweep(source, mark, [&](std::uint32_t arc) { return residual_[arc] > 0; });
    }
    /// Marks every node that can still send flow to `sink`, itself among them. O(nodes + arcs).
    void mark_reaching(node sink, std::vector<std::uint8_t>& mark) {
        sweep(sink, mark, [&](std::uint32_t arc) { return residual_[arcs_[arc].reverse] > 0; });
    }

private:
    static constexpr std::uint32_t no_level = std::numeric_limits<std::uint32_t>::max();
    struct listed_arc {
        node from;
        node to;
        std::int64_t capacity;
    };
    struct stored_arc {
        node to;
        std::uint32_t reverse;
    };

    template <class Open>
    void sweep(node start, std::vector<std::uint8_t>& mark, Open open) {
        mark.assign(nodes_, 0);
        mark[start] = 1;
        path_.assign(1, start);
        while (!path_.empty()) {
            const node at = path_.back();
            path_.pop_back();
            for (std::uint32_t arc = begin_[at]; arc < begin_[at + 1]; ++arc) {
                const node to = arcs_[arc].to;
                if (mark[to] != 0 || !open(arc)) continue;
                mark[to] = 1;
                path_.push_back(to);
            }
        }
    }

    /// Levels of all nodes no farther from the sink than the source; false if the source does not reach it.
    bool set_levels(node source, node sink) {
        for (std::size_t i = 0; i < leveled_; ++i)
            level_[queue_[i]] = no_level;
        leveled_ = 0;
        queue_[leveled_++] = sink;
        level_[sink] = 0;
        for (std::size_t head = 0; head < leveled_; ++head) {
            const node at = queue_[head];
            if (level_[source] != no_level && level_[at] >= level_[source]) break;
            visited_ += begin_[at + 1] - begin_[at];
            for (std::uint32_t arc = begin_[at]; arc < begin_[at + 1]; ++arc) {
                const node from = arcs_[arc].to;
                if (level_[from] != no_level || residual_[arcs_[arc].reverse] == 0) continue;
                level_[from] = level_[at] + 1;
                queue_[leveled_++] = from;
            }
        }
        for (std::size_t i = 0; i < leveled_; ++i)
            current_[queue_[i]] = begin_[queue_[i]];
        return level_[source] != no_level;
    }

    /// Fills every shortest path, or until `limit` has gone through.
    std::int64_t block(node source, node sink, std::int64_t limit) {
        std::int64_t total = 0;
        path_.clear();
        node at = source;
        while (total < limit) {
            if (at == sink) {
                total += push_along_path(at, source);
                continue;
            }
            std::uint32_t& arc = current_[at];
            const std::uint32_t end = begin_[at + 1];
            while (arc < end && (residual_[arc] == 0 || level_[arcs_[arc].to] == no_level ||
                                 level_[arcs_[arc].to] + 1 != level_[at]))
                ++arc;
            if (arc < end) {
                path_.push_back(arc);
                at = arcs_[arc].to;
                continue;
            }
            visited_ += end - begin_[at];
            if (path_.empty()) break;
            at = arcs_[arcs_[path_.back()].reverse].to;
            path_.pop_back();
            ++current_[at];
        }
        return total;
    }

    /// Sends as much as the path carries; `at` becomes the tail of its first full arc.
    std::int64_t push_along_path(node& at, node source) {
        std::int64_t amount = infinite;
        for (const std::uint32_t arc : path_)
            amount = std::min(amount, residual_[arc]);
        std::size_t keep = path_.size();
        for (std::size_t i = path_.size(); i-- > 0;) {
            const std::uint32_t arc = path_[i];
            if (residual_[arc] != infinite) residual_[arc] -= amount;
            std::int64_t& back = residual_[arcs_[arc].reverse];
            if (back != infinite) back += amount;
            if (residual_[arc] == 0) keep = i;
        }
        visited_ += path_.size();
        path_.resize(keep);
        at = keep == 0 ? source : arcs_[path_.back()].to;
        return amount;
    }

    std::size_t nodes_ = 0;
    std::vector<listed_arc> listed_;
    std::vector<std::uint32_t> begin_;
    std::vector<stored_arc> arcs_;
    std::vector<std::int64_t> residual_;
    std::vector<std::uint32_t> level_;
    std::vector<std::uint32_t> current_;
    std::vector<node> queue_;
    std::vector<std::uint32_t> path_;  // arcs of the path in hand, or nodes still to sweep
    std::size_t leveled_ = 0;
    std::uint64_t visited_ = 0;
    bool ended_ = false;
};
using flow_network = basic_flow_network<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_flow_network<>;
#endif

}  // namespace stowage::order::detail
