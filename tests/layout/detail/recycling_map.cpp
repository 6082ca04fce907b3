#include <stowage/layout/detail/recycling_map.hpp>

#include <doctest/doctest.h>

#include <map>

#include <stowage/detail/random.hpp>

using namespace stowage;

TEST_CASE("agrees with std::map") {
    detail::splitmix64 random(6);
    layout::detail::recycling_map<int, int> recycled;
    std::map<int, int> plain;
    for (int step = 0; step < 3000; ++step) {
        const int key = static_cast<int>(random.below(50));
        if (plain.contains(key)) {
            REQUIRE(recycled.find(key)->second == plain[key]);
            recycled.erase(recycled.find(key));
            plain.erase(key);
        } else {
            recycled.insert(key, step);
            plain[key] = step;
        }
        REQUIRE(recycled.size() == plain.size());
        const auto found = plain.lower_bound(25);
        if (found == plain.end()) {
            REQUIRE(recycled.lower_bound(25) == recycled.end());
        } else {
            REQUIRE(recycled.lower_bound(25)->first == found->first);
        }
        if (!plain.empty()) REQUIRE(recycled.begin()->first == plain.begin()->first);
    }
    recycled.reserve(200);
    CHECK(recycled.size() == plain.size());
}
