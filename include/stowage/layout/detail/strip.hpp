#pragma once
// The decision problem "within this capacity?" in the units that the searches count in. Where A divides all
// alignments every offset is a multiple of A, so sizes are rounded up to units of A; a capacity that is no
// multiple of A leaves a last, partial unit that only blocks with enough padding may use: the others get a
// headroom of one unit. So nothing is lost by rounding, not even the padding of the topmost buffer. A buffer
// with gaps is a block a piece, and all of them lie at one offset.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// A buffer, or a piece of one, as the search sees it.
struct block {
    std::int32_t first = 0;      ///< it spans the sections [first, last), first < last
    std::int32_t last = 0;       ///< see there
    std::int64_t size = 0;       ///< in units, > 0
    std::int64_t headroom = 0;   ///< units (0 or 1) that its top must stay below the capacity
    std::int64_t alignment = 1;  ///< its offset is a multiple of so many units
    std::int64_t pin = -1;       ///< pinned at this offset, in units, or -1
    std::int32_t other = -1;     ///< another piece of the same buffer, in a ring, or -1
    [[nodiscard]] bool pinned() const noexcept { return pin >= 0; }
    /// The least offset from `height` on that its alignment allows; 2^63 - 1 if there is none.
    [[nodiscard]] std::int64_t aligned(std::int64_t height) const noexcept {
        if (alignment == 1 || height % alignment == 0) return height;
        const std::int64_t more = alignment - height % alignment;
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        return height > most - more ? most : height + more;
    }
    /// True if only its range and its size matter.
    [[nodiscard]] bool plain() const noexcept { return alignment == 1 && pin < 0 && other < 0; }
};

/// Blocks in sections, all of them alive somewhere; offsets times `unit` are bytes.
struct strip {
    std::vector<block> blocks;
    std::int32_t sections = 0;
    std::int64_t capacity = 0;  ///< in units
    std::int64_t unit = 1;      ///< bytes
};

/// The greatest common divisor of `base`, sizes, pins and alignments; 1 if all are 0. O(n).
template <class = void>
[[nodiscard]] std::int64_t common_divisor(const sections& compact, std::int64_t base = 0) {
    for (const item& entry : compact.items) {
        base = std::gcd(base, entry.size);
        if (entry.pinned()) base = std::gcd(base, entry.pin);
        if (entry.alignment > 1) base = std::gcd(base, entry.alignment);
    }
    return base == 0 ? 1 : base;
}

/// The strip of a problem in one pool at `capacity` bytes; block i is item i, the pieces after the first of
/// each item come behind all items. Where `apart` is set, each piece may lie at an offset of its own: a
/// relaxation. O(n). A capacity below 0 is nobody's.
template <class = void>
[[nodiscard]] strip make_strip(const sections& compact, std::int64_t capacity, bool apart = false) {
    strip result;
    result.sections = compact.count();
    result.unit = compact.alignment;
    if (result.unit == 1) {
        result.unit = common_divisor(compact);
    }
    const std::int64_t unit = result.unit;
    const std::int64_t rest = compact.alignment == 1 ? 0 : capacity % unit;
    result.capacity = capacity / unit + (rest > 0 ? 1 : 0);
    result.blocks.reserve(compact.items.size());
    for (const item& entry : compact.items) {
        const std::int64_t partial = entry.size % unit;
        const bool fits_last = rest == 0 || (partial != 0 && partial <= rest);
        block b{.first = entry.range.first,
                .last = entry.range.last,
                .size = entry.size / unit + (partial != 0 ? 1 : 0),
                .headroom = fits_last ? 0 : 1};
        b.alignment = std::max<std::int64_t>(1, entry.alignment / unit);
        if (entry.pinned()) b.pin = entry.pin / unit;
        result.blocks.push_back(b);
    }
    for (std::size_t i = 0; compact.gapped && i < compact.items.size(); ++i) {
        std::size_t last = i;
        for (const section_range& piece : compact.pieces_of(i)) {
            const bool first = &piece == &compact.pieces_of(i).front();
            const std::size_t at = first ? i : result.blocks.size();
            if (!first) result.blocks.push_back(result.blocks[i]);
            result.blocks[at].first = piece.first;
            result.blocks[at].last = piece.last;
            if (at != i && !apart && !result.blocks[i].pinned()) {
                result.blocks[last].other = static_cast<std::int32_t>(at);
                result.blocks[at].other = static_cast<std::int32_t>(i);
                last = at;
            }
        }
    }
    return result;
}

