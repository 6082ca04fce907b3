#include <stowage/layout/detail/obstacle_skyline.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/layout/detail/ranking.hpp>
#include <stowage/layout/key.hpp>
#include <stowage/layout/skyline.hpp>

#include "../../support/dense_layouts.hpp"
#include "../../support/layout_cases.hpp"

namespace layout = stowage::layout;
using layout::detail::obstacle_skyline;
using stowage::budget;

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// A dense fill of which every second to fifth buffer is pinned where a layout at the capacity has it.
layout::problem pinned_fill(std::size_t buffers, std::uint64_t one_of, stowage::detail::splitmix64& random) {
    layout::problem problem = dense_layouts::fill(buffers, 60, 20, random);
    const auto offsets = layout::skyline{}(problem);
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        if (random.below(one_of) == 0) problem.buffers[i].offset = offsets[i];
    }
    return problem;
}

layout::offset_list laid_out(const layout::problem& problem, layout::key key, std::int64_t limit = no_limit) {
    const auto compact = layout::detail::make_sections(problem);
    obstacle_skyline engine(problem, compact);
    budget account({.states = 1'000'000});
    const auto by_item = engine.run(layout::detail::ranked_by(compact, key), limit, account);
    if (by_item.size() != compact.items.size()) return {};
    return layout::detail::offsets_by_buffer(problem, compact, by_item);
}

}  // namespace

TEST_CASE("what it makes is a layout, whatever is pinned, in pieces or aligned") {
    stowage::detail::splitmix64 random(3);
    for (int round = 0; round < 300; ++round) {
        CAPTURE(round);
        layout::problem problem =
            round % 3 == 0
                ? pinned_fill(40, 2 + random.below(4), random)
                : layout_cases::random_problem(
                      30, {.mixed_alignment = round % 2 == 0, .pins = round % 3 == 1, .gaps = true}, random);
        for (const layout::key key :
             {layout::key::size_duration, layout::key::load_width, layout::key::size}) {
            const auto offsets = laid_out(problem, key);
            REQUIRE(offsets.size() == problem.buffers.size());
            CHECK(layout_cases::fault(problem, offsets) == "");
        }
    }
}

TEST_CASE("without obstacles it is the plain skyline") {
    stowage::detail::splitmix64 random(4);
    for (int round = 0; round < 100; ++round) {
        const layout::problem problem =
            layout_cases::random_problem(40, {.mixed_alignment = round % 2 == 0}, random);
        CHECK(laid_out(problem, layout::key::load_size) ==
              layout::skyline{{.key = layout::key::load_size}}(problem));
    }
}

TEST_CASE("buffers go under obstacles and beside them") {
    layout::problem problem;
    problem.buffers = {{.lower = 2, .upper = 4, .size = 4, .offset = 2},  // the obstacle
                       {.lower = 0, .upper = 6, .size = 2},               // under it
                       {.lower = 0, .upper = 2, .size = 4},               // to the left
                       {.lower = 4, .upper = 6, .size = 4},               // to the right
                       {.lower = 1, .upper = 5, .size = 3}};              // on top
    CHECK(laid_out(problem, layout::key::width) == layout::offset_list{2, 0, 2, 2, 6});
    CHECK(laid_out(problem, layout::key::width, 10).size() == 5);
    CHECK(laid_out(problem, layout::key::width, 9).empty());
}

TEST_CASE("it comes closer to the load than first fit where a fifth is pinned at a good layout") {
    stowage::detail::splitmix64 random(5);
    std::int64_t saved = 0;
    for (int round = 0; round < 20; ++round) {
        const layout::problem problem = pinned_fill(400, 5, random);
        const auto compact = layout::detail::make_sections(problem);
        const auto ranked = layout::detail::ranked_by(compact, layout::key::size_duration);
        budget account({.states = 10'000'000});
        obstacle_skyline engine(problem, compact);
        const auto around = engine.run(ranked, no_limit, account);
        const auto first = layout::detail::place_in_order(problem, compact, ranked,
                                                          layout::detail::fit::first, no_limit, account);
        saved +=
            layout::detail::arena_of_items(compact, first) - layout::detail::arena_of_items(compact, around);
    }
    CHECK(saved > 0);
}

TEST_CASE("an account that runs out ends it") {
    stowage::detail::splitmix64 random(6);
    const layout::problem problem = pinned_fill(200, 5, random);
    const auto compact = layout::detail::make_sections(problem);
    obstacle_skyline engine(problem, compact);
    budget account({.states = 30});
    const auto ranked = layout::detail::ranked_by(compact, layout::key::size);
    CHECK(engine.run(ranked, no_limit, account).empty());
}
