#pragma once
// The picture of a layout problem with an answer: bytes alive over time and every buffer as rectangles time x
// address. Times are drawn by rank, so that long idle spans take no room; several pools stand one above the
// other.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/io/picture.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::io {

namespace detail {

/// A span of time in which one buffer holds bytes.
struct held_span {
    layout::interval time;
    std::size_t buffer;
};

template <class = void>
[[nodiscard]] std::vector<held_span> held_spans(const layout::problem& problem) {
    std::vector<held_span> spans;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const layout::buffer& b = problem.buffers[i];
        if (!b.takes_part()) continue;
        std::int64_t from = b.lower;
        for (const layout::interval& gap : b.gaps) {
            if (from < gap.lower) spans.push_back({{from, gap.lower}, i});
            from = std::max(from, gap.upper);
        }
        if (from < b.upper) spans.push_back({{from, b.upper}, i});
    }
    return spans;
}

}  // namespace detail

/// Gathers what a picture of `offsets` shows. `pools`, one a buffer, may be empty: each buffer is then in the
/// pool that it must be in, or in pool 0. Levels, figures and status are left to the caller. O(n log n) for n
/// buffers and gaps. Throws layout_error if there is not one offset a buffer, overflow_error if all pools
/// together pass 2^63 - 1 bytes.
template <class = void>
[[nodiscard]] picture make_picture(const layout::problem& problem, std::span<const std::int64_t> offsets,
                                   std::string title, std::span<const std::uint32_t> pools = {}) {
    if (offsets.size() != problem.buffers.size()) {
        throw layout_error("an answer has one offset a buffer", {});
    }
    const auto pool_of = [&](std::size_t i) {
        return pools.empty() ? problem.buffers[i].pool.value_or(0) : pools[i];
    };
    const std::vector<detail::held_span> spans = detail::held_spans(problem);
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> arenas(1, 0);
    for (const detail::held_span& span : spans) {
        times.push_back(span.time.lower);
        times.push_back(span.time.upper);
        const std::size_t pool = pool_of(span.buffer);
        if (pool >= arenas.size()) arenas.resize(pool + 1, 0);
        arenas[pool] = std::max(arenas[pool], stowage::detail::checked_add(
                                                  offsets[span.buffer], problem.buffers[span.buffer].size));
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    const auto rank = [&times](std::int64_t time) {
        return static_cast<std::uint32_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
    };

    picture result;
    result.title = std::move(title);
    result.steps_are = "spans of time";
    std::vector<std::int64_t> base;
    for (const std::int64_t arena : arenas) {
        base.push_back(result.arena_bytes);
        result.arena_bytes = stowage::detail::checked_add(result.arena_bytes, arena, "sum of all pools");
    }
    for (std::size_t t = 0; t + 1 < times.size(); ++t) {
        result.operators.push_back("from time " + std::to_string(times[t]));
    }
    result.stages.assign(result.operators.size(), stage::unknown);
    std::vector<std::uint64_t> change(times.size(), 0);  // wraps on the way, not in a valid layout's sums
    for (const detail::held_span& span : spans) {
        const layout::buffer& b = problem.buffers[span.buffer];
        picture_box box;
        const bool named = span.buffer < problem.names.size() && !problem.names[span.buffer].empty();
        box.name = named ? problem.names[span.buffer] : "buffer " + std::to_string(span.buffer);
        box.offset = base[pool_of(span.buffer)] + offsets[span.buffer];
        box.bytes = b.size;
        box.first = rank(span.time.lower);
        box.last = rank(span.time.upper) - 1;
        box.kind = b.offset ? "pinned" : "free";
        change[box.first] += static_cast<std::uint64_t>(b.size);
        change[box.last + 1] -= static_cast<std::uint64_t>(b.size);
        result.boxes.push_back(std::move(box));
    }
    std::stable_sort(result.boxes.begin(), result.boxes.end(),
                     [](const picture_box& a, const picture_box& b) {
                         return std::pair(a.first, a.offset) < std::pair(b.first, b.offset);
                     });
    std::vector<std::int64_t> live;
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < result.operators.size(); ++t) {
        sum += change[t];
        live.push_back(static_cast<std::int64_t>(sum));
    }
    if (!live.empty()) {
        result.peak_step =
            static_cast<std::uint32_t>(std::max_element(live.begin(), live.end()) - live.begin());
    }
    result.curves.push_back({"bytes alive", std::move(live)});
    for (std::uint32_t i = 0; i < result.boxes.size(); ++i) {
        const picture_box& box = result.boxes[i];
        if (box.first <= result.peak_step && result.peak_step <= box.last) result.alive_at_peak.push_back(i);
    }
    std::stable_sort(
        result.alive_at_peak.begin(), result.alive_at_peak.end(),
        [&](std::uint32_t a, std::uint32_t b) { return result.boxes[a].bytes > result.boxes[b].bytes; });
    return result;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template picture make_picture(const layout::problem&, std::span<const std::int64_t>,
                                                std::string, std::span<const std::uint32_t>);
#endif

}  // namespace stowage::io
