#include <stowage/layout/detail/plateaus.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/sections.hpp>

using stowage::layout::detail::plateaus;
using stowage::layout::detail::section_range;

TEST_CASE("the lowest plateau, its ends and neighbours are those of the heights section by section") {
    stowage::detail::splitmix64 random(3);
    plateaus edge;
    for (int round = 0; round < 200; ++round) {
        const auto sections = static_cast<std::int32_t>(1 + random.below(12));
        std::vector<std::int64_t> heights(static_cast<std::size_t>(sections), 0);
        edge.reset(sections);
        for (int step = 0; step < 40; ++step) {
            const auto lowest = std::min_element(heights.begin(), heights.end());
            const auto left = static_cast<std::int32_t>(lowest - heights.begin());
            std::int32_t end = left;
            while (end < sections && heights[static_cast<std::size_t>(end)] == *lowest)
                ++end;
            std::int64_t lower = plateaus::no_height;
            if (left > 0) lower = heights[static_cast<std::size_t>(left) - 1];
            if (end < sections) lower = std::min(lower, heights[static_cast<std::size_t>(end)]);

            REQUIRE(edge.pop_lowest() == left);
            REQUIRE(edge.height(left) == *lowest);
            REQUIRE(edge.end(left) == end);
            REQUIRE(edge.lower_neighbour(left) == lower);

            const auto width = static_cast<std::uint64_t>(end - left);
            const auto first = left + static_cast<std::int32_t>(random.below(width));
            const auto last =
                first + 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(end - first)));
            const std::int64_t height = *lowest + 1 + static_cast<std::int64_t>(random.below(4));
            edge.cover(left, section_range{first, last}, height);
            std::fill(heights.begin() + first, heights.begin() + last, height);
        }
    }
}
