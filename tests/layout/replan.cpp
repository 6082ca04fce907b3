#include <stowage/layout/replan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::status;
using hints = std::vector<std::optional<std::int64_t>>;

namespace {

void check_answer(const layout::problem& problem, const hints& previous, std::int64_t capacity,
                  const layout::replan_answer& answer) {
    CHECK(layout_cases::fault(problem, answer.offsets) == "");
    CHECK(answer.arena == layout_cases::arena(problem, answer.offsets));
    if (answer.status == status::feasible) CHECK(answer.arena <= capacity);
    std::int64_t bytes = 0;
    std::vector<std::size_t> moved;
    for (std::size_t i = 0; i < previous.size(); ++i) {
        if (!previous[i] || layout_cases::held(problem.buffers[i]).empty()) continue;
        if (answer.offsets[i] == *previous[i]) continue;
        moved.push_back(i);
        bytes += problem.buffers[i].size;
    }
    CHECK(answer.moved == moved);
    CHECK(answer.moved_bytes == bytes);
}

}  // namespace

TEST_CASE("an unchanged problem moves nothing") {
    stowage::detail::splitmix64 random(1);
    for (int round = 0; round < 50; ++round) {
        const layout::problem problem = dense_layouts::fill(60, 30, 8, random);
        const layout::solution first = layout::plan(problem, {.states = 5'000});
        const hints previous(first.offsets.begin(), first.offsets.end());
        const layout::replan_answer again = layout::replan(problem, previous, first.arena);
        CHECK(again.status == status::feasible);
        CHECK(again.offsets == first.offsets);
        CHECK(again.moved.empty());
        CHECK(again.least_moved);
    }
}

TEST_CASE("a new buffer moves few of the others") {
    stowage::detail::splitmix64 random(2);
    std::int64_t moved = 0;
    std::int64_t all = 0;
    for (int round = 0; round < 60; ++round) {
        layout::problem problem = dense_layouts::fill(60, 30, 8, random);
        const layout::solution first = layout::plan(problem, {.states = 5'000});
        hints previous(first.offsets.begin(), first.offsets.end());
        problem.buffers.push_back({.lower = 2, .upper = 5, .size = 3});
        previous.emplace_back();
        const std::int64_t capacity = layout_cases::load(problem) + 2;
        const layout::replan_answer answer = layout::replan(problem, previous, capacity);
        check_answer(problem, previous, capacity, answer);
        CHECK(answer.status == status::feasible);
        moved += answer.moved_bytes;
        for (const layout::buffer& b : problem.buffers)
            all += b.size;
    }
    CHECK(moved * 5 < all);
}

TEST_CASE("random changes with every feature: the verdict is that of brute force") {
    stowage::detail::splitmix64 random(3);
    for (int round = 0; round < 300; ++round) {
        const layout_cases::features features{.alignment = round % 2 == 0,
                                              .mixed_alignment = round % 3 == 0,
                                              .pins = round % 4 == 0,
                                              .gaps = round % 5 == 0,
                                              .empty = round % 7 == 0};
        const layout::problem problem = layout_cases::random_problem(2 + random.below(5), features, random);
        hints previous(problem.buffers.size());
        for (auto& hint : previous) {
            if (random.below(3) != 0) hint = static_cast<std::int64_t>(random.below(5) * 6) - 6;
        }
        const std::int64_t least = layout_cases::least_arena(problem);
        CAPTURE(round);
        for (const std::int64_t capacity : {least - 1, least, least + 5}) {
            const layout::replan_answer answer =
                layout::replan(problem, previous, capacity, {.states = 1'000'000});
            check_answer(problem, previous, capacity, answer);
            CHECK(answer.status == (capacity < least ? status::infeasible : status::feasible));
            if (answer.status == status::infeasible) CHECK_FALSE(answer.blame.buffers.empty());
            if (!answer.least_moved) continue;
            // Only what cannot stay has moved.
            for (const std::size_t i : answer.moved) {
                const layout::buffer& b = problem.buffers[i];
                const std::int64_t at = *previous[i];
                const bool could = at >= 0 && at + b.size <= capacity && at % b.alignment == 0 &&
                                   at % problem.alignment == 0 && b.offset.value_or(at) == at;
                CHECK_FALSE(could);
            }
        }
    }
}

TEST_CASE("old offsets of another number are an error") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 1, .size = 1}};
    CHECK_THROWS_AS(static_cast<void>(layout::replan(problem, hints{}, 10)), stowage::layout_error);
}