/// Numbers sections anew so that each is a maximal set of blocks alive together: drops those that lie in
/// another. O(blocks + sections).
template <class = void>
void renumber_sections(std::vector<block>& blocks, std::int32_t& sections) {
    const auto at = [](std::int32_t s) { return static_cast<std::size_t>(s); };
    std::vector<char> born(at(sections) + 1, 0);
    std::vector<char> died(at(sections) + 1, 0);
    for (const block& b : blocks) {
        born[at(b.first)] = 1;
        died[at(b.last)] = 1;
    }
    // A section starts at a birth that follows a death; births before that join the section that is open.
    std::vector<std::int32_t> number(at(sections) + 1, 0);
    std::int32_t current = -1;
    bool dead = true;
    for (std::int32_t s = 0; s <= sections; ++s) {
        dead = dead || died[at(s)] != 0;
        if (s < sections && born[at(s)] != 0 && dead) {
            ++current;
            dead = false;
        }
        number[at(s)] = current;
    }
    for (block& b : blocks) {
        b.first = number[at(b.first)];
        b.last = number[at(b.last - 1)] + 1;
    }
    sections = current + 1;
}

/// The strip seen through some of its sections (ascending) alone: a relaxation, so "infeasible" here is
/// "infeasible" there. `origin` is set to the blocks kept, by their index in `whole`. O(blocks + sections).
template <class = void>
[[nodiscard]] strip restrict_to(const strip& whole, const std::vector<std::int32_t>& chosen,
                                std::vector<std::int32_t>& origin) {
    strip part;
    part.capacity = whole.capacity;
    part.unit = whole.unit;
    part.sections = static_cast<std::int32_t>(chosen.size());
    std::vector<std::int32_t> before(static_cast<std::size_t>(whole.sections) + 1, 0);
    for (const std::int32_t s : chosen)
        before[static_cast<std::size_t>(s) + 1] = 1;
    for (std::size_t s = 1; s < before.size(); ++s)
        before[s] += before[s - 1];
    origin.clear();
    std::vector<std::int32_t> kept;  // places of the pieces of buffers with gaps, by block of the whole
    for (std::size_t i = 0; i < whole.blocks.size(); ++i) {
        block b = whole.blocks[i];
        b.first = before[static_cast<std::size_t>(b.first)];
        b.last = before[static_cast<std::size_t>(b.last)];
        if (b.first >= b.last) continue;
        if (b.other >= 0) {
            kept.resize(whole.blocks.size(), -1);
            kept[i] = static_cast<std::int32_t>(part.blocks.size());
        }
        part.blocks.push_back(b);
        origin.push_back(static_cast<std::int32_t>(i));
    }
    for (std::size_t k = 0; !kept.empty() && k < part.blocks.size(); ++k) {
        if (part.blocks[k].other < 0) continue;
        const std::int32_t self = origin[k];
        std::int32_t next = part.blocks[k].other;
        while (next != self && kept[static_cast<std::size_t>(next)] < 0)
            next = whole.blocks[static_cast<std::size_t>(next)].other;
        part.blocks[k].other = next == self ? -1 : kept[static_cast<std::size_t>(next)];
    }
    renumber_sections(part.blocks, part.sections);
    return part;
}

/// Entries that per-section lists of all items take.
template <class = void>
[[nodiscard]] std::uint64_t total_width(const sections& compact) noexcept {
    std::uint64_t sum = 0;
    for (const item& entry : compact.items)
        sum += static_cast<std::uint64_t>(entry.width());
    return sum;
}

/// Durations of the blocks, for keys: those of their items.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> durations_of(const sections& compact) {
    std::vector<std::int64_t> result;
    result.reserve(compact.items.size() + compact.pieces.size());
    for (const item& entry : compact.items)
        result.push_back(entry.duration);
    for (std::size_t i = 0; compact.gapped && i < compact.items.size(); ++i)
        result.insert(result.end(), compact.pieces_of(i).size() - 1, compact.items[i].duration);
    return result;
}

/// Offsets by buffer in bytes from those of a strip's blocks. O(n).
template <class = void>
[[nodiscard]] std::vector<std::int64_t> offsets_in_bytes(const problem& problem, const sections& compact,
                                                         const strip& whole,
                                                         std::span<const std::int64_t> by_block) {
    by_block = by_block.first(compact.items.size());
    std::vector<std::int64_t> by_item(by_block.begin(), by_block.end());
    for (std::int64_t& offset : by_item)
        offset *= whole.unit;
    return offsets_by_buffer(problem, compact, by_item);
}

/// The least arena above `arena` that a layout can have. In a pushed-down layout every offset is a pin or a
/// multiple of an alignment plus a sum of (rounded) sizes, so a multiple of the greatest common divisor of
/// all these. O(n).
template <class = void>
[[nodiscard]] std::int64_t next_arena(const sections& compact, std::int64_t arena) {
    const std::int64_t divisor = common_divisor(compact, compact.alignment == 1 ? 0 : compact.alignment);
    return stowage::detail::checked_add(arena - arena % divisor, divisor, "arena");
}

}  // namespace stowage::layout::detail
