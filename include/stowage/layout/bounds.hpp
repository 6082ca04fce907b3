#pragma once
// Lower bounds on the arena, each with a witness that a reader can check by hand: the load, and what
// alignment and pinned offsets add to it. A layout whose arena meets a bound is optimal. Source:
// papers/layout.md, "Alignment".

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// The load and where it is reached.
struct load_witness {
    std::int64_t bytes = 0;            ///< the largest sum of sizes held at one moment; gaps hold nothing
    std::int64_t time = 0;             ///< a moment at which it is reached: the first such
    std::vector<std::size_t> buffers;  ///< those that hold bytes then, ascending
};

/// Why no layout has a smaller arena.
enum class bound_reason : std::uint8_t {
    load,       ///< the buffers hold that many bytes at one moment
    alignment,  ///< all but the topmost of the buffers use up their size rounded up to `step`
    pin,        ///< one pinned buffer ends there
};

/// A proven lower bound on the arena and its witness.
struct arena_bound {
    std::int64_t bytes = 0;                    ///< no layout has a smaller arena
    bound_reason reason = bound_reason::load;  ///< which argument proves it
    std::int64_t time = 0;             ///< the moment that the argument is about (pin: the buffer's birth)
    std::int64_t step = 1;             ///< alignment: every offset of `buffers` is a multiple of this
    std::vector<std::size_t> buffers;  ///< the buffers that the argument needs, ascending
};

namespace detail {

/// A bound in terms of sections.
struct section_bound {
    std::int64_t bytes = 0;
    bound_reason reason = bound_reason::load;
    std::int32_t section = -1;  // load, alignment
    std::int64_t step = 1;      // alignment
    std::size_t item = 0;       // pin
};

/// `size` rounded up to a multiple of `step`, minus `size`.
[[nodiscard]] constexpr std::int64_t pad_of(std::int64_t size, std::int64_t step) noexcept {
    return size % step == 0 ? 0 : step - size % step;
}

/// The largest, over the sections, of the rounded sizes minus the largest pad, of the items whose alignment
/// is a multiple of `step`. Their offsets are multiples of `step`, so each but the topmost one uses its
/// rounded size up: no layout has a smaller arena. The first section that has it. O(n log n).
template <class = void>
[[nodiscard]] section_bound stepped_bound(const sections& compact, std::int64_t step) {
    struct event {
        std::int32_t first;
        std::int32_t last;
        std::int64_t pad;
        std::int64_t size;
    };
    std::vector<event> events;
    for (std::size_t i = 0; i < compact.items.size(); ++i) {
        const item& entry = compact.items[i];
        if (entry.alignment % step != 0) continue;
        for (const section_range& piece : compact.pieces_of(i)) {
            events.push_back({piece.first, piece.last, pad_of(entry.size, step), entry.size});
        }
    }
    std::sort(events.begin(), events.end(), [](const event& a, const event& b) { return a.first < b.first; });
    // Sums of rounded sizes may pass 2^63 - 1 where no layout exists: they are taken in 128 bits and clamped.
    __extension__ using wide = __int128;
    std::vector<wide> change(compact.load.size() + 1, 0);
    for (const event& e : events) {
        change[static_cast<std::size_t>(e.first)] += static_cast<wide>(e.size) + e.pad;
        change[static_cast<std::size_t>(e.last)] -= static_cast<wide>(e.size) + e.pad;
    }
    std::vector<std::pair<std::int64_t, std::int32_t>> pads;  // a heap of (pad, last section) of those begun
    section_bound best{0, bound_reason::alignment, -1, step, 0};
    wide rounded = 0;
    std::size_t begun = 0;
    for (std::int32_t s = 0; s < compact.count(); ++s) {
        rounded += change[static_cast<std::size_t>(s)];
        for (; begun < events.size() && events[begun].first == s; ++begun) {
            if (events[begun].pad == 0) continue;
            pads.push_back({events[begun].pad, events[begun].last});
            std::push_heap(pads.begin(), pads.end());
        }
        while (!pads.empty() && pads.front().second <= s) {
            std::pop_heap(pads.begin(), pads.end());
            pads.pop_back();
        }
        const wide bound = pads.empty() ? rounded : rounded - pads.front().first;
        if (bound <= best.bytes) continue;
        best.bytes =
            static_cast<std::int64_t>(std::min<wide>(bound, std::numeric_limits<std::int64_t>::max()));
        best.section = s;
    }
    return best;
}

/// The best bound known. Alignments: their greatest common divisor and the 32 most frequent ones are tried,
/// as long as the account's clock, if one is given, leaves time for them. O(n log n).
template <class = void>
[[nodiscard]] section_bound lower_bound(const sections& compact, const budget* account = nullptr) {
    section_bound best{compact.max_load(), bound_reason::load, compact.peak(), 1, 0};
    std::vector<std::int64_t> alignments;
    for (const item& entry : compact.items) {
        if (entry.alignment > 1) alignments.push_back(entry.alignment);
    }
    std::sort(alignments.begin(), alignments.end());
    std::vector<std::pair<std::size_t, std::int64_t>> steps;  // (number of items, alignment)
    if (compact.alignment > 1) steps.emplace_back(compact.items.size() + 1, compact.alignment);
    for (std::size_t from = 0, to = 0; from < alignments.size(); from = to) {
        while (to < alignments.size() && alignments[to] == alignments[from])
            ++to;
        if (alignments[from] != compact.alignment) steps.emplace_back(to - from, alignments[from]);
    }
    std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a > b; });
    if (steps.size() > 33) steps.resize(33);
    const std::chrono::nanoseconds of_a_step(100 * compact.items.size());
    for (const auto& [count, step] : steps) {
        if (account != nullptr && !account->affords(of_a_step)) break;
        if (const section_bound bound = stepped_bound(compact, step); bound.bytes > best.bytes) best = bound;
    }
    for (std::size_t i = 0; compact.pinned && i < compact.items.size(); ++i) {
        const item& entry = compact.items[i];
        if (!entry.pinned()) continue;
        const std::int64_t end =
            stowage::detail::checked_add(entry.pin, entry.size, "end of a pinned buffer");
        if (end > best.bytes) best = {end, bound_reason::pin, -1, 1, i};
    }
    return best;
}

