#include <stowage/layout/bounds.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "support/layout_contract.hpp"

namespace layout = stowage::layout;
using layout::bound_reason;

TEST_CASE("the load has a witness that adds up") {
    stowage::detail::splitmix64 random(2);
    for (const auto& features : layout_cases::feature_sets()) {
        for (int round = 0; round < 50; ++round) {
            const layout::problem problem =
                layout_cases::random_problem(1 + random.below(20), features, random);
            const layout::load_witness witness = layout::load_bound(problem);
            CHECK(witness.bytes == layout_cases::load(problem));
            std::int64_t sum = 0;
            for (const std::size_t i : witness.buffers) {
                sum += problem.buffers[i].size;
                bool held = false;
                for (const auto& span : layout_cases::held(problem.buffers[i])) {
                    held |= span.lower <= witness.time && witness.time < span.upper;
                }
                CHECK(held);
            }
            CHECK(sum == witness.bytes);
            CHECK(std::is_sorted(witness.buffers.begin(), witness.buffers.end()));
        }
    }
    CHECK(layout::load_bound({}).bytes == 0);
    CHECK(layout::load_bound({}).buffers.empty());
}

TEST_CASE("no layout of a small problem lies below the bound") {
    stowage::detail::splitmix64 random(77);
    int met = 0;
    int above_load = 0;
    int rounds = 0;
    for (const auto& features : layout_cases::feature_sets()) {
        for (int round = 0; round < 150; ++round) {
            const layout::problem problem =
                layout_cases::random_problem(2 + random.below(5), features, random);
            const layout::arena_bound bound = layout::lower_bound(problem);
            const std::int64_t least = layout_cases::least_arena(problem);
            REQUIRE(bound.bytes <= least);
            CHECK(bound.bytes >= layout_cases::load(problem));
            met += bound.bytes == least ? 1 : 0;
            above_load += bound.bytes > layout_cases::load(problem) ? 1 : 0;
            ++rounds;
        }
    }
    CHECK(met * 10 > rounds * 8);
    CHECK(above_load > 100);
}

TEST_CASE("one alignment for all: the bound is the optimum where sizes are dense") {
    stowage::detail::splitmix64 random(78);
    for (int round = 0; round < 100; ++round) {
        const layout::problem problem = layout_cases::random_problem(5, {.alignment = true}, random);
        const layout::arena_bound bound = layout::lower_bound(problem);
        if (bound.reason != bound_reason::alignment) continue;
        std::int64_t rounded = 0;
        std::int64_t largest_pad = 0;
        for (const std::size_t i : bound.buffers) {
            const std::int64_t size = problem.buffers[i].size;
            const std::int64_t up = (size + bound.step - 1) / bound.step * bound.step;
            rounded += up;
            largest_pad = std::max(largest_pad, up - size);
            CHECK(problem.alignment % bound.step == 0);
        }
        CHECK(bound.bytes == rounded - largest_pad);
    }
}

TEST_CASE("the rounded load is no lower bound unless the arena is rounded too") {
    layout::problem problem;
    problem.alignment = 64;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 64}, {.lower = 1, .upper = 3, .size = 1}};
    const layout::arena_bound bound = layout::lower_bound(problem);
    CHECK(bound.bytes == 65);
    CHECK(bound.reason == bound_reason::load);
    problem.buffers[0].size = 63;
    CHECK(layout::lower_bound(problem).bytes == 65);
    CHECK(layout::lower_bound(problem).reason == bound_reason::alignment);
    CHECK(layout::lower_bound(problem).step == 64);
    CHECK(layout::lower_bound(problem).time == 1);
    CHECK(layout::lower_bound(problem).buffers == std::vector<std::size_t>{0, 1});
}

TEST_CASE("those with an alignment of their own are bounded among themselves") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 3, .alignment = 32},
                       {.lower = 0, .upper = 2, .size = 3, .alignment = 64},
                       {.lower = 0, .upper = 2, .size = 3, .alignment = 32},
                       {.lower = 0, .upper = 2, .size = 1}};
    const layout::arena_bound bound = layout::lower_bound(problem);
    CHECK(bound.bytes == 67);
    CHECK(bound.step == 32);
    CHECK(bound.buffers == std::vector<std::size_t>{0, 1, 2});
    CHECK(layout_cases::least_arena(problem) == 67);
}

TEST_CASE("a pin bounds the arena") {
    layout::problem problem;
    problem.buffers = {{.lower = 5, .upper = 6, .size = 3, .offset = 40},
                       {.lower = 0, .upper = 2, .size = 9}};
    const layout::arena_bound bound = layout::lower_bound(problem);
    CHECK(bound.bytes == 43);
    CHECK(bound.reason == bound_reason::pin);
    CHECK(bound.buffers == std::vector<std::size_t>{0});
    CHECK(bound.time == 5);
    problem.buffers[0].offset = std::numeric_limits<std::int64_t>::max() - 2;
    CHECK_THROWS_AS(static_cast<void>(layout::lower_bound(problem)), stowage::overflow_error);
}

TEST_CASE("sums of rounded sizes do not wrap") {
    layout::problem problem;
    problem.alignment = std::int64_t{1} << 62;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 1},
                       {.lower = 0, .upper = 2, .size = 1},
                       {.lower = 0, .upper = 2, .size = 1}};
    CHECK(layout::lower_bound(problem).bytes == std::numeric_limits<std::int64_t>::max());
}
