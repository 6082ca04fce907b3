#include <stowage/turnip/detail/capacity_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

TEST_CASE("range minima, and where they are, agree with a plain array") {
    stowage::detail::splitmix64 random(3);
    for (int round = 0; round < 200; ++round) {
        const std::size_t count = 1 + random.below(40);
        std::vector<std::int64_t> plain;
        for (std::size_t i = 0; i < count; ++i)
            plain.push_back(static_cast<std::int64_t>(random.below(20)));
        stowage::turnip::detail::capacity_tree tree(plain);
        for (int step = 0; step < 40; ++step) {
            const std::size_t lower = random.below(count);
            const std::size_t upper = lower + random.below(count - lower);
            const auto first = plain.begin() + static_cast<std::ptrdiff_t>(lower);
            const auto last = plain.begin() + static_cast<std::ptrdiff_t>(upper) + 1;
            if (random.below(2) == 0) {
                const std::int64_t bytes = static_cast<std::int64_t>(random.below(11)) - 5;
                std::for_each(first, last, [&](std::int64_t& value) { value += bytes; });
                tree.add(lower, upper, bytes);
            } else {
                const auto least = std::min_element(first, last);
                CHECK(tree.least(lower, upper) == *least);
                CHECK(tree.least_step(lower, upper) == static_cast<std::size_t>(least - plain.begin()));
            }
        }
    }
}
