#include <stowage/order/detail/ready_tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <stowage/detail/random.hpp>

using namespace stowage;
using order::detail::ready_tree;

TEST_CASE("agrees with a plain list under random changes") {
    stowage::detail::splitmix64 random(81);
    for (int trial = 0; trial < 20; ++trial) {
        constexpr std::size_t operators = 60;
        ready_tree tree(operators);
        std::map<operator_index, std::pair<std::int64_t, std::int64_t>> plain;  // need, score
        for (int step = 0; step < 500; ++step) {
            const auto op = static_cast<operator_index>(random.below(operators));
            if (random.below(3) == 0 && plain.count(op) != 0) {
                tree.take(op);
                plain.erase(op);
            } else {
                const auto need = static_cast<std::int64_t>(random.below(12));
                const auto score = static_cast<std::int64_t>(random.below(6)) - 3;
                tree.put(op, need, score);
                plain[op] = {need, score};
            }
            CHECK(tree.empty() == plain.empty());
            CHECK(tree.contains(op) == (plain.count(op) != 0));
            for (const std::int64_t room : {-1, 3, 7, 20}) {
                operator_index best = no_operator;
                for (const auto& [other, figures] : plain) {
                    if (figures.first > room) continue;
                    if (best == no_operator ||
                        std::tuple(figures.second, other) < std::tuple(plain[best].second, best))
                        best = other;
                }
                CHECK(tree.best_within(room) == best);
                if (best != no_operator) CHECK(tree.score(best) == plain[best].second);
            }
            if (plain.empty()) continue;
            const auto least = std::min_element(plain.begin(), plain.end(), [](const auto& a, const auto& b) {
                return std::tuple(a.second, a.first) < std::tuple(b.second, b.first);
            });
            CHECK(tree.least_need() == least->first);
        }
    }
}
