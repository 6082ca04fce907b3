#pragma once
// Which operators must run before which: whether a path of dependencies leads from one to the other. Up to
// some thousand operators the whole relation is kept as bits, n^2 / 16 bytes; beyond that memory stays
// linear: levels and three labellings by intervals answer most questions at once, a search that they prune
// answers the rest. Source: Yildirim, Chaoji, Zaki, "GRAIL: scalable reachability index for large graphs",
// PVLDB 3(1), 2010, with the spanning forest of each labelling as a proof of paths beside their proof that
// there is none.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>

namespace stowage {

/// How a reachability is kept.
struct reachability_options {
    /// Up to this many operators the relation is kept as bits (n^2 / 16 bytes: 4 MiB at 8,192); beyond, as
    /// labels.
    std::size_t most_as_bits = 8192;
};

/// Answers whether an operator must run before another, by dependencies. Building takes O(n + m) time and at
/// most 56 bytes an operator as labels, O(n m / 64) time and n^2 / 16 bytes as bits. The graph must outlive
/// it. A question may need the object's scratch memory, so one thread uses an object at a time; copies are
/// independent.
class reachability {
public:
    /// Reads the dependencies of `graph`.
    template <class = void>
    explicit reachability(const tensor_graph& graph, const reachability_options& options = {})
        : graph_(&graph), as_bits_(graph.operator_count() <= options.most_as_bits) {
        if (as_bits_)
            fill_bits();
        else
            fill_labels();
    }
    explicit reachability(tensor_graph&&, const reachability_options& = {}) = delete;

    /// True if `u` must run before `v`; false for u == v. O(1) as bits; as labels mostly O(1), at worst O(n +
    /// m).
    template <class = void>
    [[nodiscard]] bool reaches(operator_index u, operator_index v) {
        if (u >= v) return false;
        if (as_bits_) return bit(u, v);
        for (const labelling& labels : labels_) {
            if (labels.tree_holds(u, v)) return true;
        }
        return may_reach(u, v) && search(u, v);
    }

    /// Operators that must run before `v`, ascending. O(n) as bits; as labels O(those, their edges, their
    /// sorting).
    template <class = void>
    [[nodiscard]] std::vector<operator_index> ancestors(operator_index v) {
        if (as_bits_) return bits_of(v);
        return walk(v, [this](operator_index op) { return graph_->predecessors(op); });
    }
    /// Operators that must run after `u`, ascending. O(n) as bits; as labels O(those, their edges, their
    /// sorting).
    template <class = void>
    [[nodiscard]] std::vector<operator_index> descendants(operator_index u) {
        if (!as_bits_) return walk(u, [this](operator_index op) { return graph_->successors(op); });
        std::vector<operator_index> result;
        for (auto v = u + 1; v < graph_->operator_count(); ++v)
            if (bit(u, v)) result.push_back(v);
        return result;
    }

    /// True if the whole relation is kept as bits.
    [[nodiscard]] bool as_bits() const noexcept { return as_bits_; }
    /// Bytes that this object holds.
    template <class = void>
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        std::size_t bytes = bits_.capacity() * sizeof(std::uint64_t) + row_.capacity() * sizeof(std::size_t) +
                            (level_.capacity() + height_.capacity() + seen_.capacity() + open_.capacity()) *
                                sizeof(std::uint32_t);
        for (const labelling& labels : labels_)
            bytes += (labels.first.capacity() + labels.last.capacity() + labels.least.capacity()) *
                     sizeof(std::uint32_t);
        return bytes;
    }

private:
    /// One depth-first walk. last[v] is v's place in the order in which operators are left; the places of v's
    /// tree are first[v] to last[v], those of all operators after v lie in least[v] to last[v].
    struct labelling {
        std::vector<std::uint32_t> first, last, least;
        [[nodiscard]] bool tree_holds(operator_index u, operator_index v) const noexcept {
            return first[u] <= last[v] && last[v] <= last[u];
        }
        [[nodiscard]] bool spans(operator_index u, operator_index v) const noexcept {
            return least[u] <= least[v] && last[v] <= last[u];
        }
    };

    /// An operator has a bit for each one with a smaller index: dependencies lead forwards only.
    template <class = void>
    void fill_bits() {
        const std::size_t count = graph_->operator_count();
        row_.resize(count + 1, 0);
        for (std::size_t v = 0; v < count; ++v)
            row_[v + 1] = row_[v] + (v + 63) / 64;
        bits_.assign(row_[count], 0);
        for (operator_index v = 0; v < count; ++v) {
            std::uint64_t* to = bits_.data() + row_[v];
            for (const operator_index u : graph_->predecessors(v)) {
                const std::uint64_t* from = bits_.data() + row_[u];
                for (std::size_t k = 0; k < row_[u + 1] - row_[u]; ++k)
                    to[k] |= from[k];
                to[u / 64] |= std::uint64_t{1} << (u % 64);
            }
        }
    }
    template <class = void>
    [[nodiscard]] bool bit(operator_index u, operator_index v) const noexcept {
        return ((bits_[row_[v] + u / 64] >> (u % 64)) & 1U) != 0;
    }
    template <class = void>
    [[nodiscard]] std::vector<operator_index> bits_of(operator_index v) const {
        std::vector<operator_index> result;
        for (operator_index u = 0; u < v; ++u)
            if (bit(u, v)) result.push_back(u);
        return result;
    }

