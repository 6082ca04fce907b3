#include <stowage/layout/model.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/layout/plan.hpp>
#include <stowage/verify/layout.hpp>

#include "support/layout_cases.hpp"

using namespace stowage;
using namespace stowage::layout;

TEST_CASE("the pyramid nests lifetimes from the bottom up") {
    const problem posed = make_problem(std::vector<buffer>{{.lower = 2, .upper = 5, .size = 4},
                                                           {.lower = 0, .upper = 9, .size = 8},
                                                           {.lower = 1, .upper = 8, .size = 2},
                                                           {.lower = 1, .upper = 8, .size = 3},
                                                           {.lower = 6, .upper = 9, .size = 5},
                                                           {.lower = 0, .upper = 0, .size = 5},
                                                           {.lower = 3, .upper = 3, .size = 5}});
    CHECK(layout::detail::pyramid_of(posed) == std::vector<std::size_t>{1, 3, 2, 0});
    const solution found = layout::plan(posed, model{solver::enumerator{}});
    CHECK(verify::check_layout(posed, found));
    CHECK(found.offsets[1] == 0);
    CHECK(found.offsets[3] == 8);
    CHECK(found.offsets[2] == 11);
    CHECK(found.offsets[0] == 13);
}

TEST_CASE("its layouts are valid with everything, and never better than the best") {
    stowage::detail::splitmix64 random(91);
    bool lost = false;
    for (int round = 0; round < 150; ++round) {
        const layout_cases::features features{.alignment = round % 2 == 0,
                                              .mixed_alignment = round % 3 == 0,
                                              .pins = round % 5 == 0,
                                              .gaps = round % 7 == 0,
                                              .empty = round % 4 == 0};
        const problem posed = layout_cases::random_problem(2 + random.below(5), features, random);
        const std::int64_t least = layout_cases::least_arena(posed);
        CAPTURE(round);
        const solution found = layout::plan(posed, model{solver::enumerator{}}, {.states = 50'000'000});
        CHECK(verify::check_layout(posed, found));
        CHECK(layout_cases::fault(posed, found.offsets) == "");
        CHECK(found.arena >= least);
        CHECK(found.lower_bound <= least);
        lost = lost || found.arena > least;
        if (features.gaps || features.pins) continue;
        const solution whole =
            layout::plan(posed, model{solver::enumerator{}, {.pyramid = false}}, {.states = 50'000'000});
        CHECK(whole.arena == least);
    }
    CHECK(lost);  // the pyramid costs bytes somewhere, and no bound hides it
}

TEST_CASE("what is too large for the program is placed around the pyramid") {
    stowage::detail::splitmix64 random(92);
    const problem posed = layout_cases::random_problem(60, {.alignment = true}, random);
    const solution found = layout::plan(posed, model{solver::enumerator{}, {.pairs = 5}});
    CHECK(verify::check_layout(posed, found));
}
