#include <stowage/layout/detail/sized_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

using stowage::layout::detail::sized_tree;

TEST_CASE("the best rank of those that end early and are small is that of a search through all") {
    stowage::detail::splitmix64 random(1);
    for (int round = 0; round < 100; ++round) {
        std::vector<sized_tree::entry> entries(random.below(60));
        for (std::size_t i = 0; i < entries.size(); ++i) {
            entries[i] = {static_cast<std::int32_t>(random.below(20)), static_cast<std::int32_t>(i),
                          static_cast<std::int64_t>(1 + random.below(9))};
            std::swap(entries[i].rank, entries[random.below(i + 1)].rank);
        }
        std::vector<char> gone(entries.size(), 0);
        sized_tree tree;
        tree.assign(entries);
        for (int step = 0; step < 60; ++step) {
            const std::size_t to = random.below(entries.size() + 1);
            const std::size_t from = random.below(to + 1);
            const auto end = static_cast<std::int32_t>(random.below(22));
            const auto room = static_cast<std::int64_t>(random.below(11));
            std::int32_t expected = -1;
            for (std::size_t i = from; i < to; ++i) {
                if (gone[i] != 0 || entries[i].last > end || entries[i].size > room) continue;
                if (expected < 0 || entries[i].rank < expected) expected = entries[i].rank;
            }
            CHECK(tree.best(from, to, end, room) == expected);
            if (entries.empty()) continue;
            const std::size_t out = random.below(entries.size());
            if (gone[out] == 0) tree.remove(out);
            gone[out] = 1;
        }
    }
}
