#pragma once
// Layouts whose topmost buffers are those that rounding raises most (roam/granule.hpp): an arena of R - q, R
// a multiple of the granule G, needs a buffer of at most G - q bytes on top at every moment at which rounded
// sizes fill R. Such buffers are set apart, what is left is laid out below R - G, which is a problem without
// padding, and they share one shelf on top of it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/roam/arena_bound.hpp>
#include <stowage/status.hpp>

namespace stowage::roam {

/// Buffers for the top, in order of time, no two of them alive together: each of at most `most` bytes, and
/// one alive at every moment at which rounded sizes take more than `below`. None where they cannot be had (or
/// none is needed), with pins, gaps or mixed alignments. Greedy: the one that lives longest. O(n log n).
template <class = void>
[[nodiscard]] std::vector<std::size_t> top_shelf(const layout::problem& problem, std::int64_t below,
                                                 std::int64_t most) {
    const layout::detail::sections compact = layout::detail::make_sections(problem);
    std::vector<std::size_t> chosen;
    if (!compact.plain() || problem.capacities.size() > 1) return chosen;
    std::vector<std::int64_t> change(compact.load.size() + 1, 0);
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < compact.items.size(); ++i) {
        const layout::detail::item& entry = compact.items[i];
        const std::int64_t rounded = entry.size + layout::detail::pad_of(entry.size, compact.alignment);
        change[static_cast<std::size_t>(entry.range.first)] += rounded;
        change[static_cast<std::size_t>(entry.range.last)] -= rounded;
        if (entry.size <= most) candidates.push_back(i);
    }
    std::stable_sort(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
        return compact.items[a].range.first < compact.items[b].range.first;
    });
    // Of each section: the first one from there on that needs a buffer on top.
    std::vector<std::int32_t> need(compact.load.size() + 1, compact.count());
    std::partial_sum(change.begin(), change.end(), change.begin());
    for (std::size_t s = compact.load.size(); s-- > 0;)
        need[s] = change[s] > below ? static_cast<std::int32_t>(s) : need[s + 1];
    const std::size_t none = compact.items.size();
    const auto better = [&](std::size_t a, std::size_t b) {
        const layout::detail::section_range x = compact.items[a].range;
        const layout::detail::section_range y = compact.items[b].range;
        const std::int32_t open_x = need[static_cast<std::size_t>(x.last)];
        const std::int32_t open_y = need[static_cast<std::size_t>(y.last)];
        return open_x != open_y ? open_x > open_y : x.last - x.first < y.last - y.first;
    };
    std::size_t next = 0;
    for (std::int32_t from = 0, s = need[0]; s < compact.count(); s = need[static_cast<std::size_t>(from)]) {
        std::size_t best = none;
        for (; next < candidates.size() && compact.items[candidates[next]].range.first <= s; ++next) {
            const layout::detail::section_range range = compact.items[candidates[next]].range;
            if (range.first < from || range.last <= s) continue;
            if (best == none || better(candidates[next], best)) best = candidates[next];
        }
        if (best == none) return {};
        chosen.push_back(compact.items[best].buffer);
        from = compact.items[best].range.last;
    }
    return chosen;
}

/// The shelf that the proven arena needs, and the arena below it; no buffers where it needs none or none can
/// be had. O(n log n).
struct shelf_plan {
    std::vector<std::size_t> buffers = {};  ///< in order of time
    std::int64_t below = 0;                 ///< what the rest is to fit into

    /// The problem without them.
    template <class = void>
    [[nodiscard]] layout::problem rest_of(layout::problem problem) const {
        for (const std::size_t b : buffers)
            problem.buffers[b].upper = problem.buffers[b].lower;
        return problem;
    }
    /// Puts them on top of the rest, which takes `arena` bytes.
    void put_on_top(std::int64_t arena, std::int64_t granule, std::vector<std::int64_t>& offsets) const {
        const std::int64_t top = arena + layout::detail::pad_of(arena, granule);
        for (const std::size_t b : buffers)
            offsets[b] = top;
    }
};

/// Plans it.
template <class = void>
[[nodiscard]] shelf_plan plan_shelf(const layout::problem& problem, const proven_arena& proven) {
    const arena_witness& witness = proven.witness;
    shelf_plan result{.below = witness.bytes - witness.granule};
    if (witness.granule == problem.alignment && witness.granule > 1 && witness.arena_bound() == proven.bytes)
        result.buffers = top_shelf(problem, result.below, proven.bytes - result.below);
    return result;
}

/// Lays out by `policy`: with a shelf on top, where the proven arena needs one and it can be had, for a
/// quarter of the account, but enough for a skyline or two; then, unless that met the bound, as it is. The
/// better one; errors as layout::plan.
template <layout::layout_policy Policy>
[[nodiscard]] layout::solution lay_out_to_bound(const layout::problem& problem, const Policy& policy,
                                                budget& account, std::uint64_t seed,
                                                const proven_arena& proven) {
    const shelf_plan shelf = plan_shelf(problem, proven);
    if (shelf.buffers.empty()) return layout::plan(problem, policy, account, seed, proven.bytes);
    budget part =
        account.slice(std::max<std::uint64_t>({account.left() / 4, 2 * problem.buffers.size(), 2'000}));
    layout::solution best = layout::plan(shelf.rest_of(problem), policy, part, seed, shelf.below);
    account.settle(part);
    shelf.put_on_top(best.arena, proven.witness.granule, best.offsets);
    best.arena = layout::arena_of(problem, best.offsets);
    if (best.arena > proven.bytes && !account.exhausted()) {
        layout::solution plain = layout::plan(problem, policy, account, seed, proven.bytes);
        if (plain.arena <= best.arena) return plain;
    }
    best.load = layout::load_bound(problem).bytes;
    best.lower_bound = std::max(best.load, proven.bytes);
    best.status = best.arena == best.lower_bound ? status::optimal : status::feasible;
    return best;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::vector<std::size_t> top_shelf(const layout::problem&, std::int64_t,
                                                              std::int64_t);
#endif

}  // namespace stowage::roam