/// The buffers of the items that hold bytes in a section and whose alignment is a multiple of `step`. O(n).
template <class = void>
[[nodiscard]] std::vector<std::size_t> alive_in(const sections& compact, std::int32_t section,
                                                std::int64_t step = 1) {
    std::vector<std::size_t> buffers;
    for (std::size_t i = 0; i < compact.items.size(); ++i) {
        if (compact.items[i].alignment % step != 0) continue;
        for (const section_range& piece : compact.pieces_of(i)) {
            if (piece.first <= section && section < piece.last) buffers.push_back(compact.items[i].buffer);
        }
    }
    return buffers;
}

}  // namespace detail

/// The load of a valid problem: O(n log n). Throws overflow_error if it passes 2^63 - 1.
template <class = void>
[[nodiscard]] load_witness load_bound(const problem& problem) {
    const detail::sections compact = detail::make_sections(problem);
    const std::int32_t peak = compact.peak();
    if (peak < 0) return {};
    return {compact.load[static_cast<std::size_t>(peak)], compact.time[static_cast<std::size_t>(peak)],
            detail::alive_in(compact, peak)};
}

/// The best lower bound known on the arena of a valid problem in one pool, with its witness: the load, the
/// load of aligned buffers, the highest end of a pinned one. Sound with alignments of any kind, pins and
/// gaps. O(n log n). Throws overflow_error if the load or the end of a pinned buffer passes 2^63 - 1.
template <class = void>
[[nodiscard]] arena_bound lower_bound(const problem& problem) {
    const detail::sections compact = detail::make_sections(problem);
    const detail::section_bound found = detail::lower_bound(compact);
    arena_bound result{found.bytes, found.reason, 0, found.step, {}};
    if (found.reason == bound_reason::pin) {
        result.buffers = {compact.items[found.item].buffer};
        result.time = problem.buffers[result.buffers.front()].lower;
    } else if (found.section >= 0) {
        result.time = compact.time[static_cast<std::size_t>(found.section)];
        result.buffers = detail::alive_in(compact, found.section, found.step);
    }
    return result;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template detail::section_bound detail::lower_bound(const detail::sections&, const budget*);
#endif

}  // namespace stowage::layout
