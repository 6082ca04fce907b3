#pragma once
// From a subgraph tree to a layout: every leaf is a layout problem of its own, several are solved at once,
// and the layouts are concatenated. Inside a leaf the activations are packed at the lowest offsets (ROAM,
// equation 8), so that the leaves inside it, which are gone before it is, stand on them: a leaf's base is the
// sum of the activations of all leaves around it (equation 9). Where tensors of two leaves collide, the
// larger, longer-lived one stays and the other is placed anew, all else being fixed. Source: ROAM,
// "constraints for single memory layouts and concatenating operation", figures 5 and 9.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/roam/by_segments.hpp>
#include <stowage/roam/detail/collisions.hpp>
#include <stowage/roam/detail/parallel.hpp>
#include <stowage/roam/detail/repair.hpp>
#include <stowage/roam/subgraph_tree.hpp>
#include <stowage/status.hpp>

namespace stowage::roam {

/// Options of the concatenation; switched off, each shows what it is good for.
struct concatenation_options {
    bool activations_low = true;  ///< pack the activations of a leaf at its lowest offsets
    /// Place colliding small tensors anew. False: a leaf is lifted as a whole until it collides with nothing.
    bool repair = true;
    /// Where the arena is above the load, so many times more temporary tensors, the smallest first, are let
    /// go and placed anew; in the last round all are. 0: only what collides moves, as in the paper.
    std::size_t repair_rounds = 8;
};

/// How one leaf was laid out.
struct leaf_report {
    std::size_t node = 0;                       ///< of the tree
    std::size_t operators = 0;                  ///< in the leaf
    std::size_t buffers = 0;                    ///< tensors and workspaces that it lays out
    std::int64_t bytes = 0;                     ///< their sum
    std::int64_t base = 0;                      ///< where its layout stands in the whole
    std::int64_t activation_bytes = 0;          ///< packed at its bottom
    std::int64_t arena = 0;                     ///< height of its layout
    std::int64_t lower_bound = 0;               ///< proven: with its activations packed so, it is not less
    std::string found_by = {};                  ///< policy that found the layout
    stowage::status status = status::feasible;  ///< optimal if arena == lower_bound
    double seconds = 0;                         ///< wall-clock time
};

/// A layout made of leaves.
struct tree_layout {
    layout::offset_list offsets = {};      ///< one an item of the layout problem
    std::int64_t arena = 0;                ///< largest offset + size
    std::size_t moved = 0;                 ///< items that collided and were placed anew
    std::int64_t moved_bytes = 0;          ///< their sum
    std::vector<leaf_report> leaves = {};  ///< inside out, as in the tree
};

namespace detail {

/// First fits that repair tries in a round.
inline constexpr std::size_t placements_a_round = 60;

/// A leaf's layout before it has a base.
struct laid_out_leaf {
    layout::offset_list offsets;  // one an item of the leaf; relative
    std::int64_t step = 1;        // a base that is a multiple of this keeps every alignment
    std::int64_t floor = 0;       // what stands on the leaf stands above this
};

/// The least common multiple of the alignments, held at the largest of them where it passes 2^40.
template <class = void>
[[nodiscard]] std::int64_t common_step(const layout::problem& problem) {
    std::int64_t step = problem.alignment;
    for (const layout::buffer& item : problem.buffers) {
        const std::int64_t shared = std::gcd(step, item.alignment);
        const std::int64_t next = stowage::detail::saturating_multiply(step / shared, item.alignment);
        if (next <= (std::int64_t{1} << 40U)) step = next;
    }
    return step;
}

/// The items of a leaf as a problem; those that the user has pinned are left out, as empty lifetimes.
template <class = void>
[[nodiscard]] layout::problem problem_of_leaf(const layout::order_layout& whole, const subgraph& leaf) {
    layout::problem result;
    result.alignment = whole.problem.alignment;
    for (const leaf_item& entry : leaf.items) {
        layout::buffer item = whole.problem.buffers[entry.item];
        if (item.offset) item.upper = item.lower;
        item.offset.reset();
        result.buffers.push_back(std::move(item));
    }
    return result;
}

/// Pins the activations one on the other, the last to die lowest; gives their height.
template <class = void>
std::int64_t pack_activations(layout::problem& problem, const subgraph& leaf) {
    std::vector<std::size_t> packed;
    for (std::size_t k = 0; k < leaf.items.size(); ++k) {
        if (leaf.items[k].activation && problem.buffers[k].takes_part()) packed.push_back(k);
    }
    std::sort(packed.begin(), packed.end(), [&](std::size_t a, std::size_t b) {
        const layout::buffer& x = problem.buffers[a];
        const layout::buffer& y = problem.buffers[b];
        if (x.upper != y.upper) return x.upper > y.upper;
        return x.lower != y.lower ? x.lower < y.lower : a < b;
    });
    std::int64_t top = 0;
    for (const std::size_t k : packed) {
        layout::buffer& item = problem.buffers[k];
        const std::int64_t aligned = stowage::detail::align_up(top, problem.alignment);
        std::int64_t at = stowage::detail::align_up(aligned, item.alignment);
        while (at % problem.alignment != 0)
            at = stowage::detail::align_up(at + 1, item.alignment);
        item.offset = at;
        top = stowage::detail::checked_add(at, item.size, "packed activations");
    }
    return top;
}

template <layout::layout_policy Policy>
[[nodiscard]] laid_out_leaf lay_out_leaf(const layout::order_layout& whole, const subgraph& leaf,
                                         const Policy& policy, bool activations_low, budget& account,
                                         std::uint64_t seed, leaf_report& report) {
    const auto start = budget::clock::now();
    layout::problem problem = problem_of_leaf(whole, leaf);
    laid_out_leaf result;
    result.step = common_step(problem);
    for (std::size_t k = 0; k < leaf.items.size(); ++k) {
        const layout::buffer& item = problem.buffers[k];
        if (!item.takes_part()) continue;
        ++report.buffers;
        report.bytes += item.size;
        report.activation_bytes += leaf.items[k].activation ? item.size : 0;
    }
    if (activations_low) result.floor = pack_activations(problem, leaf);
    layout::solution found = layout::plan(problem, policy, account, seed);
    if (!activations_low) {
        for (std::size_t k = 0; k < leaf.items.size(); ++k) {
            const layout::buffer& item = problem.buffers[k];
            if (leaf.items[k].activation && item.takes_part())
                result.floor = std::max(result.floor, found.offsets[k] + item.size);
        }
    }
    result.offsets = std::move(found.offsets);
    report.operators = leaf.operators();
    report.arena = found.arena;
    report.lower_bound = found.lower_bound;
    report.found_by = std::move(found.found_by);
    report.status = found.status;
    report.seconds = std::chrono::duration<double>(budget::clock::now() - start).count();
    return result;
}

/// Places anew what collides; where that leaves the arena above the load, more temporary tensors, the
/// smallest first, until it does not or all of them have been tried. Activations and pins never move. The
/// best layout is kept.
template <class = void>
void repair(const fixed_places& placed, const subgraph_tree& tree, const layout::problem& problem,
            std::vector<std::uint32_t> moving, std::size_t rounds, std::int64_t load, budget& account,
            std::uint64_t seed, tree_layout& result) {
    std::vector<std::uint32_t> temporary;
    for (const std::size_t leaf : tree.leaves) {
        for (const leaf_item& entry : tree.nodes[leaf].items) {
            if (!entry.activation && !problem.buffers[entry.item].offset) temporary.push_back(entry.item);
        }
    }
    std::sort(temporary.begin(), temporary.end(), [&](std::uint32_t a, std::uint32_t b) {
        const std::int64_t x = problem.buffers[a].size;
        const std::int64_t y = problem.buffers[b].size;
        return x != y ? x < y : a < b;
    });
    const std::vector<std::uint32_t> colliding = moving;
    for (std::size_t round = 0; round == 0 || (round <= rounds && result.arena > load); ++round) {
        if (round > 0) {
            const std::size_t more = temporary.size() * round / rounds;
            moving = colliding;
            moving.insert(moving.end(), temporary.begin(),
                          temporary.begin() + static_cast<std::ptrdiff_t>(more));
            std::sort(moving.begin(), moving.end());
            moving.erase(std::unique(moving.begin(), moving.end()), moving.end());
        }
        placement found = place_among_pins(placed.fixed_but(moving), load, placements_a_round, account, seed);
        if (round > 0 && found.arena >= result.arena) continue;
        result.offsets = std::move(found.offsets);
        result.arena = found.arena;
        result.moved = moving.size();
        result.moved_bytes = 0;
        for (const std::uint32_t item : moving)
            result.moved_bytes += problem.buffers[item].size;
    }
}

}  // namespace detail

/// Lays out the items of `tree` leaf by leaf with `policy`, on at most `threads` threads, and concatenates.
/// Pinned items keep their places. Each leaf has a share of the account in proportion to its items (at least
/// 100 units), so the layout does not depend on the number of threads, unless a clock ends it. Throws
/// layout_error if the policy's layout is wrong or two pins are in conflict, overflow_error where an offset
/// passes 2^63 - 1. O(n log n) beside what the policy takes.
template <layout::layout_policy Policy>
[[nodiscard]] tree_layout lay_out_tree(const subgraph_tree& tree, const layout::order_layout& items,
                                       const Policy& policy, budget& account,
                                       const concatenation_options& options = {}, std::uint64_t seed = 1,
                                       unsigned threads = 1, const segments_done& on_done = {}) {
    const std::size_t count = tree.leaves.size();
    tree_layout result;
    result.leaves.resize(count);
    std::vector<detail::laid_out_leaf> parts(count);
    std::vector<std::uint64_t> spent(count, 0);
    const std::uint64_t left =
        account.timed() ? account.left() : account.left() / 2;  // the rest is for repair
    const std::uint64_t whole = std::max<std::uint64_t>(items.item_count(), 1);
    const auto work = [&](std::size_t k) {
        const subgraph& leaf = tree.nodes[tree.leaves[k]];
        const std::uint64_t size = leaf.items.size();
        const std::uint64_t share =
            account.timed() ? left
                            : std::max<std::uint64_t>(100, left / whole * size + left % whole * size / whole);
        budget own = account.slice(share);
        result.leaves[k].node = tree.leaves[k];
        parts[k] =
            detail::lay_out_leaf(items, leaf, policy, options.activations_low, own, seed, result.leaves[k]);
        spent[k] = own.spent();
    };
    detail::for_each_item(count, threads, work, [&](std::size_t done) {
        if (on_done) on_done(done, count);
    });
    for (const std::uint64_t units : spent)
        account.spend(units);

    // Outside in: each leaf stands on the activations of those around it.
    detail::fixed_places placed(items.problem);
    std::int64_t floor = 0;
    for (std::size_t k = count; k-- > 0;) {
        const detail::laid_out_leaf& part = parts[k];
        std::int64_t base = stowage::detail::align_up(floor, part.step);
        const subgraph& leaf = tree.nodes[tree.leaves[k]];
        if (!options.repair) base = placed.lift(leaf, part.offsets, base, part.step);
        result.leaves[k].base = base;
        placed.add(leaf, part.offsets, base);
        floor = stowage::detail::checked_add(base, part.floor, "base of a leaf");
    }
    const std::vector<std::uint32_t> colliding = placed.colliding(tree);
    const std::int64_t load = layout::load_bound(items.problem).bytes;
    detail::repair(placed, tree, items.problem, colliding, options.repair_rounds, load, account, seed,
                   result);
    return result;
}

}  // namespace stowage::roam
