#include <stowage/detail/checked.hpp>

#include <doctest/doctest.h>

using namespace stowage;

TEST_CASE("sums and multiples near the top of the range are errors, never small numbers") {
    constexpr std::int64_t top = std::numeric_limits<std::int64_t>::max();
    CHECK(detail::checked_add(top - 1, 1) == top);
    CHECK_THROWS_AS((void)detail::checked_add(top, 1), overflow_error);
    CHECK(detail::align_up(top, 1) == top);
    CHECK_THROWS_AS((void)detail::align_up(top, 2), overflow_error);
    CHECK(detail::align_up(0, 512) == 0);
    CHECK(detail::align_up(1, 512) == 512);
    CHECK(detail::align_up(9, 3) == 9);
    CHECK(detail::saturating_multiply(1LL << 32, 1LL << 32) == top);
    CHECK(detail::saturating_multiply(3, 4) == 12);
    CHECK(detail::saturating_multiply(std::uint64_t{1} << 63U, 2) ==
          std::numeric_limits<std::uint64_t>::max());
    CHECK(detail::saturating_multiply(std::uint64_t{1} << 62U, 2) == std::uint64_t{1} << 63U);
}
