#include <stowage/layout/detail/glued_search.hpp>

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <stowage/layout/detail/sections.hpp>

#include "../../support/dense_layouts.hpp"
#include "../../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::budget;
using stowage::status;

TEST_CASE("what it finds is a layout of the whole, and it never says infeasible") {
    stowage::detail::splitmix64 random(1);
    int found = 0;
    for (int round = 0; round < 200; ++round) {
        layout::problem problem = dense_layouts::fill(20 + random.below(20), 20, 3, random);
        problem.alignment = static_cast<std::int64_t>(1 + random.below(2));
        const std::int64_t capacity =
            layout_cases::load(problem) + static_cast<std::int64_t>(random.below(16));
        const auto compact = layout::detail::make_sections(problem);
        const auto whole = layout::detail::make_strip(compact, capacity);
        layout::detail::glued_search search(whole, layout::detail::durations_of(compact), 1);
        budget account({.states = 3000});
        const status answer = search.run({}, account);
        CHECK(answer != status::infeasible);
        if (answer != status::feasible) continue;
        ++found;
        CAPTURE(round);
        const auto offsets = layout::detail::offsets_in_bytes(problem, compact, whole, search.offsets());
        CHECK(layout_cases::fault(problem, offsets) == "");
        CHECK(layout_cases::arena(problem, offsets) <= capacity);
    }
    CHECK(found > 100);
}

TEST_CASE("where nothing can be glued it gives up at once") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 3},
                       {.lower = 1, .upper = 4, .size = 3},
                       {.lower = 3, .upper = 5, .size = 2}};
    const auto compact = layout::detail::make_sections(problem);
    const auto whole = layout::detail::make_strip(compact, 6);
    layout::detail::glued_search search(whole, layout::detail::durations_of(compact), 1);
    CHECK(search.worthwhile());
    budget account;
    CHECK(search.run({}, account) == status::unknown);
    CHECK_FALSE(search.worthwhile());
    CHECK(account.spent() < 10);
}

TEST_CASE("boxes that led to a layout go on at lower capacities") {
    stowage::detail::splitmix64 random(2);
    int lowered = 0;
    for (int round = 0; round < 100; ++round) {
        layout::problem problem = dense_layouts::fill(30 + random.below(20), 20, 3, random);
        const std::int64_t load = layout_cases::load(problem);
        const auto compact = layout::detail::make_sections(problem);
        const auto whole = layout::detail::make_strip(compact, load + 6);
        layout::detail::glued_search search(whole, layout::detail::durations_of(compact), 1);
        budget account({.states = 20'000});
        CHECK_FALSE(search.warm());
        std::int64_t capacity = load + 6;
        while (search.run({}, account) == status::feasible) {
            CAPTURE(round);
            const auto offsets = layout::detail::offsets_in_bytes(problem, compact, whole, search.offsets());
            CHECK(layout_cases::fault(problem, offsets) == "");
            CHECK(layout_cases::arena(problem, offsets) <= capacity);
            if (capacity == load) break;
            search.lower_by(1);
            CHECK(search.warm());
            --capacity;
            ++lowered;
        }
    }
    CHECK(lowered > 200);
}

TEST_CASE("it solves a public problem that no other public search does, within the default limit") {
    const std::string shared = STOWAGE_SHARED;
    if (shared.empty()) return;
    const layout::problem problem = layout_cases::read_csv(shared + "/layout/D.1048576.csv");
    const auto compact = layout::detail::make_sections(problem);
    const auto whole = layout::detail::make_strip(compact, 986'112);
    layout::detail::glued_search search(whole, layout::detail::durations_of(compact), 1);
    budget account({.states = 200'000});
    REQUIRE(search.run({}, account) == status::feasible);
    const auto offsets = layout::detail::offsets_in_bytes(problem, compact, whole, search.offsets());
    CHECK(layout_cases::fault(problem, offsets) == "");
    CHECK(layout_cases::arena(problem, offsets) == 986'112);
}
