#pragma once
// The compact form that every layout engine works on. Time is cut into sections, which are exactly the
// maximal sets of buffers alive together: sort all births and deaths, deaths first at equal times; a section
// starts at a birth that follows a death. Two buffers meet at some moment if and only if they share a
// section, so times up to 2^63 become small integers. Zero sizes and empty lifetimes are left out, as they
// take part in nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// A half-open range of sections [first, last).
struct section_range {
    std::int32_t first = 0;  ///< first section inside
    std::int32_t last = 0;   ///< first section after
    friend bool operator==(const section_range&, const section_range&) = default;
};

/// One buffer that takes part.
struct item {
    std::int64_t size = 0;       ///< bytes, > 0
    std::int64_t duration = 0;   ///< upper - lower in the user's time, held at 2^63 - 1
    std::int64_t alignment = 1;  ///< its offset is a multiple of this: the problem's and its own together
    std::int64_t pin = -1;       ///< pinned offset, or -1
    section_range range;  ///< the sections in which it is alive; with gaps: from the first piece to the last
    std::uint32_t buffer = 0;  ///< its index in the problem
    /// Number of sections from its first to its last.
    [[nodiscard]] std::int32_t width() const noexcept { return range.last - range.first; }
    [[nodiscard]] bool pinned() const noexcept { return pin >= 0; }
};

/// A problem in compact form. Items keep the order of the problem's buffers.
struct sections {
    std::vector<item> items;         ///< the buffers that take part
    std::vector<std::int64_t> load;  ///< per section: the sum of the sizes alive in it
    std::vector<std::int64_t> time;  ///< per section: a moment at which exactly its buffers are alive
    std::vector<std::uint32_t>
        piece_of;  ///< with gaps: item i has pieces[piece_of[i]] to pieces[piece_of[i + 1]]
    std::vector<section_range> pieces;  ///< with gaps: ascending, not touching each other within one item
    std::int64_t alignment = 1;         ///< greatest common divisor of the items' alignments
    bool mixed_alignment = false;       ///< not all items have the same alignment
    bool pinned = false;                ///< some item is pinned
    bool gapped = false;                ///< some item has more than one piece (else `pieces` is empty)
    std::size_t buffers = 0;            ///< buffers of the problem, those that take part in nothing included

    /// Number of sections.
    [[nodiscard]] std::int32_t count() const noexcept { return static_cast<std::int32_t>(load.size()); }
    /// True if nothing but ranges, sizes and one common alignment matters.
    [[nodiscard]] bool plain() const noexcept { return !pinned && !gapped && !mixed_alignment; }
    /// The section with the largest load (the first of several); -1 if nothing takes part.
    template <class = void>
    [[nodiscard]] std::int32_t peak() const noexcept {
        return load.empty()
                   ? -1
                   : static_cast<std::int32_t>(std::max_element(load.begin(), load.end()) - load.begin());
    }
    /// The largest load.
    template <class = void>
    [[nodiscard]] std::int64_t max_load() const noexcept {
        return load.empty() ? 0 : load[static_cast<std::size_t>(peak())];
    }
    /// The ranges in which item `index` holds bytes.
    template <class Range = section_range>
    [[nodiscard]] std::span<const Range> pieces_of(std::size_t index) const noexcept {
        if (!gapped) return {&items[index].range, 1};
        return {pieces.data() + piece_of[index], piece_of[index + 1] - piece_of[index]};
    }
};

/// Least common multiple, held at 2^63 - 1: past it 0 is the only multiple at which a buffer can lie.
template <class = void>
[[nodiscard]] std::int64_t common_alignment(std::int64_t a, std::int64_t b) noexcept {
    return stowage::detail::saturating_multiply(a / std::gcd(a, b), b);
}

/// upper - lower (upper >= lower), held at 2^63 - 1.
template <class = void>
[[nodiscard]] std::int64_t span_of_time(std::int64_t lower, std::int64_t upper) noexcept {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(upper, lower, &result)) return std::numeric_limits<std::int64_t>::max();
    return result;
}

/// The spans of time in which `b` (which takes part) holds bytes, in order; those that touch are joined.
template <class = void>
void spans_of(const buffer& b, std::vector<interval>& spans) {
    spans.clear();
    std::int64_t from = b.lower;
    for (const interval& gap : b.gaps) {
        if (gap.lower == gap.upper) continue;
        if (from < gap.lower) spans.push_back({from, gap.lower});
        from = gap.upper;
    }
    if (from < b.upper) spans.push_back({from, b.upper});
}

