#include <stowage/layout/both_ends.hpp>

#include <cstdint>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>
#include <stowage/layout/first_fit.hpp>

#include "support/layout_contract.hpp"

namespace layout = stowage::layout;

TEST_CASE(
    "a chain of lifetimes, two of them alive together, is laid out at its load, which first fit is not") {
    stowage::detail::splitmix64 random(5);
    int above = 0;
    for (int round = 0; round < 100; ++round) {
        layout::problem problem;
        for (std::int64_t i = 0; i < 40; ++i) {
            const auto size = static_cast<std::int64_t>(1 + random.below(100));
            problem.buffers.push_back({.lower = i, .upper = i + 2, .size = size});
        }
        const std::int64_t load = layout_cases::load(problem);
        const auto offsets = layout_cases::run(layout::both_ends{}, problem);
        REQUIRE(layout_cases::fault(problem, offsets) == "");
        CHECK(layout_cases::arena(problem, offsets) == load);
        above += layout::arena_of(problem, layout::first_fit{}(problem)) > load ? 1 : 0;
    }
    CHECK(above > 90);
}

TEST_CASE(
    "what fits from both ends is valid and within the arena aimed at; pins and gaps are left to others") {
    stowage::detail::splitmix64 random(6);
    int found = 0;
    for (const auto& features : layout_cases::feature_sets()) {
        for (int round = 0; round < 200; ++round) {
            const layout::problem problem =
                layout_cases::random_problem(1 + random.below(12), features, random);
            const std::int64_t bound =
                layout_cases::load(problem) + static_cast<std::int64_t>(random.below(9));
            const auto offsets =
                layout_cases::run(layout::both_ends{.most_alive = 12}, problem, 100'000, bound);
            if (offsets.empty()) continue;
            ++found;
            REQUIRE(layout_cases::fault(problem, offsets) == "");
            CHECK(layout_cases::arena(problem, offsets) <= bound);
        }
    }
    CHECK(found > 400);
    layout::problem pinned;
    pinned.buffers = {{.lower = 0, .upper = 2, .size = 3, .offset = 0}};
    CHECK(layout_cases::run(layout::both_ends{}, pinned).empty());
    layout::problem gapped;
    gapped.buffers = {{.lower = 0, .upper = 9, .size = 3, .gaps = {{2, 4}}},
                      {.lower = 2, .upper = 3, .size = 3}};
    CHECK(layout_cases::run(layout::both_ends{}, gapped).empty());
    layout::problem crowded;
    crowded.buffers = {{.lower = 0, .upper = 2, .size = 3}, {.lower = 1, .upper = 3, .size = 3}};
    CHECK(layout_cases::run(layout::both_ends{.most_alive = 1}, crowded).empty());
    CHECK(layout_cases::run(layout::both_ends{.most_alive = 2}, crowded).size() == 2);
}

TEST_CASE("where the least arena has no room, one nearer to the target is tried; an empty account ends it") {
    // First fit from both ends wastes the middle: 2 below, 2 above, and 3 of 4 bytes are wanted between.
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 3, .size = 3},
                       {.lower = 1, .upper = 4, .size = 2},
                       {.lower = 2, .upper = 6, .size = 3},
                       {.lower = 4, .upper = 7, .size = 5}};
    stowage::budget account({.states = 100});
    layout::context open{.account = account, .target = 40};
    const auto offsets = layout::both_ends{}(problem, open);
    REQUIRE(layout_cases::fault(problem, offsets) == "");
    CHECK(layout_cases::arena(problem, offsets) < 40);
    layout::context endless{.account = account, .target = std::int64_t{1} << 62U};
    const auto near = layout::both_ends{}(problem, endless);
    REQUIRE(layout_cases::fault(problem, near) == "");
    CHECK(layout_cases::arena(problem, near) <= 3 * layout_cases::load(problem) / 2);
    stowage::budget none({.states = 0});
    layout::context empty{.account = none, .target = 40};
    CHECK(layout::both_ends{}(problem, empty).empty());
}
