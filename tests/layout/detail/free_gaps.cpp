#include <stowage/layout/detail/free_gaps.hpp>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

using stowage::layout::detail::free_gaps;

TEST_CASE("takes the lowest place, as a map of bytes does") {
    stowage::detail::splitmix64 random(3);
    constexpr std::size_t space = 6000;
    std::vector<bool> used(space, false);
    std::vector<std::pair<std::int64_t, std::int64_t>> live;
    free_gaps gaps;
    for (int step = 0; step < 6000; ++step) {
        // Grow to some hundreds of small blocks, so that there are several chunks of gaps, then shrink to
        // none.
        const bool grow = step % 3000 < 1800 ? random.below(3) != 0 : random.below(5) == 0;
        if (grow || live.empty()) {
            const auto size = static_cast<std::int64_t>(1 + random.below(6));
            const auto alignment = static_cast<std::int64_t>(1 + random.below(4));
            std::int64_t expected = 0;
            for (std::int64_t end = 0; end < size; ++end) {  // `end` bytes are known to be free at `expected`
                if (!used[static_cast<std::size_t>(expected + end)]) continue;
                expected += alignment;
                end = -1;
            }
            REQUIRE(gaps.take(size, alignment) == expected);
            for (std::int64_t b = 0; b < size; ++b)
                used[static_cast<std::size_t>(expected + b)] = true;
            live.push_back({expected, expected + size});
        } else {
            const std::size_t k = random.below(live.size());
            gaps.give(live[k].first, live[k].second);
            for (std::int64_t b = live[k].first; b < live[k].second; ++b)
                used[static_cast<std::size_t>(b)] = false;
            live[k] = live.back();
            live.pop_back();
        }
    }
    for (const auto& [lower, upper] : live)
        gaps.give(lower, upper);
    CHECK(gaps.take(std::numeric_limits<std::int64_t>::max(), 1) == 0);
}

TEST_CASE("more gaps than one chunk holds, joined again from either side") {
    for (const bool upwards : {true, false}) {
        free_gaps gaps;
        constexpr std::int64_t count = 1000;
        for (std::int64_t i = 0; i < count; ++i)
            REQUIRE(gaps.take(10, 1) == 10 * i);
        for (std::int64_t i = 0; i < count; i += 2)
            gaps.give(10 * i, 10 * i + 10);
        CHECK(gaps.take(11, 1) == 10 * count);
        gaps.give(10 * count, 10 * count + 11);
        for (std::int64_t k = 1; k < count; k += 2) {
            const std::int64_t i = upwards ? k : count - k;
            gaps.give(10 * i, 10 * i + 10);
        }
        CHECK(gaps.take(10 * count + 1, 7) == 0);
    }
}

TEST_CASE("the whole space, and no more") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    free_gaps gaps;
    CHECK(gaps.take(most, 1) == 0);
    CHECK(gaps.take(1, 1) == -1);
    gaps.give(0, most);
    CHECK(gaps.take(most - 1, 4) == 0);
    CHECK(gaps.take(1, 1) == most - 1);
    gaps.give(most - 1, most);
    CHECK(gaps.take(1, 4) == -1);
}
