#include <stowage/layout/conflict_keys.hpp>

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <stowage/layout/bounds.hpp>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::budget;

TEST_CASE("what it returns is a layout at the bound, with alignments of any kind") {
    stowage::detail::splitmix64 random(1);
    int found = 0;
    for (int round = 0; round < 300; ++round) {
        const layout_cases::features features{.alignment = round % 2 == 1, .mixed_alignment = round % 3 == 0};
        const layout::problem problem = layout_cases::random_problem(2 + random.below(20), features, random);
        budget account({.states = 2000});
        layout::context context{.account = account, .lower_bound = layout::lower_bound(problem).bytes};
        const layout::offset_list offsets = layout::conflict_keys{}(problem, context);
        if (offsets.empty()) continue;
        ++found;
        CAPTURE(round);
        CHECK(layout_cases::fault(problem, offsets) == "");
        CHECK(layout_cases::arena(problem, offsets) == context.lower_bound);
    }
    CHECK(found > 200);
}

TEST_CASE("learning finds what the first run does not") {
    stowage::detail::splitmix64 random(2);
    int learnt = 0;
    int at_once = 0;
    for (int round = 0; round < 100; ++round) {
        const layout::problem problem = dense_layouts::fill(60, 20, 12, random);
        for (const std::uint64_t states : {60U, 20'000U}) {
            budget account({.states = states});
            layout::context context{.account = account, .lower_bound = layout_cases::load(problem)};
            const bool found = !layout::conflict_keys{}(problem, context).empty();
            (states == 60 ? at_once : learnt) += found ? 1 : 0;
        }
    }
    CHECK(learnt > at_once);
}

TEST_CASE("pins and gaps are not for it; one seed, one answer") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5, .offset = 0}};
    budget account;
    layout::context context{.account = account, .lower_bound = 5};
    CHECK(layout::conflict_keys{}(problem, context).empty());
    stowage::detail::splitmix64 random(3);
    problem = dense_layouts::fill(60, 20, 12, random);
    layout::offset_list answers[2];
    for (auto& answer : answers) {
        budget again({.states = 5000});
        layout::context same{.account = again, .lower_bound = layout_cases::load(problem), .seed = 5};
        answer = layout::conflict_keys{}(problem, same);
    }
    CHECK(answers[0] == answers[1]);
}
