#include <stowage/layout/skylines.hpp>

#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include <stowage/layout/bounds.hpp>
#include "support/dense_layouts.hpp"
#include "support/layout_contract.hpp"

namespace layout = stowage::layout;

TEST_CASE("the sweep keeps the contract of policies") {
    layout_cases::check_contract(layout::skylines{});
    layout_cases::check_contract(layout::skylines{{.plain_keys = false, .perturbed_rounds = 3}});
}

TEST_CASE("the best of its skylines, the first of equal ones") {
    stowage::detail::splitmix64 random(12);
    for (int round = 0; round < 60; ++round) {
        const layout::problem problem =
            layout_cases::random_problem(40, {.mixed_alignment = round % 2 == 0}, random);
        std::int64_t best = std::numeric_limits<std::int64_t>::max();
        layout::offset_list expected;
        for (const layout::key key : layout::all_keys) {
            for (const auto slack :
                 {layout::slack_rule::none, layout::slack_rule::when_needed, layout::slack_rule::always}) {
                const auto offsets = layout::skyline{{.key = key, .slack = slack}}(problem);
                if (layout_cases::arena(problem, offsets) >= best) continue;
                best = layout_cases::arena(problem, offsets);
                expected = offsets;
            }
        }
        CHECK(layout_cases::run(layout::skylines{}, problem) == expected);
    }
}

TEST_CASE("stops at the bound, says who found it, and improves with noise") {
    stowage::detail::splitmix64 random(13);
    int improved = 0;
    for (int round = 0; round < 40; ++round) {
        const layout::problem problem = dense_layouts::fill(60, 60, 20, random);
        stowage::budget account({.states = 1'000'000});
        layout::context context{.account = account, .lower_bound = layout::load_bound(problem).bytes};
        const auto offsets = layout::skylines{}(problem, context);
        const std::int64_t arena = layout_cases::arena(problem, offsets);
        CHECK(context.found_by.starts_with("skyline by "));
        if (arena == context.lower_bound) continue;
        stowage::budget more({.states = 1'000'000});
        layout::context better{.account = more, .lower_bound = context.lower_bound, .target = arena};
        const layout::skylines noisy{{.plain_keys = false, .perturbed_rounds = 200}};
        const auto found = noisy(problem, better);
        if (found.empty()) continue;
        CHECK(layout_cases::arena(problem, found) < arena);
        CHECK(better.found_by.ends_with("perturbed"));
        ++improved;
    }
    CHECK(improved > 5);
    const layout::problem simple = layout_cases::random_problem(1, {}, random);
    stowage::budget account;
    layout::context context{.account = account, .lower_bound = layout::load_bound(simple).bytes};
    CHECK(layout::skylines{}(simple, context) == layout::offset_list{0});
    CHECK(context.found_by == "skyline by size_duration");
}