    template <class = void>
    void fill_labels() {
        const std::size_t count = graph_->operator_count();
        level_.assign(count, 0);
        height_.assign(count, 0);
        for (operator_index v = 0; v < count; ++v)
            for (const operator_index u : graph_->predecessors(v))
                level_[v] = std::max(level_[v], level_[u] + 1);
        for (auto v = static_cast<operator_index>(count); v-- > 0;)
            for (const operator_index w : graph_->successors(v))
                height_[v] = std::max(height_[v], height_[w] + 1);
        seen_.assign(count, no_operator);
        open_.reserve(count);
        for (std::size_t k = 0; k < labels_.size(); ++k)
            label(labels_[k], k);
        std::fill(seen_.begin(), seen_.end(), no_operator);
    }

    /// Walks once; the walks differ in where they start and turn first: at the oldest, at the newest,
    /// alternating.
    template <class = void>
    void label(labelling& labels, std::size_t walk) {
        const auto count = static_cast<operator_index>(graph_->operator_count());
        labels.first.assign(count, 0);
        labels.last.assign(count, 0);
        labels.least.assign(count, 0);
        std::vector<std::uint32_t> next(count, 0);  // how many successors have been looked at
        std::uint32_t place = 0;
        std::vector<bool> entered(count, false);
        for (operator_index i = 0; i < count; ++i) {
            const operator_index root = walk == 0 ? i : count - 1 - i;
            if (!graph_->predecessors(root).empty()) continue;
            open_.assign(1, root);
            entered[root] = true;
            labels.first[root] = place;
            while (!open_.empty()) {
                const operator_index v = open_.back();
                const auto successors = graph_->successors(v);
                if (next[v] == successors.size()) {
                    labels.last[v] = labels.least[v] = place++;
                    for (const operator_index w : successors)
                        labels.least[v] = std::min(labels.least[v], labels.least[w]);
                    open_.pop_back();
                    continue;
                }
                const bool newest_first = walk == 1 || (walk == 2 && v % 2 == 0);
                const std::size_t turn = next[v]++;
                const operator_index w = successors[newest_first ? successors.size() - 1 - turn : turn];
                if (entered[w]) continue;
                entered[w] = true;
                labels.first[w] = place;
                open_.push_back(w);
            }
        }
    }

    template <class = void>
    [[nodiscard]] bool may_reach(operator_index u, operator_index v) const noexcept {
        if (u >= v || level_[u] >= level_[v] || height_[u] <= height_[v]) return false;
        return std::all_of(labels_.begin(), labels_.end(),
                           [&](const labelling& labels) { return labels.spans(u, v); });
    }

    /// A search from u for v that enters only what may still reach v. Stamps in seen_ mark what was entered.
    template <class = void>
    [[nodiscard]] bool search(operator_index u, operator_index v) {
        new_stamp();
        open_.assign(1, u);
        while (!open_.empty()) {
            const operator_index at = open_.back();
            open_.pop_back();
            for (const operator_index w : graph_->successors(at)) {
                if (w == v) return true;
                if (seen_[w] == stamp_ || !may_reach(w, v)) continue;
                seen_[w] = stamp_;
                for (const labelling& labels : labels_)
                    if (labels.tree_holds(w, v)) return true;
                open_.push_back(w);
            }
        }
        return false;
    }

    template <class Next>
    [[nodiscard]] std::vector<operator_index> walk(operator_index from, Next next) {
        new_stamp();
        std::vector<operator_index> result;
        open_.assign(1, from);
        while (!open_.empty()) {
            const operator_index at = open_.back();
            open_.pop_back();
            for (const operator_index w : next(at)) {
                if (seen_[w] == stamp_) continue;
                seen_[w] = stamp_;
                result.push_back(w);
                open_.push_back(w);
            }
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    template <class = void>
    void new_stamp() {
        if (++stamp_ == no_operator) {
            std::fill(seen_.begin(), seen_.end(), no_operator);
            stamp_ = 0;
        }
    }

    const tensor_graph* graph_;
    bool as_bits_;
    std::vector<std::uint64_t> bits_;
    std::vector<std::size_t> row_;       // where an operator's bits begin
    std::vector<std::uint32_t> level_;   // longest path to an operator, in edges
    std::vector<std::uint32_t> height_;  // longest path from it
    std::array<labelling, 3> labels_;
    std::vector<std::uint32_t> seen_;
    std::vector<operator_index> open_;
    std::uint32_t stamp_ = 0;
};

}  // namespace stowage
