#include <stowage/layout/detail/rising_obstacles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

namespace layout = stowage::layout;
using layout::detail::section_range;
using layout::detail::wall;

TEST_CASE("the lowest wall at or above a growing height is that of a search through all") {
    stowage::detail::splitmix64 random(1);
    for (int round = 0; round < 100; ++round) {
        const auto sections = static_cast<std::int32_t>(1 + random.below(40));
        const auto range = [&] {
            const auto first = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(sections)));
            const auto more = random.below(static_cast<std::uint64_t>(sections - first));
            return section_range{first, first + 1 + static_cast<std::int32_t>(more)};
        };
        std::vector<wall> walls;
        for (std::uint64_t w = random.below(30); w > 0; --w) {
            const auto bottom = static_cast<std::int64_t>(random.below(50));
            walls.push_back({range(), bottom, bottom + 1});
        }
        layout::detail::rising_obstacles all;
        all.assign(walls, sections);
        for (int pass = 0; pass < 2; ++pass, all.restart()) {
            for (std::int64_t height = 0; height < 52; height += static_cast<std::int64_t>(random.below(4))) {
                const section_range asked = range();
                std::int64_t expected = -1;
                for (const wall& w : walls) {
                    if (w.range.first >= asked.last || asked.first >= w.range.last || w.bottom < height)
                        continue;
                    if (expected < 0 || w.bottom < expected) expected = w.bottom;
                }
                const wall* found = all.lowest(asked, height);
                CHECK((found == nullptr ? -1 : found->bottom) == expected);
                if (found == nullptr) continue;
                CHECK((found->range.first < asked.last && asked.first < found->range.last));
            }
        }
    }
}

TEST_CASE("the height may fall from question to question where no section's does") {
    stowage::detail::splitmix64 random(2);
    for (int round = 0; round < 200; ++round) {
        const auto sections = static_cast<std::int32_t>(1 + random.below(40));
        // Walls that do not meet: one a section or two, or the next ones above.
        std::vector<wall> walls;
        std::vector<std::int64_t> used(static_cast<std::size_t>(sections), 0);
        for (std::uint64_t w = random.below(40); w > 0; --w) {
            const auto first = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(sections)));
            const auto more = random.below(static_cast<std::uint64_t>(sections - first));
            const section_range range{first, first + 1 + static_cast<std::int32_t>(more)};
            std::int64_t bottom = 0;
            for (std::int32_t s = range.first; s < range.last; ++s)
                bottom = std::max(bottom, used[static_cast<std::size_t>(s)]);
            bottom += static_cast<std::int64_t>(random.below(3));
            walls.push_back({range, bottom, bottom + 1});
            for (std::int32_t s = range.first; s < range.last; ++s)
                used[static_cast<std::size_t>(s)] = bottom + 1;
        }
        layout::detail::rising_obstacles all;
        all.assign(walls, sections);
        std::vector<std::int64_t> height(static_cast<std::size_t>(sections), 0);
        for (int question = 0; question < 60; ++question) {
            const auto first = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(sections)));
            const auto more = random.below(static_cast<std::uint64_t>(sections - first));
            const section_range asked{first, first + 1 + static_cast<std::int32_t>(more)};
            std::int64_t from = 0;
            for (std::int32_t s = asked.first; s < asked.last; ++s)
                from = std::max(from, height[static_cast<std::size_t>(s)]);
            from += static_cast<std::int64_t>(random.below(2));
            for (std::int32_t s = asked.first; s < asked.last; ++s)
                height[static_cast<std::size_t>(s)] = from;
            std::int64_t expected = -1;
            for (const wall& w : walls) {
                if (w.range.first >= asked.last || asked.first >= w.range.last || w.bottom < from) continue;
                if (expected < 0 || w.bottom < expected) expected = w.bottom;
            }
            const wall* found = all.lowest(asked, from);
            CHECK((found == nullptr ? -1 : found->bottom) == expected);
        }
    }
}
