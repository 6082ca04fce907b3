#include <stowage/layout/sharing.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/layout/capacity.hpp>
#include <stowage/layout/plan.hpp>

#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using layout::shared_block;
using stowage::status;

TEST_CASE("a concatenation: parts lie one after the other, and what joins them lies over them") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 3, .size = 4},   // part
                       {.lower = 1, .upper = 3, .size = 6},   // part
                       {.lower = 2, .upper = 5, .size = 10},  // both together
                       {.lower = 0, .upper = 5, .size = 3}};
    const std::vector<shared_block> blocks = {{{0, 0}, {1, 4}, {2, 0}}};
    const layout::collapsed_problem small = layout::collapse(problem, blocks);
    REQUIRE(small.problem.buffers.size() == 2);
    const layout::buffer& block = small.problem.buffers[1];
    CHECK(block.lower == 0);
    CHECK(block.upper == 5);
    CHECK(block.size == 10);
    const layout::solution answer = layout::plan(small.problem);
    CHECK(answer.status == status::optimal);
    CHECK(answer.arena == 13);
    const layout::offset_list offsets = small.expand(answer.offsets);
    REQUIRE(offsets.size() == 4);
    CHECK(offsets[1] == offsets[0] + 4);
    CHECK(offsets[2] == offsets[0]);
}

TEST_CASE("alignment is that of base + distance") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5, .alignment = 4},
                       {.lower = 0, .upper = 2, .size = 8, .alignment = 8},
                       {.lower = 1, .upper = 3, .size = 6}};
    const std::vector<shared_block> blocks = {{{0, 0}, {1, 12}}};
    const layout::collapsed_problem small = layout::collapse(problem, blocks);
    const layout::solution answer = layout::plan(small.problem);
    const layout::offset_list offsets = small.expand(answer.offsets);
    CHECK(offsets[0] % 4 == 0);
    CHECK(offsets[1] % 8 == 0);
    CHECK(offsets[1] - offsets[0] == 12);
    const std::vector<shared_block> impossible = {{{0, 0}, {1, 13}}};
    CHECK_THROWS_AS(static_cast<void>(layout::collapse(problem, impossible)), stowage::layout_error);
}

TEST_CASE("spans in which no member holds bytes stay free for others") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5},
                       {.lower = 4, .upper = 6, .size = 5},
                       {.lower = 2, .upper = 4, .size = 5}};
    const std::vector<shared_block> blocks = {{{0, 0}, {1, 0}}};
    const layout::collapsed_problem small = layout::collapse(problem, blocks);
    REQUIRE(small.problem.buffers[1].gaps.size() == 1);
    CHECK(small.problem.buffers[1].gaps[0] == layout::interval{2, 4});
    const layout::solution answer = layout::plan(small.problem);
    CHECK(answer.arena == 5);
    CHECK(answer.status == status::optimal);
    CHECK(small.expand(answer.offsets) == layout::offset_list{0, 0, 0});
}

TEST_CASE("random blocks: members keep their distances and never meet other buffers") {
    stowage::detail::splitmix64 random(1);
    for (int round = 0; round < 300; ++round) {
        const layout_cases::features features{.alignment = round % 2 == 0,
                                              .mixed_alignment = true,
                                              .gaps = round % 3 == 0,
                                              .empty = round % 5 == 0};
        const layout::problem problem = layout_cases::random_problem(6, features, random);
        std::vector<shared_block> blocks(2);
        for (std::size_t i = 0; i < 4; ++i) {
            blocks[i % 2].push_back({i, static_cast<std::int64_t>(random.below(3) * 24)});
        }
        const layout::collapsed_problem small = layout::collapse(problem, blocks);
        const layout::solution answer = layout::plan(small.problem);
        CAPTURE(round);
        CHECK(layout_cases::fault(small.problem, answer.offsets) == "");
        const layout::offset_list offsets = small.expand(answer.offsets);
        for (const shared_block& block : blocks) {
            CHECK(offsets[block[1].buffer] - offsets[block[0].buffer] ==
                  block[1].distance - block[0].distance);
        }
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const layout::buffer& a = problem.buffers[i];
            if (!a.takes_part()) continue;
            CHECK(offsets[i] % a.alignment == 0);
            for (std::size_t j = 0; j < i; ++j) {
                const layout::buffer& b = problem.buffers[j];
                const bool together = i < 4 && j < 4 && i % 2 == j % 2;
                if (together || !layout_cases::meet(a, b)) continue;
                CHECK((offsets[i] >= offsets[j] + b.size || offsets[j] >= offsets[i] + a.size));
            }
        }
    }
}

TEST_CASE("pins and pools of members hold for the block; contradictions are errors") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5, .offset = 20, .pool = 1},
                       {.lower = 0, .upper = 2, .size = 8},
                       {.lower = 1, .upper = 3, .size = 6, .offset = 21, .pool = 0}};
    problem.capacities = {100, 100};
    const layout::collapsed_problem small =
        layout::collapse(problem, std::vector<shared_block>{{{0, 8}, {1, 0}}});
    CHECK(small.problem.buffers[1].offset == 12);
    CHECK(small.problem.buffers[1].pool == 1U);
    const auto fails = [&](const shared_block& block) {
        CHECK_THROWS_AS(static_cast<void>(layout::collapse(problem, std::vector<shared_block>{block})),
                        stowage::layout_error);
    };
    fails({{0, 0}, {2, 0}});
    fails({{0, 0}, {2, 1}});
    fails({{0, 0}, {0, 1}});
    fails({{0, 0}, {7, 1}});
    fails({{1, -1}});
    fails({{0, 21}});
}

TEST_CASE("nothing is placed in a reserved range") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5}, {.lower = 1, .upper = 3, .size = 5}};
    const std::size_t reserved = layout::reserve(problem, {.offset = 4, .size = 4});
    CHECK(reserved == 2);
    const layout::solution answer = layout::plan(problem);
    CHECK(layout_cases::fault(problem, answer.offsets) == "");
    CHECK(answer.arena == 18);
    CHECK(answer.status == status::optimal);
    CHECK(layout::fit(problem, 17).status == status::infeasible);
    problem.alignment = 8;
    CHECK_THROWS_AS(layout::reserve(problem, {.offset = 4, .size = 4}), stowage::layout_error);
    CHECK_THROWS_AS(layout::reserve(problem, {.offset = -8, .size = 4}), stowage::layout_error);
}
