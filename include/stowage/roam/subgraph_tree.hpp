#pragma once
// The subgraph tree: a training step taken apart for its layout. A subgraph is a piece of the forward pass
// with the piece of the backward pass that frees its activations; pieces are nested, from the loss outwards.
// An independent subgraph (IG) creates and frees its tensors inside; one with more operators than node_limit
// is cut into dependent subgraphs (DG), and a tensor that two of them share is given to one. Source: ROAM,
// algorithm 1 and figure 10; docs/from-the-paper-to-the-code.md.
//
// Time is the step in the order. A subgraph's outer boundary is a pair of memory-insensitive operators (a,
// b), a in the forward and b in the backward pass. What a makes belongs inside, what it reads outside; what b
// reads belongs inside, what it makes outside.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/roam/update_schedule.hpp>

namespace stowage::roam {

/// Where a tensor of a leaf is created and freed. (Created and freed outside: it is no leaf's business.)
enum class sharing : std::uint8_t {
    cifi,  ///< created in, freed in
    cifo,  ///< created in, freed outside
    cofi,  ///< created outside, freed in
};

/// "CIFI", "CIFO" or "COFI".
[[nodiscard]] constexpr std::string_view to_string(sharing value) noexcept {
    return value == sharing::cifi ? "CIFI" : value == sharing::cifo ? "CIFO" : "COFI";
}

/// Options of the tree.
struct tree_options {
    std::size_t node_limit = 100;  ///< an independent subgraph with more operators is cut into dependent ones
    /// Give what several subgraphs share to the one that can reuse most: activations and the forward pass's
    /// temporary tensors where they are freed, the backward pass's where they are created. False: all where
    /// they are created.
    bool assign_shared = true;
};

/// Steps [begin, end) of an order.
struct step_range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    [[nodiscard]] std::int64_t size() const noexcept { return end - begin; }
    friend bool operator==(const step_range&, const step_range&) = default;
};

/// A tensor or workspace of a leaf.
struct leaf_item {
    std::uint32_t item = 0;          ///< its number in the layout problem of the order
    sharing shared = sharing::cifi;  ///< by the leaf
    bool activation = false;         ///< alive from the forward into the backward pass
};

/// Level of a node of the tree.
enum class subgraph_level : std::uint8_t { root, independent, dependent };

/// "program", "IG" or "DG".
[[nodiscard]] constexpr std::string_view to_string(subgraph_level value) noexcept {
    return value == subgraph_level::root ? "program" : value == subgraph_level::independent ? "IG" : "DG";
}

/// A node of the tree.
struct subgraph {
    subgraph_level level = subgraph_level::root;
    std::size_t parent = 0;                  ///< its own number for the root
    std::vector<std::size_t> children = {};  ///< inside out
    step_range forward = {};                 ///< its piece of the forward pass
    step_range backward = {};                ///< its piece of the backward pass, updates among it
    std::vector<leaf_item> items = {};       ///< of a leaf, ascending
    /// Number of operators.
    [[nodiscard]] std::size_t operators() const noexcept {
        return static_cast<std::size_t>(forward.size() + backward.size());
    }
    [[nodiscard]] bool is_leaf() const noexcept { return children.empty(); }
};

/// The tree. Every item that takes part in the layout is in exactly one leaf.
struct subgraph_tree {
    std::vector<subgraph> nodes = {};      ///< the root first
    std::vector<std::size_t> leaves = {};  ///< inside out: the first ones hold the loss
    std::int64_t turn = 0;                 ///< first step of the backward pass; all steps if there is none

    /// Number of nodes of that level.
    template <class = void>
    [[nodiscard]] std::size_t count(subgraph_level level) const noexcept {
        std::size_t found = 0;
        for (const subgraph& node : nodes)
            found += node.level == level ? 1U : 0U;
        return found;
    }
};

namespace detail {

/// Nested outer boundaries, inside out: the k-th one is before step `first[k]` and after step `last[k]`,
/// where first[k] = -1 and last[k] = n stand for the ends of the program.
struct nested_cuts {
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> last;
    std::vector<bool> closed;  ///< an independent subgraph ends here

