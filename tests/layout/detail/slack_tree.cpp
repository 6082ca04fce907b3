#include <stowage/layout/detail/slack_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

TEST_CASE("the least of a range and its leftmost place, as a plain list has them") {
    stowage::detail::splitmix64 random(7);
    for (std::size_t count = 1; count < 40; ++count) {
        std::vector<std::int64_t> list(count);
        for (auto& value : list)
            value = static_cast<std::int64_t>(random.below(6));
        stowage::layout::detail::slack_tree tree;
        tree.assign(count, [&](std::size_t s) { return list[s]; });
        for (int step = 0; step < 200; ++step) {
            const std::size_t from = random.below(count);
            const std::size_t to = from + 1 + random.below(count - from);
            if (step % 2 == 0) {
                const auto amount = static_cast<std::int64_t>(random.below(5)) - 3;
                tree.add(from, to, amount);
                for (std::size_t s = from; s < to; ++s)
                    list[s] += amount;
            }
            const auto least = std::min_element(list.begin() + static_cast<std::ptrdiff_t>(from),
                                                list.begin() + static_cast<std::ptrdiff_t>(to));
            const auto [value, place] = tree.least(from, to);
            CHECK(value == *least);
            CHECK(place == static_cast<std::size_t>(least - list.begin()));
        }
    }
}
