#pragma once
// Arithmetic on byte counts that cannot wrap: a sum beyond 2^63 - 1 is an overflow_error, never a small
// number.

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <stowage/error.hpp>

namespace stowage::detail {

/// a + b for non-negative byte counts; throws overflow_error naming `what` if it passes 2^63 - 1.
[[nodiscard]] inline std::int64_t checked_add(std::int64_t a, std::int64_t b,
                                              const char* what = "sum of bytes") {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) throw overflow_error(std::string(what) + " passes 2^63 - 1");
    return sum;
}

/// a * b of numbers that are not negative, held at the largest one where it would pass it: for keys, scores
/// and limits, where order matters and not the value.
template <std::integral Number>
[[nodiscard]] constexpr Number saturating_multiply(Number a, std::type_identity_t<Number> b) noexcept {
    Number product = 0;
    if (__builtin_mul_overflow(a, b, &product)) return std::numeric_limits<Number>::max();
    return product;
}

/// From `value` (>= 0) to the next multiple of `alignment` (> 0): less than `alignment`, 0 if it is one.
[[nodiscard]] constexpr std::int64_t padding(std::int64_t value, std::int64_t alignment) noexcept {
    const std::int64_t rest = value % alignment;
    return rest == 0 ? 0 : alignment - rest;
}

/// The least multiple of `alignment` (> 0) at or above `value` (>= 0); throws overflow_error if it passes
/// 2^63 - 1.
[[nodiscard]] inline std::int64_t align_up(std::int64_t value, std::int64_t alignment) {
    return checked_add(value, padding(value, alignment), "aligned offset");
}

}  // namespace stowage::detail