    void add(std::int64_t a, std::int64_t b, bool is_closed) {
        first.push_back(a);
        last.push_back(b);
        closed.push_back(is_closed);
    }
    /// The piece in which a tensor born at `birth` is created.
    [[nodiscard]] std::size_t of_birth(std::int64_t birth, std::int64_t turn) const {
        if (birth < turn) return place_in(first, [&](std::int64_t a) { return a <= birth; });
        return place_in(last, [&](std::int64_t b) { return b > birth; });
    }
    /// The piece in which a tensor last used at `death` is freed.
    [[nodiscard]] std::size_t of_death(std::int64_t death, std::int64_t turn) const {
        if (death < turn) return place_in(first, [&](std::int64_t a) { return a < death; });
        return place_in(last, [&](std::int64_t b) { return b >= death; });
    }

private:
    template <class Inside>
    [[nodiscard]] static std::size_t place_in(const std::vector<std::int64_t>& cuts, const Inside& inside) {
        const auto found =
            std::partition_point(cuts.begin(), cuts.end(), [&](std::int64_t cut) { return !inside(cut); });
        const auto place = static_cast<std::size_t>(found - cuts.begin());
        return std::min(place, cuts.size() - 1);
    }
};

/// Algorithm 1 over one order. Keeps references to what it is given.
template <class = void>
class basic_tree_cutter {
public:
    basic_tree_cutter(const layout::order_layout& items, std::size_t steps,
                      std::vector<std::int64_t> forward_cuts, std::vector<std::int64_t> backward_cuts)
        : forward_(std::move(forward_cuts)), backward_(std::move(backward_cuts)),
          steps_(static_cast<std::int64_t>(steps)), oldest_freed_(steps, steps_), newest_death_(steps, -1) {
        forward_.push_back(-1);
        backward_.push_back(steps_);
        for (const layout::buffer& item : items.problem.buffers) {
            // What is there at the start or stays to the end belongs to no piece whole.
            if (!item.takes_part() || item.lower == 0 || item.upper == steps_) continue;
            const auto birth = static_cast<std::size_t>(item.lower);
            const auto death = static_cast<std::size_t>(item.upper - 1);
            oldest_freed_[death] = std::min(oldest_freed_[death], item.lower);
            newest_death_[birth] = std::max(newest_death_[birth], item.upper - 1);
        }
    }

    /// First step of the backward pass.
    [[nodiscard]] std::int64_t turn() const noexcept { return backward_.front(); }

    /// The outer boundaries of all pieces.
    [[nodiscard]] nested_cuts cut(std::size_t node_limit) {
        nested_cuts result;
        std::size_t f = 0;
        std::size_t b = 0;
        std::int64_t inner_first = turn();
        std::int64_t inner_last = turn();
        begin_inside();
        while (true) {
            widen_until_closed(f, b);
            split(result, inner_first, inner_last, forward_[f], backward_[b], node_limit);
            result.add(forward_[f], backward_[b], true);
            if (forward_[f] < 0 && backward_[b] == steps_) return result;
            inner_first = forward_[f];
            inner_last = backward_[b];
            f = std::min(f + 1, forward_.size() - 1);
            b = std::min(b + 1, backward_.size() - 1);
        }
    }

private:
    void begin_inside() {
        low_ = turn();
        high_ = turn();
        oldest_ = steps_;
        newest_ = -1;
    }
    /// Takes in the steps between the boundaries. O(those that are new).
    void look_inside(std::int64_t first, std::int64_t last) {
        const auto look = [&](std::int64_t step) {
            const auto t = static_cast<std::size_t>(step);
            oldest_ = std::min(oldest_, oldest_freed_[t]);
            newest_ = std::max(newest_, newest_death_[t]);
        };
        while (low_ > first + 1)
            look(--low_);
        while (high_ < last)
            look(high_++);
    }
    /// Moves the boundaries outwards until what is born or freed between them is both.
    void widen_until_closed(std::size_t& f, std::size_t& b) {
        while (true) {
            look_inside(forward_[f], backward_[b]);
            const std::size_t f_before = f;
            const std::size_t b_before = b;
            while (forward_[f] > oldest_)
                ++f;
            while (backward_[b] < newest_)
                ++b;
            if (f == f_before && b == b_before) return;
        }
    }
    /// Cuts what lies between an inner and an outer boundary into pieces of at most `limit` operators, where
    /// the memory-insensitive operators allow it. A forward operator's counterpart is the backward one at or
    /// after the last use of what it makes.
    void split(nested_cuts& result, std::int64_t inner_first, std::int64_t inner_last,
               std::int64_t outer_first, std::int64_t outer_last, std::size_t limit) const {
        const auto most = static_cast<std::int64_t>(std::min<std::size_t>(limit, std::size_t{1} << 62U));
        const auto size = [&](std::int64_t a, std::int64_t b) {
            return (inner_first - a) + (b - inner_last);
        };
        if (size(std::max<std::int64_t>(outer_first, 0), outer_last) <= most) return;
        std::int64_t good_first = inner_first;
        std::int64_t good_last = inner_last;
        const auto take = [&] {
            result.add(good_first, good_last, false);
            inner_first = good_first;
            inner_last = good_last;
        };
        for (const std::int64_t a : forward_) {
            if (a >= inner_first) continue;
            if (a <= outer_first) break;
            const std::int64_t death = newest_death_[static_cast<std::size_t>(a)];
            if (death < inner_last || death >= outer_last) continue;  // nothing of it is freed in between
            const std::int64_t b = *std::lower_bound(backward_.begin(), backward_.end(), death);
            if (b <= good_last || b >= outer_last) continue;
            const bool have = good_first < inner_first;
            if (have && size(a, b) > most) take();
            good_first = a;
            good_last = b;
            if (size(a, b) > most) take();  // it cannot be any smaller
        }
        if (good_first < inner_first && size(std::max<std::int64_t>(outer_first, 0), outer_last) > most)
            take();
    }

