#include <stowage/layout/detail/plateaus.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/sections.hpp>

using stowage::layout::detail::plateaus;
using stowage::layout::detail::section_range;
using stowage::layout::detail::valley_order;

TEST_CASE("the lowest plateau, its ends and neighbours are those of the heights section by section") {
    stowage::detail::splitmix64 random(3);
    plateaus edge;
    for (int round = 0; round < 200; ++round) {
        const auto sections = static_cast<std::int32_t>(1 + random.below(12));
        std::vector<std::int64_t> heights(static_cast<std::size_t>(sections), 0);
        edge.reset(sections, valley_order::lowest);
        for (int step = 0; step < 40; ++step) {
            const auto lowest = std::min_element(heights.begin(), heights.end());
            const auto left = static_cast<std::int32_t>(lowest - heights.begin());
            std::int32_t end = left;
            while (end < sections && heights[static_cast<std::size_t>(end)] == *lowest)
                ++end;
            std::int64_t lower = plateaus::no_height;
            if (left > 0) lower = heights[static_cast<std::size_t>(left) - 1];
            if (end < sections) lower = std::min(lower, heights[static_cast<std::size_t>(end)]);

            REQUIRE(edge.pop() == left);
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

TEST_CASE("the nearest valley is lower than its neighbours, and none is left out") {
    stowage::detail::splitmix64 random(4);
    plateaus edge;
    for (int round = 0; round < 200; ++round) {
        const auto sections = static_cast<std::int32_t>(1 + random.below(12));
        std::vector<std::int64_t> heights(static_cast<std::size_t>(sections), 0);
        edge.reset(sections, valley_order::nearest);
        constexpr std::int64_t full = 20;
        int steps = 0;
        for (; *std::min_element(heights.begin(), heights.end()) < full; ++steps) {
            REQUIRE(steps < 1000);
            const std::int32_t left = edge.pop();
            const std::int64_t height = edge.height(left);
            const std::int32_t end = edge.end(left);
            for (std::int32_t s = left; s < end; ++s)
                REQUIRE(heights[static_cast<std::size_t>(s)] == height);
            if (left > 0) REQUIRE(heights[static_cast<std::size_t>(left) - 1] > height);
            if (end < sections) REQUIRE(heights[static_cast<std::size_t>(end)] > height);
            const auto width = static_cast<std::uint64_t>(end - left);
            const auto first = left + static_cast<std::int32_t>(random.below(width));
            const auto last =
                first + 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(end - first)));
            const std::int64_t top = height + 1 + static_cast<std::int64_t>(random.below(4));
            edge.cover(left, section_range{first, last}, top);
            std::fill(heights.begin() + first, heights.begin() + last, top);
        }
        CHECK(steps > 0);
    }
}
