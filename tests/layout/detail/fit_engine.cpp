#include <stowage/layout/detail/fit_engine.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "support/layout_contract.hpp"

namespace layout = stowage::layout;
using layout::placement_order;
using layout::detail::fit;

TEST_CASE("the sweep over time is first fit by birth") {
    stowage::detail::splitmix64 random(31);
    for (int round = 0; round < 300; ++round) {
        const layout::problem problem = layout_cases::random_problem(
            1 + random.below(60), {.alignment = true, .mixed_alignment = round % 2 == 0, .empty = true},
            random);
        const auto compact = layout::detail::make_sections(problem);
        const auto order = layout::detail::ordered_by(problem, compact, placement_order::birth);
        stowage::budget account({.states = 1'000'000});
        constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
        const auto sweep = layout::detail::place_by_birth(problem, compact, no_limit, account);
        CHECK(sweep ==
              layout::detail::place_in_order(problem, compact, order, fit::first, no_limit, account));
    }
}

TEST_CASE("the orders are what they say") {
    layout::problem problem;
    problem.buffers = {{.lower = 4, .upper = 9, .size = 2},
                       {.lower = 0, .upper = 2, .size = 4},
                       {.lower = 0, .upper = 7, .size = 4},
                       {.lower = 1, .upper = 2, .size = 9}};
    const auto compact = layout::detail::make_sections(problem);
    using list = std::vector<std::uint32_t>;
    CHECK(layout::detail::ordered_by(problem, compact, placement_order::birth) == list{1, 2, 3, 0});
    CHECK(layout::detail::ordered_by(problem, compact, placement_order::size) == list{3, 2, 1, 0});
    CHECK(layout::detail::ordered_by(problem, compact, placement_order::duration) == list{2, 0, 1, 3});
    CHECK(layout::detail::ordered_by(problem, compact, placement_order::size_duration) == list{2, 0, 3, 1});
    CHECK(layout::detail::ordered_by(problem, compact, placement_order::load) == list{3, 2, 1, 0});
}

TEST_CASE("pins in conflict are refused by name") {
    layout::problem problem;
    problem.names = {"a", "b", "c"};
    problem.buffers = {{.lower = 0, .upper = 4, .size = 8, .offset = 0},
                       {.lower = 2, .upper = 3, .size = 9},
                       {.lower = 3, .upper = 9, .size = 8, .offset = 4}};
    const auto compact = layout::detail::make_sections(problem);
    const auto order = layout::detail::ordered_by(problem, compact, placement_order::birth);
    stowage::budget account;
    try {
        static_cast<void>(layout::detail::place_in_order(problem, compact, order, fit::first, 1000, account));
        FAIL("not refused");
    } catch (const stowage::layout_error& error) {
        CHECK(error.buffer_concerned().name == "a");
        CHECK(error.other_concerned().name == "c");
    }
    problem.buffers[2].offset = 8;
    const auto legal = layout::detail::make_sections(problem);
    CHECK(layout::detail::place_in_order(problem, legal, order, fit::first, 1000, account) ==
          layout::offset_list{0, 8, 8});
}

TEST_CASE("a pin may not end past 2^63 - 1") {
    layout::problem problem;
    problem.buffers = {
        {.lower = 0, .upper = 4, .size = 8, .offset = std::numeric_limits<std::int64_t>::max() - 7}};
    const auto compact = layout::detail::make_sections(problem);
    stowage::budget account;
    const std::vector<std::uint32_t> order = {0};
    CHECK_THROWS_AS(
        static_cast<void>(layout::detail::place_in_order(problem, compact, order, fit::best, 1000, account)),
        stowage::overflow_error);
}
