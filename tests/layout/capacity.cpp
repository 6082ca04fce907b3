#include <stowage/layout/capacity.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::status;

namespace {

const stowage::search_limits generous{.states = 3'000'000};

layout::problem part(const layout::problem& whole, const std::vector<std::size_t>& buffers) {
    layout::problem result;
    result.alignment = whole.alignment;
    for (const std::size_t i : buffers)
        result.buffers.push_back(whole.buffers[i]);
    return result;
}

/// The blamed buffers do not fit, and fit without any one of them.
void check_blame(const layout::problem& problem, const layout::blame_set& blame, std::int64_t capacity,
                 bool expect_minimal = true) {
    REQUIRE_FALSE(blame.buffers.empty());
    CHECK(std::is_sorted(blame.buffers.begin(), blame.buffers.end()));
    CHECK(layout_cases::least_arena(part(problem, blame.buffers)) > capacity);
    if (expect_minimal) CHECK(blame.minimal);
    if (!blame.minimal) return;
    for (std::size_t k = 0; k < blame.buffers.size(); ++k) {
        std::vector<std::size_t> rest = blame.buffers;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
        CHECK(layout_cases::least_arena(part(problem, rest)) <= capacity);
    }
}

}  // namespace

TEST_CASE("random small problems with each feature: the verdict, the layout, the blame") {
    stowage::detail::splitmix64 random(1);
    const std::vector<layout_cases::features> kinds = {
        {},
        {.alignment = true},
        {.mixed_alignment = true},
        {.pins = true},
        {.gaps = true},
        {.alignment = true, .mixed_alignment = true, .pins = true, .gaps = true, .empty = true},
    };
    for (int round = 0; round < 400; ++round) {
        const auto& features = kinds[static_cast<std::size_t>(round) % kinds.size()];
        const layout::problem problem = layout_cases::random_problem(2 + random.below(5), features, random);
        CAPTURE(round);
        const std::int64_t least = layout_cases::least_arena(problem);
        const layout::capacity_answer fits = layout::fit(problem, least, generous);
        CHECK(fits.status == status::feasible);
        CHECK(layout_cases::fault(problem, fits.offsets) == "");
        CHECK(fits.least_capacity <= least);
        CHECK(fits.lower_bound <= least);
        CHECK(fits.blame.buffers.empty());
        if (least == 0) continue;
        const auto capacity = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(least)));
        for (const std::int64_t smaller : {least - 1, capacity}) {
            const layout::capacity_answer fails = layout::fit(problem, smaller, generous);
            CHECK(fails.status == status::infeasible);
            CHECK(layout_cases::fault(problem, fails.offsets) == "");
            CHECK(layout_cases::arena(problem, fails.offsets) == fails.least_capacity);
            CHECK(fails.least_capacity >= least);
            CHECK(fails.lower_bound > smaller);
            CHECK(fails.lower_bound <= least);
            check_blame(problem, fails.blame, smaller);
        }
    }
}

TEST_CASE("dense fills that do not fit at their load are blamed on fewer buffers than all") {
    stowage::detail::splitmix64 random(2);
    int refuted = 0;
    std::size_t blamed = 0;
    std::size_t all = 0;
    for (int round = 0; round < 3000 && refuted < 12; ++round) {
        const layout::problem problem = dense_layouts::fill(14 + random.below(16), 12, 8, random);
        const std::int64_t load = layout_cases::load(problem);
        stowage::budget account({.states = 1'000'000});
        if (layout::detail::decide_exactly(problem, load, account).status != status::infeasible) continue;
        ++refuted;
        const layout::capacity_answer answer = layout::fit(problem, load, generous);
        CHECK(answer.status == status::infeasible);
        CHECK(answer.lower_bound > load);
        CHECK(answer.blame.minimal);
        blamed += answer.blame.buffers.size();
        all += problem.buffers.size();
        stowage::budget other({.states = 1'000'000});
        CHECK(layout::detail::decide_exactly(part(problem, answer.blame.buffers), load, other).status ==
              status::infeasible);
        for (std::size_t k = 0; k < answer.blame.buffers.size(); ++k) {
            std::vector<std::size_t> rest = answer.blame.buffers;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
            CHECK(layout::detail::decide_exactly(part(problem, rest), load, other).status ==
                  status::feasible);
        }
        CHECK(answer.least_capacity == answer.lower_bound);
    }
    CHECK(refuted >= 5);
    CHECK(blamed < all);
}

TEST_CASE("limits leave the question open, but give a layout") {
    stowage::detail::splitmix64 random(3);
    const layout::problem problem = dense_layouts::fill(400, 90, 40, random);
    const std::int64_t load = layout_cases::load(problem);
    const layout::capacity_answer answer = layout::fit(problem, load, {.states = 100});
    CHECK(answer.status == status::unknown);
    CHECK(layout_cases::fault(problem, answer.offsets) == "");
    CHECK(answer.least_capacity > load);
    CHECK(answer.lower_bound == load);
}

TEST_CASE("a pin beyond the capacity, a clique with paddings, nothing at all") {
    layout::problem problem;
    CHECK(layout::fit(problem, 0).status == status::feasible);
    CHECK(layout::fit(problem, 0).least_capacity == 0);
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5, .offset = 16},
                       {.lower = 1, .upper = 3, .size = 4}};
    const layout::capacity_answer pinned = layout::fit(problem, 20);
    CHECK(pinned.status == status::infeasible);
    CHECK(pinned.blame.buffers == std::vector<std::size_t>{0});
    CHECK(pinned.blame.minimal);
    CHECK(pinned.least_capacity == 21);
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5},
                       {.lower = 1, .upper = 3, .size = 8},
                       {.lower = 1, .upper = 2, .size = 1}};
    problem.alignment = 8;
    CHECK(layout::fit(problem, 17).status == status::feasible);
    const layout::capacity_answer padded = layout::fit(problem, 16);
    CHECK(padded.status == status::infeasible);
    check_blame(problem, padded.blame, 16);
    const layout::capacity_answer lower = layout::fit(problem, 12);
    CHECK(lower.status == status::infeasible);
    CHECK(lower.blame.buffers == std::vector<std::size_t>{0, 1});
    CHECK(layout::fit(problem, -1).status == status::infeasible);
}

TEST_CASE("bad problems are errors") {
    layout::problem problem;
    problem.buffers = {{.lower = 3, .upper = 2, .size = 5}};
    CHECK_THROWS_AS(static_cast<void>(layout::fit(problem, 10)), stowage::layout_error);
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    problem.buffers = {{.lower = 0, .upper = 2, .size = largest}, {.lower = 0, .upper = 2, .size = 1}};
    CHECK_THROWS_AS(static_cast<void>(layout::fit(problem, 10)), stowage::overflow_error);
}
