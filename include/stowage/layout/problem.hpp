#pragma once
// The layout problem (offline dynamic storage allocation): buffers with fixed half-open lifetimes and sizes;
// give each an offset such that no two that are alive together share a byte, and keep the arena, the largest
// offset + size, small.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>  // and the concepts of ranges, without the views of <ranges>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/layout/fwd.hpp>

namespace stowage::layout {

/// A half-open span of time [lower, upper).
struct interval {
    std::int64_t lower = 0;  ///< first moment inside
    std::int64_t upper = 0;  ///< first moment after
    friend bool operator==(const interval&, const interval&) = default;
};

/// One buffer to place. An empty lifetime or a size of 0 takes part in nothing and is placed at its pin or at
/// 0.
struct buffer {
    std::int64_t lower = 0;                   ///< first moment at which it is alive
    std::int64_t upper = 0;                   ///< first moment at which it is no longer alive; >= lower
    std::int64_t size = 0;                    ///< bytes, 0 to 2^63 - 1
    std::int64_t alignment = 1;               ///< its offset is a multiple of this; any positive number
    std::optional<std::int64_t> offset = {};  ///< pinned here if set
    std::vector<interval> gaps =
        {};  ///< spans inside its lifetime in which it holds no bytes; sorted, disjoint
    std::optional<std::uint32_t> pool = {};  ///< the pool that it must be in; none: any
    /// True if it occupies bytes at some moment.
    template <class = void>
    [[nodiscard]] bool takes_part() const noexcept {
        if (size <= 0) return false;
        std::int64_t held_from = lower;  // gaps may cover a lifetime whole
        for (const interval& gap : gaps) {
            if (held_from < gap.lower) return true;
            held_from = gap.upper;
        }
        return held_from < upper;
    }
};

/// A whole problem: the buffers and what holds for all of them.
struct problem {
    std::vector<buffer> buffers = {};  ///< in the user's order; answers have the same order
    std::int64_t alignment = 1;  ///< every offset is a multiple of this too, beside a buffer's own alignment
    std::vector<std::string> names = {};  ///< one a buffer, or empty: for messages only
    /// One capacity a pool, in bytes; empty: one pool without a limit.
    std::vector<std::int64_t> capacities = {};

    /// Name and index of buffer `index`, for errors.
    template <class = void>
    [[nodiscard]] subject describe(std::size_t index) const {
        return {index, index < names.size() ? names[index] : std::string{}};
    }
};

/// A user's own lifetime type: members `lower`, `upper` and `size` that convert to std::int64_t.
template <class T>
concept lifetime = requires(const T& value) {
    { value.lower } -> std::convertible_to<std::int64_t>;
    { value.upper } -> std::convertible_to<std::int64_t>;
    { value.size } -> std::convertible_to<std::int64_t>;
};

static_assert(lifetime<buffer>);
static_assert(!lifetime<interval>, "an interval has no size");

/// Reads a range of the user's own lifetimes into a problem; `alignment` members are taken where there are
/// some. O(n).
template <std::ranges::input_range Range>
    requires lifetime<std::ranges::range_value_t<Range>>
[[nodiscard]] problem make_problem(const Range& lifetimes, std::int64_t alignment = 1) {
    problem result;
    result.alignment = alignment;
    for (const auto& item : lifetimes) {
        buffer entry;
        entry.lower = static_cast<std::int64_t>(item.lower);
        entry.upper = static_cast<std::int64_t>(item.upper);
        entry.size = static_cast<std::int64_t>(item.size);
        if constexpr (requires { static_cast<std::int64_t>(item.alignment); }) {
            entry.alignment = static_cast<std::int64_t>(item.alignment);
        }
        result.buffers.push_back(std::move(entry));
    }
    return result;
}

/// Throws layout_error naming the buffer if a size is negative, a lifetime ends before it begins, an
/// alignment is not positive, a pin is negative or unaligned, a gap lies outside its lifetime, or a pool does
/// not exist; overflow_error naming two buffers if the bytes alive at one moment pass 2^63 - 1. O(n log n).
template <class = void>
void validate(const problem& problem);

}  // namespace stowage::layout

#include <stowage/layout/detail/validate.hpp>
