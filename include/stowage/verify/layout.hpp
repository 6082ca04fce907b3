#pragma once
// Checks a layout against its problem: no two buffers that are alive together share a byte, and every offset
// keeps alignments, pins, pools and capacities; gaps in lifetimes free a buffer's bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/verify/detail/sweep.hpp>
#include <stowage/verify/order.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify {

namespace detail {

/// "bytes [0, 16)".
template <class = void>
[[nodiscard]] std::string bytes_text(std::int64_t first, std::int64_t last) {
    return "bytes [" + std::to_string(first) + ", " + std::to_string(last) + ")";
}

/// True if the buffer occupies bytes at some moment; its gaps are in order.
template <class = void>
[[nodiscard]] bool holds_bytes(const layout::buffer& b) noexcept {
    if (b.size <= 0) return false;
    std::int64_t covered = b.lower;  // no bytes in [lower, covered)
    for (const layout::interval& gap : b.gaps) {
        if (gap.lower > covered) break;
        covered = gap.upper;
    }
    return covered < b.upper;
}

/// The rule of one placed buffer that is broken, or an empty text. Sound for any values.
template <class = void>
[[nodiscard]] std::string broken_rule(const layout::problem& problem, const layout::buffer& b,
                                      std::int64_t offset, std::uint32_t pool) {
    const std::string at = "offset " + std::to_string(offset);
    if (b.size < 0) return "its size is negative";
    if (b.upper < b.lower) return "its lifetime ends before it begins";
    if (b.alignment <= 0) return "its alignment is not positive";
    if (offset < 0) return at + " is negative";
    if (b.offset && *b.offset != offset) return at + ", but it is pinned at " + std::to_string(*b.offset);
    if (pool >= std::max<std::size_t>(1, problem.capacities.size())) {
        return "pool " + std::to_string(pool) + " does not exist";
    }
    if (b.pool && *b.pool != pool) {
        return "it is in pool " + std::to_string(pool) + ", but must be in pool " + std::to_string(*b.pool);
    }
    std::int64_t from = b.lower;
    for (const layout::interval& gap : b.gaps) {
        if (gap.lower < from || gap.upper < gap.lower || gap.upper > b.upper) {
            return "a gap is out of order or outside its lifetime";
        }
        from = gap.upper;
    }
    if (!holds_bytes(b)) return {};
    if (offset % problem.alignment != 0) {
        return at + " is no multiple of the problem's alignment " + std::to_string(problem.alignment);
    }
    if (offset % b.alignment != 0) {
        return at + " is no multiple of its alignment " + std::to_string(b.alignment);
    }
    if (offset > std::numeric_limits<std::int64_t>::max() - b.size) return "its end passes 2^63 - 1";
    if (!problem.capacities.empty() && offset + b.size > problem.capacities[pool]) {
        return "it ends at " + std::to_string(offset + b.size) + ", past the capacity " +
               std::to_string(problem.capacities[pool]) + " of pool " + std::to_string(pool);
    }
    return {};
}

/// Appends the rectangles in which buffer `owner` holds bytes: its lifetime without its gaps.
template <class = void>
void add_rectangles(const layout::buffer& b, std::int64_t offset, std::uint32_t pool, std::size_t owner,
                    std::vector<rectangle>& list) {
    std::int64_t from = b.lower;
    const auto piece = [&](std::int64_t to) {
        if (from < to && b.size > 0) list.push_back({from, to, offset, b.size, pool, owner});
    };
    for (const layout::interval& gap : b.gaps) {
        piece(gap.lower);
        from = gap.upper;
    }
    piece(b.upper);
}

}  // namespace detail

/// Checks `offsets`, one a buffer. `pools` is the pool of each buffer; empty: each is in the pool that it
/// must be in, or in pool 0. An empty lifetime or a size of 0 takes part in nothing; its offset need only be
/// no less than 0 and its pin. The verdict holds the load and the arena, of each pool too. O(n log n) for n
/// buffers and gaps together.
template <class = void>
[[nodiscard]] verdict check_layout(const layout::problem& problem, std::span<const std::int64_t> offsets,
                                   std::span<const std::uint32_t> pools = {}) {
    const std::size_t count = problem.buffers.size();
    if (problem.alignment <= 0) return detail::refuse("the problem's alignment is not positive");
    if (offsets.size() != count) {
        return detail::refuse(std::to_string(offsets.size()) + " offsets for " + std::to_string(count) +
                              " buffers");
    }
    if (!pools.empty() && pools.size() != count) {
        return detail::refuse(std::to_string(pools.size()) + " pools for " + std::to_string(count) +
                              " buffers");
    }
    verdict good;
    good.arenas.assign(std::max<std::size_t>(1, problem.capacities.size()), 0);
    std::vector<detail::rectangle> list;
    list.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const layout::buffer& b = problem.buffers[i];
        const std::uint32_t pool = pools.empty() ? b.pool.value_or(0) : pools[i];
        if (const std::string rule = detail::broken_rule(problem, b, offsets[i], pool); !rule.empty()) {
            const subject concerned = problem.describe(i);
            return detail::refuse(concerned.text("buffer") + ": " + rule, {}, {concerned});
        }
        if (!detail::holds_bytes(b)) continue;
        good.arenas[pool] = std::max(good.arenas[pool], offsets[i] + b.size);
        detail::add_rectangles(b, offsets[i], pool, i, list);
    }
    std::vector<std::int64_t> load(good.arenas.size(), 0);
    if (const auto bad = detail::sweep(list, load)) {
        const detail::rectangle& a = list[bad->first];
        const detail::rectangle& b = list[bad->second];
        const subject first = problem.describe(a.owner);
        const subject second = problem.describe(b.owner);
        return detail::refuse(first.text("buffer") + " and " + second.text("buffer") + " share " +
                                  detail::bytes_text(std::max(a.offset, b.offset),
                                                     std::min(a.offset + a.size, b.offset + b.size)) +
                                  " while both are alive at time " + std::to_string(bad->time),
                              {}, {first, second});
    }
    good.peak = *std::max_element(load.begin(), load.end());
    good.arena = *std::max_element(good.arenas.begin(), good.arenas.end());
    return good;
}

/// Checks a layout as above, and that what the solution claims of it agrees: arena and, where there is one
/// pool, load are the recomputed ones, the lower bound is not above the arena, and `optimal` is said only
/// where they meet. O(n log n).
template <class = void>
[[nodiscard]] verdict check_layout(const layout::problem& problem, const layout::solution& solution) {
    verdict found = check_layout(problem, std::span<const std::int64_t>(solution.offsets));
    if (!found) return found;
    if (solution.arena != found.arena) {
        return detail::refuse(detail::differs("the arena", solution.arena, found.arena));
    }
    if (problem.capacities.size() < 2 && solution.load != found.peak) {
        return detail::refuse(detail::differs("the load", solution.load, found.peak));
    }
    const bool called_optimal = solution.status == status::optimal;
    if (auto bad = detail::claims("arena", found.arena, solution.lower_bound, called_optimal)) return *bad;
    return found;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template verdict check_layout(const layout::problem&, std::span<const std::int64_t>,
                                                std::span<const std::uint32_t>);
#endif

}  // namespace stowage::verify
