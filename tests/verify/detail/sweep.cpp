#include <stowage/verify/detail/sweep.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>

using namespace stowage;
using verify::detail::rectangle;

namespace {

bool overlap(const rectangle& a, const rectangle& b) {
    return a.pool == b.pool && a.lower < b.upper && b.lower < a.upper && a.offset < b.offset + b.size &&
           b.offset < a.offset + a.size;
}

}  // namespace

TEST_CASE("finds a conflict exactly where comparing all pairs does") {
    detail::splitmix64 random(9);
    int conflicts = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<rectangle> list;
        for (std::size_t i = 0, count = random.below(8); i < count; ++i) {
            rectangle r;
            r.lower = static_cast<std::int64_t>(random.below(12));
            r.upper = r.lower + 1 + static_cast<std::int64_t>(random.below(6));
            r.offset = static_cast<std::int64_t>(random.below(30));
            r.size = 1 + static_cast<std::int64_t>(random.below(8));
            r.pool = static_cast<std::uint32_t>(random.below(2));
            list.push_back(r);
        }
        bool expected = false;
        for (std::size_t i = 0; i < list.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j)
                expected = expected || overlap(list[i], list[j]);
        }
        std::vector<std::int64_t> load(2, 0);
        const auto found = verify::detail::sweep(list, load);
        REQUIRE(found.has_value() == expected);
        if (found) {
            ++conflicts;
            const rectangle& a = list[found->first];
            const rectangle& b = list[found->second];
            CHECK(overlap(a, b));
            CHECK(found->time == std::max(a.lower, b.lower));
            continue;
        }
        std::vector<std::int64_t> plain(2, 0);
        for (std::int64_t time = 0; time < 20; ++time) {
            std::vector<std::int64_t> live(2, 0);
            for (const rectangle& r : list) {
                if (r.lower <= time && time < r.upper) live[r.pool] += r.size;
            }
            for (std::size_t pool = 0; pool < 2; ++pool)
                plain[pool] = std::max(plain[pool], live[pool]);
        }
        CHECK(load == plain);
    }
    CHECK(conflicts > 200);
    CHECK(conflicts < 1800);
}
