#pragma once
// Places tensors anew among others that stay where they are: first fit, largest first, over and over; what
// ends above the load comes earlier the next time. Source: conflict-driven keys (layout/conflict_keys.hpp),
// here with pins.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/fit_engine.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::roam::detail {

/// Offsets of a problem and the arena that they make.
struct placement {
    layout::offset_list offsets = {};  ///< one a buffer
    std::int64_t arena = std::numeric_limits<std::int64_t>::max();
};

/// The best of so many rounds of first fit among pins; stops at `load`. Each round O(n log n) and what first
/// fit takes. Deterministic for one seed.
template <class = void>
[[nodiscard]] placement place_among_pins(const layout::problem& problem, std::int64_t load,
                                         std::size_t rounds, budget& account, std::uint64_t seed) {
    const layout::detail::sections compact = layout::detail::make_sections(problem);
    const std::size_t count = compact.items.size();
    std::vector<double> key(count);
    for (std::size_t i = 0; i < count; ++i)
        key[i] = static_cast<double>(compact.items[i].size);
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    stowage::detail::splitmix64 random(seed);
    budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
    placement best;
    for (std::size_t round = 0; round < rounds; ++round) {
        if (round > 0 && !account.spend(1 + count)) break;
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            if (key[a] != key[b]) return key[a] > key[b];
            return compact.items[a].duration > compact.items[b].duration;
        });
        const std::vector<std::int64_t> offsets =
            layout::detail::place_in_order(problem, compact, order, layout::detail::fit::first,
                                           std::numeric_limits<std::int64_t>::max(), unlimited);
        if (offsets.size() != count) throw overflow_error("first fit: an offset passes 2^63 - 1");
        layout::offset_list by_buffer = layout::detail::offsets_by_buffer(problem, compact, offsets);
        const std::int64_t arena = layout::arena_of(problem, by_buffer);
        if (arena < best.arena) best = {std::move(by_buffer), arena};
        if (best.arena <= load) break;
        for (std::size_t i = 0; i < count; ++i) {
            if (compact.items[i].pinned() || offsets[i] + compact.items[i].size <= load) continue;
            key[i] *= 1.0 + random.uniform();
        }
    }
    return best;
}

}  // namespace stowage::roam::detail
