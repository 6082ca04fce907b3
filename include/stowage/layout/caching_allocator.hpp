#pragma once
// What a user of PyTorch sees today: its caching allocator, simulated on given lifetimes. "Reserved" bytes,
// the sum of the segments that it takes from the device, are the baseline that a plan's arena is compared
// with (papers: ROAM's baseline "PyTorch"). Every buffer is allocated at its birth and freed at its death,
// frees first at equal times: a buffer is freed once its last operator has run, before the next one
// allocates.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/detail/caching_engine.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// What the simulated allocator did.
struct caching_usage {
    std::int64_t reserved = 0;        ///< sum of all segments: what a user sees the process hold
    std::int64_t allocated_peak = 0;  ///< most bytes in blocks in use, rounding and left-over included
    std::int64_t requested_peak = 0;  ///< most bytes asked for at one moment: the load
    std::size_t segments = 0;         ///< number of segments
    offset_list offsets;              ///< place of each buffer, the segments lying one after the other
};

/// Runs the caching allocator over the lifetimes of `problem`. Births at equal times come in the order of
/// indices. Sizes of 0 and empty lifetimes ask for nothing and get offset 0; alignments beyond
/// `options.rounding` are kept by rounding to a common multiple; gaps are held, pools not looked at. O(n log
/// n). Throws layout_error naming the buffer if one is pinned, which this allocator cannot do; overflow_error
/// if the segments pass 2^63 - 1.
template <class = void>
[[nodiscard]] caching_usage simulate_caching(const problem& problem, const caching_options& options = {}) {
    std::int64_t alignment = problem.alignment;
    struct event {
        std::int64_t time;
        std::uint32_t birth;  // 0 sorts first: frees come before allocations
        std::uint32_t index;
    };
    std::vector<event> events;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const buffer& b = problem.buffers[i];
        if (b.offset) {
            throw layout_error("pinned, but the caching allocator places where it will", problem.describe(i));
        }
        if (!b.takes_part()) continue;
        alignment = detail::caching_engine::common_multiple(alignment, b.alignment);
        events.push_back({b.lower, 1, static_cast<std::uint32_t>(i)});
        events.push_back({b.upper, 0, static_cast<std::uint32_t>(i)});
    }
    std::sort(events.begin(), events.end(), [](const event& a, const event& b) {
        if (a.time != b.time) return a.time < b.time;
        if (a.birth != b.birth) return a.birth < b.birth;
        return a.index < b.index;
    });
    detail::caching_engine engine(options, alignment);
    caching_usage result;
    result.offsets.assign(problem.buffers.size(), 0);
    std::vector<detail::caching_engine::block_id> block_of(problem.buffers.size(),
                                                           detail::caching_engine::none);
    std::int64_t requested = 0;
    for (const event& e : events) {
        const std::int64_t size = problem.buffers[e.index].size;
        if (e.birth == 0) {
            engine.release(block_of[e.index]);
            requested -= size;
            continue;
        }
        block_of[e.index] = engine.allocate(size);
        result.offsets[e.index] = engine.address(block_of[e.index]);
        requested += size;
        result.requested_peak = std::max(result.requested_peak, requested);
        result.allocated_peak = std::max(result.allocated_peak, engine.allocated());
    }
    result.reserved = engine.reserved();
    result.segments = engine.segments();
    return result;
}

/// Runs the caching allocator as `order` runs: outputs and workspaces of an operator are allocated when it
/// starts, what it used last is freed before the next one. O(accesses + n log n). Pins of the program are
/// left aside, as PyTorch knows none.
template <class = void>
[[nodiscard]] caching_usage simulate_caching(const tensor_graph& graph, std::span<const operator_index> order,
                                             const caching_options& options = {}) {
    order_layout made = layout_problem_of(graph, order);
    for (buffer& b : made.problem.buffers)
        b.offset.reset();
    return simulate_caching(made.problem, options);
}

/// The simulated caching allocator as a layout policy: each buffer where the allocator would put it, segments
/// one after the other. O(n log n).
struct caching_allocator {
    caching_options options = {};  ///< figures of the allocator
    /// One offset a buffer; errors as simulate_caching.
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem) const {
        return simulate_caching(problem, options).offsets;
    }
};

static_assert(simple_layout_policy<caching_allocator>);

}  // namespace stowage::layout