/// The indices of `times` in ascending order of time, ties by index. O(n + t) for times in a range of t <= 4
/// n, else O(n log n).
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> sorted_by_time(std::span<const std::int64_t> times) {
    std::vector<std::uint32_t> sorted(times.size());
    if (times.empty()) return sorted;
    const auto [least, greatest] = std::minmax_element(times.begin(), times.end());
    const std::int64_t origin = *least;
    if (const std::int64_t range = span_of_time(origin, *greatest);
        range <= 4 * static_cast<std::int64_t>(times.size())) {
        std::vector<std::uint32_t> place(static_cast<std::size_t>(range) + 2, 0);
        for (const std::int64_t time : times)
            ++place[static_cast<std::size_t>(time - origin) + 1];
        std::partial_sum(place.begin(), place.end(), place.begin());
        for (std::size_t k = 0; k < times.size(); ++k) {
            sorted[place[static_cast<std::size_t>(times[k] - origin)]++] = static_cast<std::uint32_t>(k);
        }
        return sorted;
    }
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
        return times[a] != times[b] ? times[a] < times[b] : a < b;
    });
    return sorted;
}

/// A list of spans of time [lower, upper), each held by so many bytes.
struct time_spans {
    std::vector<std::int64_t> lower;
    std::vector<std::int64_t> upper;
    std::vector<std::int64_t> size;

    void reserve(std::size_t count) {
        lower.reserve(count);
        upper.reserve(count);
        size.reserve(count);
    }
};

/// Finds the ranges of sections of spans of time, and the loads and times of the sections. O(m log m) for m
/// spans; throws overflow_error if a load passes 2^63 - 1.
template <class = void>
[[nodiscard]] std::vector<section_range> cut_into_sections(const time_spans& spans,
                                                           std::vector<std::int64_t>& load,
                                                           std::vector<std::int64_t>& time) {
    const std::vector<std::uint32_t> births = sorted_by_time(spans.lower);
    const std::vector<std::uint32_t> deaths = sorted_by_time(spans.upper);
    std::vector<section_range> ranges(births.size());
    std::size_t dead = 0;
    std::int64_t live = 0;
    bool died = true;
    for (const std::uint32_t born : births) {
        const std::int64_t now = spans.lower[born];
        for (; spans.upper[deaths[dead]] <= now;
             ++dead) {  // deaths come before births; the newborn is yet to die
            live -= spans.size[deaths[dead]];
            ranges[deaths[dead]].last = static_cast<std::int32_t>(load.size());
            died = true;
        }
        live = stowage::detail::checked_add(live, spans.size[born], "sum of the bytes alive at one moment");
        if (died) {
            load.push_back(0);
            time.push_back(0);
        }
        died = false;
        load.back() = live;
        time.back() = now;
        ranges[born].first = static_cast<std::int32_t>(load.size()) - 1;
    }
    for (; dead < deaths.size(); ++dead)
        ranges[deaths[dead]].last = static_cast<std::int32_t>(load.size());
    return ranges;
}

/// True if an arena of `top` bytes is not worth having; a limit of 2^63 - 1 is none.
[[nodiscard]] constexpr bool reaches(std::int64_t top, std::int64_t limit) noexcept {
    return top >= limit && limit != std::numeric_limits<std::int64_t>::max();
}