    std::vector<std::int64_t> forward_;   // descending, then -1
    std::vector<std::int64_t> backward_;  // ascending, then the number of steps
    std::int64_t steps_;
    std::vector<std::int64_t> oldest_freed_;  // by step: birth of the oldest item whose last use it is
    std::vector<std::int64_t> newest_death_;  // by step: latest last use of the items born at it
    std::int64_t low_ = 0, high_ = 0;         // the steps that have been looked at
    std::int64_t oldest_ = 0, newest_ = 0;    // over those
};
using tree_cutter = basic_tree_cutter<>;

/// The nodes for the pieces between nested boundaries.
template <class = void>
[[nodiscard]] subgraph_tree nodes_of(const nested_cuts& cuts, std::int64_t turn, std::int64_t steps) {
    subgraph_tree tree;
    tree.turn = turn;
    tree.nodes.push_back({.forward = {0, turn}, .backward = {turn, steps}});
    const auto piece = [&](subgraph_level level, std::size_t parent, std::size_t inner, std::size_t outer) {
        // Boundaries inner - 1 (or the turn) and outer.
        const std::int64_t from = inner == 0 ? turn : cuts.first[inner - 1];
        const std::int64_t to = inner == 0 ? turn : cuts.last[inner - 1];
        const std::size_t number = tree.nodes.size();
        tree.nodes.push_back(
            {.level = level,
             .parent = parent,
             .forward = {std::max<std::int64_t>(cuts.first[outer], 0), std::max<std::int64_t>(from, 0)},
             .backward = {to, cuts.last[outer]}});
        tree.nodes[parent].children.push_back(number);
        return number;
    };
    for (std::size_t begin = 0, end = 0; begin < cuts.first.size(); begin = end + 1) {
        end = begin;
        while (!cuts.closed[end])
            ++end;
        const std::size_t whole = piece(subgraph_level::independent, 0, begin, end);
        if (begin == end) {
            tree.leaves.push_back(whole);
            continue;
        }
        for (std::size_t k = begin; k <= end; ++k)
            tree.leaves.push_back(piece(subgraph_level::dependent, whole, k, k));
    }
    return tree;
}

}  // namespace detail

/// Takes an order apart by algorithm 1. `schedule` is what the order was made from, `items` its layout
/// problem. A program without a backward pass is cut from its end to its start. O(operators + items * log
/// pieces). Throws program_error if `order` is no permutation.
template <class = void>
[[nodiscard]] subgraph_tree make_subgraph_tree(const tensor_graph& graph, const update_schedule& schedule,
                                               std::span<const operator_index> order,
                                               const layout::order_layout& items,
                                               const tree_options& options = {}) {
    const std::vector<std::uint32_t> step = steps_of(graph, order);
    std::vector<std::int64_t> forward;
    std::vector<std::int64_t> backward;
    for (const operator_index op : schedule.boundaries) {
        (schedule.stages[op] == stage::forward ? forward : backward).push_back(std::int64_t{step[op]});
    }
    std::sort(forward.rbegin(), forward.rend());
    std::sort(backward.begin(), backward.end());
    if (!backward.empty()) std::erase_if(forward, [&](std::int64_t t) { return t >= backward.front(); });
    const auto steps = static_cast<std::int64_t>(order.size());
    detail::tree_cutter cutter(items, order.size(), std::move(forward), std::move(backward));
    const detail::nested_cuts cuts = cutter.cut(std::max<std::size_t>(options.node_limit, 1));
    subgraph_tree tree = detail::nodes_of(cuts, cutter.turn(), steps);
    for (std::uint32_t i = 0; i < items.problem.buffers.size(); ++i) {
        const layout::buffer& item = items.problem.buffers[i];
        if (!item.takes_part()) continue;
        const std::int64_t death = item.upper - 1;
        const std::size_t born = cuts.of_birth(item.lower, tree.turn);
        const std::size_t freed = item.lower == death ? born : cuts.of_death(death, tree.turn);
        const bool activation = item.lower < tree.turn && death >= tree.turn;
        const bool given = !items.is_workspace(i) && graph.kind(i) == buffer_kind::donated;
        const bool where_freed = given || (options.assign_shared && item.lower < tree.turn);
        const sharing shared = born == freed ? sharing::cifi : where_freed ? sharing::cofi : sharing::cifo;
        tree.nodes[tree.leaves[where_freed ? freed : born]].items.push_back({i, shared, activation});
    }
    return tree;
}

}  // namespace stowage::roam
