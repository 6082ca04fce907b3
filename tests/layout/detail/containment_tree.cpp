#include <stowage/layout/detail/containment_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

TEST_CASE("the best rank inside and across a section, as a plain list has it") {
    stowage::detail::splitmix64 random(9);
    for (std::size_t n = 1; n < 40; ++n) {
        std::vector<std::int32_t> last(n);
        std::vector<std::int32_t> rank(n);
        std::iota(rank.begin(), rank.end(), 0);
        for (std::size_t k = 0; k < n; ++k) {
            last[k] = static_cast<std::int32_t>(1 + random.below(12));
            std::swap(rank[k], rank[random.below(k + 1)]);
        }
        stowage::layout::detail::containment_tree tree;
        tree.assign(last, rank);
        std::vector<bool> there(n, true);
        for (int step = 0; step < 200; ++step) {
            const std::size_t from = random.below(n);
            const std::size_t to = from + random.below(n - from + 1);
            const auto end = static_cast<std::int32_t>(random.below(14));
            const auto after = static_cast<std::int32_t>(random.below(14));
            std::int32_t within = -1;
            std::int32_t covering = -1;
            for (std::size_t k = from; k < to; ++k) {
                if (!there[k] || last[k] > end) continue;
                if (within < 0 || rank[k] < within) within = rank[k];
                if (last[k] > after && (covering < 0 || rank[k] < covering)) covering = rank[k];
            }
            CHECK(tree.best_within(from, to, end) == within);
            CHECK(tree.best_covering(from, to, after, end) == covering);
            if (step % 4 == 0) {
                const std::size_t gone = random.below(n);
                if (there[gone]) tree.remove(gone);
                there[gone] = false;
            }
        }
    }
}

TEST_CASE("where questions are dear, sorted blocks answer as a plain list does") {
    stowage::detail::splitmix64 random(10);
    stowage::layout::detail::containment_tree tree;
    for (const std::size_t n : {3'000U, 700U}) {
        std::vector<std::int32_t> last(n);
        std::vector<std::int32_t> rank(n);
        std::iota(rank.begin(), rank.end(), 0);
        for (std::size_t k = 0; k < n; ++k) {
            last[k] = static_cast<std::int32_t>(1 + random.below(10'000));
            std::swap(rank[k], rank[random.below(k + 1)]);
        }
        tree.assign(last, rank);
        std::vector<std::uint8_t> there(n, 1);
        int wrong = 0;
        for (int step = 0; step < 6'000; ++step) {
            const std::size_t from = random.below(n / 4);
            const std::size_t to = n - random.below(n / 4);
            const auto end = static_cast<std::int32_t>(random.below(step % 8 == 0 ? 10'000 : 300));
            std::int32_t within = -1;
            for (std::size_t k = from; k < to; ++k) {
                if (there[k] != 0 && last[k] <= end && (within < 0 || rank[k] < within)) within = rank[k];
            }
            wrong += tree.best_within(from, to, end) != within;
            if (step % 4 == 0) {
                const std::size_t gone = random.below(n);
                if (there[gone] != 0) tree.remove(gone);
                there[gone] = 0;
            }
        }
        CHECK(wrong == 0);
    }
}