/// The compact form of a valid problem (see layout::validate). Pools are not looked at. O(n log n) time for n
/// buffers and gaps together, O(n) memory. Throws overflow_error if the bytes alive at one moment pass 2^63
/// - 1.
template <class = void>
[[nodiscard]] sections make_sections(const problem& problem) {
    sections result;
    result.buffers = problem.buffers.size();
    if (problem.buffers.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) / 2) {
        throw error("layout problem: more than 2^30 buffers");
    }
    time_spans spans;
    std::vector<interval> own;
    std::vector<std::uint32_t> span_of;  // first span of each item, and their number at the end
    std::int64_t divisor = 0;
    result.items.reserve(problem.buffers.size());
    span_of.reserve(problem.buffers.size() + 1);
    spans.reserve(problem.buffers.size());
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const buffer& b = problem.buffers[i];
        if (!b.takes_part()) continue;
        spans_of(b, own);
        item entry;
        entry.size = b.size;
        entry.duration = span_of_time(b.lower, b.upper);
        entry.alignment = common_alignment(problem.alignment, b.alignment);
        entry.pin = b.offset.value_or(-1);
        entry.buffer = static_cast<std::uint32_t>(i);
        divisor = std::gcd(divisor, entry.alignment);
        result.pinned = result.pinned || entry.pinned();
        if (!result.items.empty() && entry.alignment != result.items.front().alignment)
            result.mixed_alignment = true;
        result.items.push_back(entry);
        span_of.push_back(static_cast<std::uint32_t>(spans.size.size()));
        for (const interval& span : own) {
            spans.lower.push_back(span.lower);
            spans.upper.push_back(span.upper);
            spans.size.push_back(b.size);
        }
    }
    span_of.push_back(static_cast<std::uint32_t>(spans.size.size()));
    result.alignment = divisor == 0 ? problem.alignment : divisor;
    const std::vector<section_range> ranges = cut_into_sections(spans, result.load, result.time);
    // A gap in which nothing is born has no section of its own: the pieces beside it touch and are one.
    result.piece_of.reserve(span_of.size());
    result.pieces.reserve(ranges.size());
    for (std::size_t i = 0; i < result.items.size(); ++i) {
        result.piece_of.push_back(static_cast<std::uint32_t>(result.pieces.size()));
        const std::size_t first_piece = result.pieces.size();
        for (std::size_t k = span_of[i]; k < span_of[i + 1]; ++k) {
            if (result.pieces.size() > first_piece && result.pieces.back().last == ranges[k].first) {
                result.pieces.back().last = ranges[k].last;
            } else {
                result.pieces.push_back(ranges[k]);
            }
        }
        result.items[i].range = {result.pieces[first_piece].first, result.pieces.back().last};
    }
    result.piece_of.push_back(static_cast<std::uint32_t>(result.pieces.size()));
    result.gapped = result.pieces.size() > result.items.size();
    if (!result.gapped) {
        result.pieces = {};
        result.piece_of = {};
    }
    return result;
}

/// Per item the largest load in its range of sections, for keys. O((n + k) log k) for k sections.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> largest_loads(const sections& compact) {
    // A sparse table of maxima, a row at a time: row r answers the items whose width is 2^r to 2^(r + 1) - 1.
    std::vector<std::int64_t> result(compact.items.size());
    std::vector<std::int64_t> row = compact.load;
    std::vector<std::int64_t> widths(compact.items.size());
    for (std::size_t i = 0; i < widths.size(); ++i)
        widths[i] = compact.items[i].width();
    std::int32_t step = 1;
    for (const std::uint32_t i : sorted_by_time(widths)) {
        const section_range range = compact.items[i].range;
        for (; step * 2 <= range.last - range.first; step *= 2) {
            const std::size_t entries = compact.load.size() + 1 - 2 * static_cast<std::size_t>(step);
            for (std::size_t s = 0; s < entries; ++s) {
                row[s] = std::max(row[s], row[s + static_cast<std::size_t>(step)]);
            }
        }
        result[i] = std::max(row[static_cast<std::size_t>(range.first)],
                             row[static_cast<std::size_t>(range.last - step)]);
    }
    return result;
}

/// Offsets by item turned into offsets by buffer: buffers that take part in nothing lie at their pin or at 0.
/// O(n).
template <class = void>
[[nodiscard]] std::vector<std::int64_t> offsets_by_buffer(const problem& problem, const sections& compact,
                                                          std::span<const std::int64_t> by_item) {
    std::vector<std::int64_t> offsets(problem.buffers.size(), 0);
    for (std::size_t i = 0; i < problem.buffers.size(); ++i)
        offsets[i] = problem.buffers[i].offset.value_or(0);
    for (std::size_t i = 0; i < compact.items.size(); ++i)
        offsets[compact.items[i].buffer] = by_item[i];
    return offsets;
}

/// The arena of offsets by item. O(n).
template <class = void>
[[nodiscard]] std::int64_t arena_of_items(const sections& compact, std::span<const std::int64_t> by_item) {
    std::int64_t arena = 0;
    for (std::size_t i = 0; i < compact.items.size(); ++i) {
        arena = std::max(arena, by_item[i] + compact.items[i].size);
    }
    return arena;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template sections make_sections(const problem&);
#endif

}  // namespace stowage::layout::detail
