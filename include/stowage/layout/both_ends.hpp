#pragma once
// First fit by birth from both ends of an arena of the proven least size. Where lifetimes follow one another
// like the links of a chain, each buffer must leave room for the one after next: packed from one end, a large
// one finds the room below its small predecessor too small and goes on top. Taking turns at the two ends they
// all fit.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/two_ended_fit.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

namespace detail {

/// The largest number of items alive in one section. O(items + sections).
template <class = void>
[[nodiscard]] std::int64_t most_alive(const sections& compact) {
    std::vector<std::int64_t> born(static_cast<std::size_t>(compact.count()) + 1);
    for (const item& i : compact.items) {
        ++born[static_cast<std::size_t>(i.range.first)];
        --born[static_cast<std::size_t>(i.range.last)];
    }
    std::int64_t alive = 0;
    std::int64_t most = 0;
    for (const std::int64_t change : born) {
        alive += change;
        most = std::max(most, alive);
    }
    return most;
}

}  // namespace detail

/// Places the buffers as they are born: at the lowest or at the highest place of the arena where there is
/// room, beside the neighbour that is freed last (the arena's end never is), so that what is free stays in
/// one piece. Aims at the context's lower bound, or at the load without one; with a context::target it then
/// tries arenas a quarter and half of the way there, but none above one and a half times that. If no more
/// than two unaligned buffers are ever alive together it reaches the load: the one that is alive lies at an
/// end, and what is left is one piece that is large enough. Honours alignments; with pins or gaps, and where
/// it finds no room, it returns an empty list. O(n log n) time, O(n) memory. Reentrant.
struct both_ends {
    std::int64_t most_alive =
        8;  ///< it looks at problems in which no more buffers than these are ever alive together

    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        if (compact.pinned || compact.gapped || compact.items.empty()) return {};
        if (detail::most_alive(compact) > most_alive) return {};
        const std::int64_t least = std::max(context.lower_bound, compact.max_load());
        const bool aimed = context.target != std::numeric_limits<std::int64_t>::max();
        // A target may be a capacity without end: what is placed at that end would take all of it.
        const std::int64_t room = std::min(context.target - least, least);
        detail::two_ended_fit fit(problem, compact);
        for (const int quarters : {0, 1, 2}) {
            if (quarters > 0 && !aimed) break;
            const std::int64_t capacity = least + room / 4 * quarters;
            if (detail::reaches(capacity, context.target)) break;
            const auto offsets = fit.run(capacity, context.account);
            if (!offsets.empty()) return detail::offsets_by_buffer(problem, compact, offsets);
            if (context.account.exhausted()) break;
        }
        return {};
    }
    [[nodiscard]] std::string name() const { return "both ends"; }
};

static_assert(searching_layout_policy<both_ends>);
static_assert(!simple_layout_policy<both_ends>, "without a context it does not know the bound");

}  // namespace stowage::layout
