#include <stowage/layout/detail/ranking.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>
#include <stowage/layout/key.hpp>

namespace layout = stowage::layout;
using layout::detail::ranked_by;

namespace {

// Sections 0, 1, 2; loads 13, 8, 12.
layout::problem sample() {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 20, .size = 3},
                       {.lower = 0, .upper = 1, .size = 10},
                       {.lower = 5, .upper = 19, .size = 5},
                       {.lower = 20, .upper = 22, .size = 7},
                       {.lower = 20, .upper = 22, .size = 5}};
    return problem;
}

}  // namespace

TEST_CASE("each key ranks as it says") {
    const layout::problem problem = sample();
    const auto compact = layout::detail::make_sections(problem);
    REQUIRE(compact.load == std::vector<std::int64_t>{13, 8, 12});
    using list = std::vector<std::uint32_t>;
    CHECK(ranked_by(compact, layout::key::duration) == list{0, 2, 3, 4, 1});
    CHECK(ranked_by(compact, layout::key::size) == list{1, 3, 2, 4, 0});
    CHECK(ranked_by(compact, layout::key::width) == list{0, 1, 3, 2, 4});
    CHECK(ranked_by(compact, layout::key::size_duration) == list{2, 0, 3, 1, 4});
    CHECK(ranked_by(compact, layout::key::area) == list{1, 3, 0, 2, 4});
    CHECK(ranked_by(compact, layout::key::load_width) == list{0, 1, 3, 4, 2});
    CHECK(ranked_by(compact, layout::key::load_size) == list{1, 0, 3, 4, 2});
    CHECK(ranked_by(compact, layout::key::width_size) == list{0, 1, 3, 2, 4});
    CHECK(ranked_by(compact, layout::key::width_root_size) == list{0, 1, 3, 2, 4});
}

TEST_CASE("noise is drawn from its seed and keeps the leading load") {
    const auto compact = layout::detail::make_sections(sample());
    const auto loads = layout::detail::largest_loads(compact);
    for (const layout::key key : layout::all_keys) {
        const auto plain = layout::detail::key_values(compact, loads, key);
        auto first = plain;
        auto second = plain;
        stowage::detail::splitmix64 a(4);
        stowage::detail::splitmix64 b(4);
        layout::detail::perturb(first, key, 0.1, a);
        layout::detail::perturb(second, key, 0.1, b);
        for (std::size_t i = 0; i < plain.size(); ++i) {
            CHECK(first[i].first == second[i].first);
            CHECK(first[i].second == second[i].second);
            CHECK((layout::detail::led_by_load(key) ? first[i].second : first[i].first) !=
                  (layout::detail::led_by_load(key) ? plain[i].second : plain[i].first));
            if (layout::detail::led_by_load(key)) CHECK(first[i].first == plain[i].first);
        }
    }
}

TEST_CASE("many items are ranked like few: by each member in turn, ties by index") {
    stowage::detail::splitmix64 random(11);
    std::vector<layout::detail::key_value> values(20'000);
    for (auto& value : values) {
        const auto drawn = [&] { return static_cast<double>(random.below(6)); };
        value = {drawn() * 1e200, drawn() * 0.3, random.below(2) == 0 ? 0.0 : random.uniform()};
    }
    std::vector<std::uint32_t> ranked;
    layout::detail::rank(values, ranked);
    std::vector<std::uint32_t> expected(values.size());
    std::iota(expected.begin(), expected.end(), 0U);
    std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto& x = values[a];
        const auto& y = values[b];
        return std::tie(y.first, y.second, y.third) < std::tie(x.first, x.second, x.third);
    });
    CHECK(ranked == expected);
}
