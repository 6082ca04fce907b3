#include <stowage/layout/detail/failure_memo.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using stowage::layout::detail::failure_memo;
using key = std::vector<std::uint8_t>;

TEST_CASE("a key is found, another of the same hash is not") {
    failure_memo memo(1000);
    CHECK_FALSE(memo.contains(7, key{1, 2, 3}));
    memo.insert(7, key{1, 2, 3});
    CHECK(memo.contains(7, key{1, 2, 3}));
    CHECK(memo.may_contain(7));
    CHECK_FALSE(memo.contains(7, key{1, 2, 4}));
    CHECK_FALSE(memo.contains(7, key{1, 2}));
    CHECK_FALSE(memo.may_contain(8));
    memo.insert(7, key{1, 2, 4});
    CHECK(memo.contains(7, key{1, 2, 3}));
    CHECK(memo.contains(7, key{1, 2, 4}));
    memo.clear();
    CHECK(memo.size() == 0);
    CHECK_FALSE(memo.may_contain(7));
}

TEST_CASE("it grows, and stops at its memory limit") {
    failure_memo memo(4 * 5000);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        const key bytes{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8U), 0, 1};
        memo.insert(i % 1000, bytes);  // ten keys a hash
    }
    CHECK(memo.size() == 5000);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        const key bytes{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8U), 0, 1};
        CHECK(memo.contains(i % 1000, bytes) == (i < 5000));
    }
}
