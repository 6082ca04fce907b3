#pragma once
// The decision problem "within this capacity?" of a plain problem (no pins, no gaps, one common alignment) in
// the units that the searches count in. With alignment A every offset is a multiple of A, so sizes are
// rounded up to units of A; a capacity that is no multiple of A leaves a last, partial unit that only blocks
// with enough padding may use: the others get a headroom of one unit. So nothing is lost by rounding, not
// even the padding of the topmost buffer.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// A buffer as the search sees it: the sections [first, last) that it spans, first < last, its size > 0 in
/// units, and the units (0 or 1) that its top must stay below the capacity.
struct block {
    std::int32_t first = 0;
    std::int32_t last = 0;
    std::int64_t size = 0;
    std::int64_t headroom = 0;
};

/// Blocks in sections, all of them alive somewhere; offsets times `unit` are bytes.
struct strip {
    std::vector<block> blocks;
    std::int32_t sections = 0;
    std::int64_t capacity = 0;  ///< in units
    std::int64_t unit = 1;      ///< bytes
};

/// The strip of a plain problem at `capacity` bytes; block i is item i. O(n). A capacity below 0 is nobody's.
template <class = void>
[[nodiscard]] strip make_strip(const sections& compact, std::int64_t capacity) {
    strip result;
    result.sections = compact.count();
    result.unit = compact.alignment;
    if (result.unit == 1) {
        std::int64_t divisor = 0;
        for (const item& entry : compact.items)
            divisor = std::gcd(divisor, entry.size);
        result.unit = divisor == 0 ? 1 : divisor;
    }
    const std::int64_t unit = result.unit;
    const std::int64_t rest = compact.alignment == 1 ? 0 : capacity % unit;
    result.capacity = capacity / unit + (rest > 0 ? 1 : 0);
    result.blocks.reserve(compact.items.size());
    for (const item& entry : compact.items) {
        const std::int64_t partial = entry.size % unit;
        const bool fits_last = rest == 0 || (partial != 0 && partial <= rest);
        result.blocks.push_back({entry.range.first, entry.range.last,
                                 entry.size / unit + (partial != 0 ? 1 : 0), fits_last ? 0 : 1});
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
[[nodiscard]] strip restrict_to(const strip& whole, std::span<const std::int32_t> chosen,
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
    for (std::size_t i = 0; i < whole.blocks.size(); ++i) {
        block b = whole.blocks[i];
        b.first = before[static_cast<std::size_t>(b.first)];
        b.last = before[static_cast<std::size_t>(b.last)];
        if (b.first >= b.last) continue;
        part.blocks.push_back(b);
        origin.push_back(static_cast<std::int32_t>(i));
    }
    renumber_sections(part.blocks, part.sections);
    return part;
}

/// True if a strip says all that there is to say of the problem.
template <class = void>
[[nodiscard]] bool is_strip(const problem& problem, const sections& compact) noexcept {
    return compact.plain() && problem.capacities.size() <= 1;
}

/// Entries that per-section lists of all items take.
template <class = void>
[[nodiscard]] std::uint64_t total_width(const sections& compact) noexcept {
    std::uint64_t sum = 0;
    for (const item& entry : compact.items)
        sum += static_cast<std::uint64_t>(entry.width());
    return sum;
}

/// Durations of the items, for keys.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> durations_of(const sections& compact) {
    std::vector<std::int64_t> result;
    result.reserve(compact.items.size());
    for (const item& entry : compact.items)
        result.push_back(entry.duration);
    return result;
}

/// Offsets by buffer in bytes from those of a strip's blocks. O(n).
template <class = void>
[[nodiscard]] std::vector<std::int64_t> offsets_in_bytes(const problem& problem, const sections& compact,
                                                         const strip& whole,
                                                         std::span<const std::int64_t> by_block) {
    std::vector<std::int64_t> by_item(by_block.begin(), by_block.end());
    for (std::int64_t& offset : by_item)
        offset *= whole.unit;
    return offsets_by_buffer(problem, compact, by_item);
}

/// The least arena above `arena` that a layout can have. In a pushed-down layout every offset is a sum of
/// (rounded) sizes, so a multiple of the greatest common divisor of sizes and alignment. O(n).
template <class = void>
[[nodiscard]] std::int64_t next_arena(const sections& compact, std::int64_t arena) {
    std::int64_t divisor = compact.alignment == 1 ? 0 : compact.alignment;
    for (const item& entry : compact.items)
        divisor = std::gcd(divisor, entry.size);
    if (divisor == 0) divisor = 1;
    return stowage::detail::checked_add(arena - arena % divisor, divisor, "arena");
}

}  // namespace stowage::layout::detail
