#include <stowage/layout/detail/address_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

using stowage::layout::detail::address_sets;
using stowage::layout::detail::address_tree;
using stowage::layout::detail::section_range;

namespace {

std::vector<section_range> random_ranges(std::int32_t sections, stowage::detail::splitmix64& random) {
    std::vector<section_range> ranges;
    std::int32_t at = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(sections)));
    do {
        const auto last =
            at + 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(sections - at)));
        ranges.push_back({at, last});
        at = last + 1 + static_cast<std::int32_t>(random.below(3));
    } while (at < sections && random.below(2) == 0);
    return ranges;
}

}  // namespace

TEST_CASE("an address set joins what touches") {
    address_sets sets(2);
    CHECK(sets.add(1, 10, 20));
    CHECK(sets.add(1, 30, 40));
    CHECK_FALSE(sets.add(1, 12, 20));
    CHECK(sets.add(1, 20, 25));
    REQUIRE(sets.runs(1).size() == 2);
    CHECK(sets.add(1, 25, 30));
    REQUIRE(sets.runs(1).size() == 1);
    CHECK(sets.runs(1)[0].lower == 10);
    CHECK(sets.runs(1)[0].upper == 40);
    CHECK(sets.add(1, 0, 5));
    CHECK(sets.add(1, 3, 50));
    REQUIRE(sets.runs(1).size() == 1);
    CHECK(sets.runs(1)[0].upper == 50);
}

TEST_CASE("lowest and snuggest free places, as a table of bytes has them") {
    stowage::detail::splitmix64 random(11);
    for (int round = 0; round < 200; ++round) {
        const auto sections = static_cast<std::int32_t>(1 + random.below(12));
        constexpr std::int64_t space = 400;
        std::vector<std::vector<bool>> used(static_cast<std::size_t>(sections),
                                            std::vector<bool>(space, false));
        address_tree tree(sections);
        for (int step = 0; step < 30; ++step) {
            const std::vector<section_range> ranges = random_ranges(sections, random);
            const auto size = static_cast<std::int64_t>(1 + random.below(9));
            const auto alignment = static_cast<std::int64_t>(1 + random.below(5));
            std::vector<bool> taken(space, false);
            for (const section_range& range : ranges) {
                for (auto s = range.first; s < range.last; ++s) {
                    for (std::size_t b = 0; b < space; ++b)
                        taken[b] = taken[b] || used[static_cast<std::size_t>(s)][b];
                }
            }
            std::int64_t lowest = -1;
            std::int64_t snuggest = -1;
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (std::int64_t from = 0; from < space;) {
                if (taken[static_cast<std::size_t>(from)]) {
                    ++from;
                    continue;
                }
                std::int64_t to = from;
                while (to < space && !taken[static_cast<std::size_t>(to)])
                    ++to;
                const std::int64_t offset = (from + alignment - 1) / alignment * alignment;
                // The stretch above everything is the last choice.
                const std::int64_t length =
                    to == space ? std::numeric_limits<std::int64_t>::max() - 1 : to - from;
                if (offset + size <= to) {
                    if (lowest < 0) lowest = offset;
                    if (length < least) {
                        least = length;
                        snuggest = offset;
                    }
                }
                from = to;
            }
            CHECK(tree.lowest(ranges, size, alignment) == lowest);
            CHECK(tree.snuggest(ranges, size, alignment) == snuggest);
            CHECK(tree.is_free(ranges, lowest, lowest + size));
            const std::int64_t chosen = step % 2 == 0 ? lowest : snuggest + (step % 3 == 0 ? 5 : 0);
            bool free = true;
            for (std::int64_t b = chosen; b < chosen + size; ++b)
                free = free && !taken[static_cast<std::size_t>(b)];
            CHECK(tree.is_free(ranges, chosen, chosen + size) == free);
            if (!free) continue;
            tree.add(ranges, chosen, chosen + size);
            for (const section_range& range : ranges) {
                for (auto s = range.first; s < range.last; ++s) {
                    for (std::int64_t b = chosen; b < chosen + size; ++b) {
                        used[static_cast<std::size_t>(s)][static_cast<std::size_t>(b)] = true;
                    }
                }
            }
        }
        CHECK(tree.take_steps() > 0);
        CHECK(tree.take_steps() == 0);
    }
}

TEST_CASE("no place below 2^63 - 1") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::vector<section_range> all = {{0, 1}};
    address_tree tree(1);
    CHECK(tree.lowest(all, most, 1) == 0);
    CHECK(tree.snuggest(all, most, 1) == 0);
    tree.add(all, 0, most - 2);
    CHECK(tree.lowest(all, 2, 1) == most - 2);
    CHECK(tree.lowest(all, 3, 1) == -1);
    CHECK(tree.snuggest(all, 3, 1) == -1);
    CHECK(tree.snuggest(all, 2, 64) == -1);
}
