#include <stowage/layout/detail/boxing.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/layout/detail/sections.hpp>

#include "../../support/dense_layouts.hpp"
#include "../../support/layout_cases.hpp"

namespace layout = stowage::layout;
using layout::detail::boxing_rules;

namespace {

struct boxed {
    layout::problem problem;
    layout::detail::strip whole;
    std::vector<std::int64_t> durations;
};

boxed make(std::vector<layout::buffer> buffers, std::int64_t capacity) {
    boxed result;
    result.problem.buffers = std::move(buffers);
    const auto compact = layout::detail::make_sections(result.problem);
    result.whole = layout::detail::make_strip(compact, capacity);
    result.durations = layout::detail::durations_of(compact);
    return result;
}

}  // namespace

TEST_CASE(
    "equal ranges are stacked, what follows is put beside, and nothing is wasted where nothing may be") {
    // Two of one range; two that follow each other, of equal size. The unit is 1: sizes 3 and 4.
    const boxed given = make({{.lower = 0, .upper = 4, .size = 3},
                              {.lower = 0, .upper = 4, .size = 4},
                              {.lower = 0, .upper = 2, .size = 3},
                              {.lower = 2, .upper = 4, .size = 3}},
                             10);
    stowage::detail::splitmix64 random(1);
    layout::detail::boxing boxes(given.whole, given.durations);
    boxes.join({.rounds = 3, .chance = 1}, random);
    CHECK(boxes.joined());
    REQUIRE(boxes.boxes().blocks.size() == 1);
    CHECK(boxes.boxes().blocks[0].size == 10);
    const std::vector<std::int64_t> bottom{0};
    const auto offsets = boxes.offsets_of_blocks(bottom);
    CHECK(layout_cases::fault(given.problem, offsets) == "");
    CHECK(layout_cases::arena(given.problem, offsets) == 10);
}

TEST_CASE("unequal ones are joined only where the slack allows it") {
    const std::vector<layout::buffer> buffers = {{.lower = 0, .upper = 2, .size = 5},
                                                 {.lower = 2, .upper = 4, .size = 4},
                                                 {.lower = 1, .upper = 3, .size = 1}};
    stowage::detail::splitmix64 random(1);
    const boxed tight = make(buffers, 6);
    layout::detail::boxing none(tight.whole, tight.durations);
    none.join({.rounds = 3, .chance = 1, .share = 0, .most = 1}, random);
    CHECK_FALSE(none.joined());
    const boxed loose = make(buffers, 12);
    layout::detail::boxing some(loose.whole, loose.durations);
    some.join({.rounds = 3, .chance = 1, .share = 1, .most = 1}, random);
    CHECK(some.joined());
    CHECK(some.work() > 0);
}

TEST_CASE("boxes never ask more of a section than the capacity, and a layout of them is one of the blocks") {
    stowage::detail::splitmix64 random(3);
    int joined = 0;
    for (int round = 0; round < 300; ++round) {
        layout::problem problem = dense_layouts::fill(10 + random.below(30), 20, 3, random);
        problem.alignment = static_cast<std::int64_t>(1 + random.below(2));
        const auto compact = layout::detail::make_sections(problem);
        const std::int64_t capacity =
            layout_cases::load(problem) + static_cast<std::int64_t>(random.below(20));
        const auto whole = layout::detail::make_strip(compact, capacity);
        const auto durations = layout::detail::durations_of(compact);
        layout::detail::boxing boxes(whole, durations);
        boxes.join({.rounds = static_cast<int>(1 + random.below(6)),
                    .chance = 0.8,
                    .share = random.uniform(),
                    .most = random.uniform()},
                   random);
        joined += boxes.joined() ? 1 : 0;
        CAPTURE(round);
        std::vector<std::int64_t> load(static_cast<std::size_t>(whole.sections), 0);
        std::vector<std::int64_t> offsets;
        std::int64_t top = 0;
        for (const layout::detail::block& box : boxes.boxes().blocks) {
            for (std::int32_t s = box.first; s < box.last; ++s)
                load[static_cast<std::size_t>(s)] += box.size;
            offsets.push_back(top);  // one on another: any layout does
            top += box.size;
        }
        // Rounding to units may have broken the capacity before any box was made.
        std::vector<std::int64_t> before(load.size(), 0);
        for (const layout::detail::block& b : whole.blocks) {
            for (std::int32_t s = b.first; s < b.last; ++s)
                before[static_cast<std::size_t>(s)] += b.size;
        }
        for (std::size_t s = 0; s < load.size(); ++s)
            CHECK(load[s] <= std::max(whole.capacity, before[s]));
        REQUIRE(boxes.durations().size() == boxes.boxes().blocks.size());
        const auto by_block = boxes.offsets_of_blocks(offsets);
        const auto in_bytes = layout::detail::offsets_in_bytes(problem, compact, whole, by_block);
        CHECK(layout_cases::fault(problem, in_bytes) == "");
    }
    CHECK(joined > 200);
}
