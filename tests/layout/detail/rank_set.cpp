#include <stowage/layout/detail/rank_set.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <set>

#include <stowage/detail/random.hpp>

using namespace stowage;

TEST_CASE("agrees with std::set at every size of tree") {
    detail::splitmix64 random(4);
    for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                                    std::size_t{4096}, std::size_t{4097}, std::size_t{300'000}}) {
        layout::detail::rank_set tree(count);
        std::set<std::size_t> plain;
        for (int step = 0; step < 2000; ++step) {
            const std::size_t value = random.below(count);
            if (plain.contains(value)) {
                tree.erase(value);
                plain.erase(value);
            } else if (plain.size() < 40) {
                tree.insert(value);
                plain.insert(value);
            }
            const std::size_t where = random.below(count + 1);
            const auto above = plain.lower_bound(where);
            REQUIRE(tree.at_or_above(where) == (above == plain.end() ? no_index : *above));
            REQUIRE(tree.below(where) == (above == plain.begin() ? no_index : *std::prev(above)));
            REQUIRE(tree.contains(value) == plain.contains(value));
        }
        tree.clear();
        CHECK(tree.at_or_above(0) == no_index);
    }
}

TEST_CASE("an empty one has no members") {
    const layout::detail::rank_set none(0);
    CHECK(none.at_or_above(0) == no_index);
    CHECK(none.below(0) == no_index);
    CHECK(layout::detail::rank_set{}.at_or_above(0) == no_index);
}
