#pragma once
// Places buffers one by one, each where it is free during its whole lifetime: what first fit and best fit
// share, and what skylines fall back to where buffers are pinned or have gaps. Honours everything that a
// layout problem can ask for.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/error.hpp>
#include <stowage/layout/detail/address_tree.hpp>
#include <stowage/layout/detail/free_gaps.hpp>
#include <stowage/layout/detail/item_lives.hpp>
#include <stowage/layout/detail/ranking.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/placement_order.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// Which of the places that are large enough a buffer gets.
enum class fit : std::uint8_t {
    first,  ///< the lowest
    best,   ///< the smallest free stretch, the lowest of several
};

/// The items in an order of placement. O(n log n).
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> ordered_by(const problem& problem, const sections& compact,
                                                    placement_order order) {
    switch (order) {
        case placement_order::birth: break;
        case placement_order::duration: return ranked_by(compact, key::duration);
        case placement_order::size_duration: return ranked_by(compact, key::size_duration);
        case placement_order::load: return ranked_by(compact, key::load_size);
        case placement_order::size: {
            std::vector<key_value> values(compact.items.size());
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = {static_cast<double>(compact.items[i].size),
                             static_cast<double>(compact.items[i].duration), 0};
            }
            std::vector<std::uint32_t> ranked;
            rank(values, ranked);
            return ranked;
        }
    }
    std::vector<std::int64_t> times(compact.items.size());
    for (std::size_t i = 0; i < times.size(); ++i)
        times[i] = problem.buffers[compact.items[i].buffer].lower;
    return sorted_by_time(times);
}

/// Throws layout_error naming item `index` and a pinned item before it that it overlaps. O(n).
template <class = void>
[[noreturn]] void refuse_pin(const problem& problem, const sections& compact, std::size_t index) {
    const item& entry = compact.items[index];
    for (std::size_t other = 0; other < index; ++other) {
        const item& before = compact.items[other];
        if (!before.pinned() || before.pin >= entry.pin + entry.size || entry.pin >= before.pin + before.size)
            continue;
        for (const section_range& x : compact.pieces_of(index)) {
            for (const section_range& y : compact.pieces_of(other)) {
                if (x.first >= y.last || y.first >= x.last) continue;
                throw layout_error("both are pinned to the same bytes while they are alive together",
                                   problem.describe(before.buffer), problem.describe(entry.buffer));
            }
        }
    }
    throw layout_error("pinned to bytes that are in use", problem.describe(entry.buffer));
}

/// Places all items: the pinned ones, then the others in the given order; offsets by item, or an empty list
/// if the account is exhausted, the limit reached or 2^63 - 1 passed. Spends about a unit a microsecond. O(n
/// r log k) for questions that pass r runs of addresses. Throws layout_error if two pins are in conflict,
/// overflow_error if a pin ends past 2^63 - 1.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> place_in_order(const problem& problem, const sections& compact,
                                                       std::span<const std::uint32_t> order, fit fit,
                                                       std::int64_t limit, budget& account) {
    address_tree used(compact.count());
    std::vector<std::int64_t> offsets(compact.items.size(), -1);
    for (std::size_t i = 0; compact.pinned && i < compact.items.size(); ++i) {
        const item& entry = compact.items[i];
        if (!entry.pinned()) continue;
        const std::int64_t upper =
            stowage::detail::checked_add(entry.pin, entry.size, "end of a pinned buffer");
        if (!used.is_free(compact.pieces_of(i), entry.pin, upper)) refuse_pin(problem, compact, i);
        if (reaches(upper, limit)) return {};
        used.add(compact.pieces_of(i), entry.pin, upper);
        offsets[i] = entry.pin;
    }
    for (const std::uint32_t i : order) {
        const item& entry = compact.items[i];
        if (entry.pinned()) continue;
        const auto pieces = compact.pieces_of(i);
        const std::int64_t offset = fit == fit::best ? used.snuggest(pieces, entry.size, entry.alignment)
                                                     : used.lowest(pieces, entry.size, entry.alignment);
        if (offset < 0 || reaches(offset + entry.size, limit)) return {};
        used.add(pieces, offset, offset + entry.size);
        if (!account.spend(1 + used.take_steps() / 256)) return {};
        offsets[i] = offset;
    }
    return offsets;
}

/// First fit by birth where nothing is pinned and no lifetime has a gap: a sweep over time with the free gaps
/// in the order of their addresses, so that each buffer costs about O(log n + g / 64) for g gaps. The same
/// answer as place_in_order.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> place_by_birth(const problem& problem, const sections& compact,
                                                       std::int64_t limit, budget& account) {
    const item_lives lives = lives_of_items(problem, compact);
    free_gaps gaps;
    std::vector<std::int64_t> offsets(compact.items.size(), -1);
    std::size_t dead = 0;
    for (const std::uint32_t i : lives.births) {
        if (!account.spend()) return {};
        for (; lives.upper[lives.deaths[dead]] <= lives.lower[i]; ++dead) {
            const std::uint32_t j = lives.deaths[dead];
            gaps.give(offsets[j], offsets[j] + compact.items[j].size);
        }
        const std::int64_t offset = gaps.take(compact.items[i].size, compact.items[i].alignment);
        if (offset < 0 || reaches(offset + compact.items[i].size, limit)) return {};
        offsets[i] = offset;
    }
    return offsets;
}

/// place_in_order for a policy: offsets by buffer, within what the context allows.
template <class = void>
[[nodiscard]] offset_list fit_offsets(const problem& problem, const sections& compact,
                                      std::span<const std::uint32_t> order, fit fit, context& context) {
    const auto offsets = place_in_order(problem, compact, order, fit, context.target, context.account);
    if (offsets.size() != compact.items.size()) return {};
    return offsets_by_buffer(problem, compact, offsets);
}

}  // namespace stowage::layout::detail
