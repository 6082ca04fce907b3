#pragma once
// The checks behind layout::validate; included by layout/problem.hpp alone.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

namespace detail {

template <class = void>
void validate_buffer(const problem& problem, std::size_t index) {
    const buffer& b = problem.buffers[index];
    const auto fail = [&](std::string rule) { throw layout_error(std::move(rule), problem.describe(index)); };
    if (b.size < 0) fail("size " + std::to_string(b.size) + " is negative");
    if (b.upper < b.lower) {
        fail("lower " + std::to_string(b.lower) + " > upper " + std::to_string(b.upper) +
             ": its lifetime ends before it begins");
    }
    if (b.alignment <= 0) fail("alignment " + std::to_string(b.alignment) + " is not positive");
    if (b.offset) {
        if (*b.offset < 0) fail("pinned at the negative offset " + std::to_string(*b.offset));
        // Gaps that cover a lifetime whole free it of its bytes, not of its rules.
        if (b.size > 0 && b.lower < b.upper &&
            (*b.offset % b.alignment != 0 || *b.offset % problem.alignment != 0)) {
            fail("pinned at " + std::to_string(*b.offset) + ", which is not a multiple of its alignment");
        }
    }
    std::int64_t last = b.lower;
    for (const interval& gap : b.gaps) {
        if (gap.lower < last || gap.upper < gap.lower || gap.upper > b.upper) {
            fail("gap " + std::to_string(gap.lower) + "-" + std::to_string(gap.upper) +
                 " is out of order or outside its lifetime");
        }
        last = gap.upper;
    }
    const std::size_t pools = problem.capacities.empty() ? 1 : problem.capacities.size();
    if (b.pool && *b.pool >= pools) fail("pool " + std::to_string(*b.pool) + " does not exist");
}

/// Throws if the bytes alive at one moment pass 2^63 - 1, naming the buffer that passes it and the largest
/// beside it.
template <class = void>
void validate_load(const problem& problem) {
    struct event {
        std::int64_t time;
        bool birth;
        std::size_t index;
    };
    std::vector<event> events;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const buffer& b = problem.buffers[i];
        if (!b.takes_part()) continue;
        events.push_back({b.lower, true, i});
        events.push_back({b.upper, false, i});
    }
    std::sort(events.begin(), events.end(), [](const event& a, const event& b) {
        if (a.time != b.time) return a.time < b.time;
        if (a.birth != b.birth) return !a.birth;
        return a.index < b.index;
    });
    std::int64_t live = 0;
    for (std::size_t k = 0; k < events.size(); ++k) {
        const buffer& b = problem.buffers[events[k].index];
        if (!events[k].birth) {
            live -= b.size;
            continue;
        }
        if (!__builtin_add_overflow(live, b.size, &live)) continue;
        std::size_t largest = no_index;
        for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
            const buffer& c = problem.buffers[i];
            if (i == events[k].index || !c.takes_part() || c.lower > b.lower || c.upper <= b.lower) continue;
            if (largest == no_index || c.size > problem.buffers[largest].size) largest = i;
        }
        throw overflow_error(problem.describe(largest).text("buffer") + " and " +
                             problem.describe(events[k].index).text("buffer") + ": the bytes alive at time " +
                             std::to_string(b.lower) + " pass 2^63 - 1");
    }
}

/// Checks all but the load; true if some buffer has a gap.
template <class = void>
bool validate_buffers(const problem& problem) {
    if (problem.alignment <= 0) {
        throw layout_error(
            "alignment " + std::to_string(problem.alignment) + " of the problem is not positive", {});
    }
    bool gaps = false;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        validate_buffer(problem, i);
        gaps = gaps || !problem.buffers[i].gaps.empty();
    }
    return gaps;
}

}  // namespace detail

template <class>
void validate(const problem& problem) {
    const bool gaps = detail::validate_buffers(problem);
    // Gaps only lower the load, so the check without them may refuse too much: sum exactly where there are
    // some.
    if (!gaps) detail::validate_load(problem);
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template void validate(const problem&);
#endif

}  // namespace stowage::layout
