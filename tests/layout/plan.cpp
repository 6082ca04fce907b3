#include <stowage/layout/plan.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <string>

#include <doctest/doctest.h>

#include "support/layout_contract.hpp"

namespace layout = stowage::layout;
using layout::placement_order;
using stowage::status;

namespace {

layout::problem given(const std::string& name) {
    return layout_cases::read_csv(std::string(STOWAGE_TEST_DATA) + "/cases/" + name + ".csv");
}

}  // namespace

TEST_CASE("a plan is valid, bounded, and optimal only where brute force agrees") {
    stowage::detail::splitmix64 random(91);
    int optimal = 0;
    for (const auto& features : layout_cases::feature_sets()) {
        for (int round = 0; round < 60; ++round) {
            const layout::problem problem =
                layout_cases::random_problem(1 + random.below(6), features, random);
            const layout::solution plan = layout::plan(problem, {.states = 2000});
            REQUIRE(layout_cases::fault(problem, plan.offsets) == "");
            const std::int64_t least = layout_cases::least_arena(problem);
            CHECK(plan.arena == layout_cases::arena(problem, plan.offsets));
            CHECK(plan.load == layout_cases::load(problem));
            CHECK(plan.load <= plan.lower_bound);
            CHECK(plan.lower_bound <= least);
            CHECK(least <= plan.arena);
            CHECK((plan.status == status::optimal) == (plan.arena == plan.lower_bound));
            optimal += plan.status == status::optimal ? 1 : 0;
        }
    }
    CHECK(optimal > 250);
}

TEST_CASE("the layout cases with a known answer") {
    struct known {
        const char* name;
        std::int64_t arena;
        std::int64_t load;
    };
    for (const known& known :
         {known{"gap-below-the-first-live-buffer", 125, 125}, known{"buffer-larger-than-capacity", 330, 330},
          known{"sizes-beyond-32-bits", 25769807872, 25769807872},
          known{"size-2-to-63-minus-1", std::numeric_limits<std::int64_t>::max(),
                std::numeric_limits<std::int64_t>::max()},
          known{"alignment-not-a-power-of-two", 16, 16}, known{"first-heuristic-does-not-fit", 1024, 1024},
          known{"who-is-to-blame", 115, 115}, known{"lifetimes-that-touch", 128, 128},
          known{"times-to-2-to-63", 21, 21}}) {
        CAPTURE(known.name);
        const layout::problem problem = given(known.name);
        const layout::solution plan = layout::plan(problem);
        CHECK(layout_cases::fault(problem, plan.offsets) == "");
        CHECK(plan.arena == known.arena);
        CHECK(plan.load == known.load);
        if (plan.load == plan.arena) CHECK(plan.status == status::optimal);
    }
}

TEST_CASE("the layout cases that are hard: honest where the optimum is not met") {
    const layout::problem mixed = given("alignment-decides-the-optimum");
    const layout::solution aligned = layout::plan(mixed);
    CHECK(layout_cases::fault(mixed, aligned.offsets) == "");
    CHECK(aligned.arena == 81);
    CHECK(aligned.load == 70);
    CHECK(aligned.lower_bound <= 81);
    const layout::problem tight = given("sixty-buffers-without-slack");
    const layout::solution plan = layout::plan(tight);
    CHECK(layout_cases::fault(tight, plan.offsets) == "");
    CHECK(plan.lower_bound == 4099);
    CHECK((plan.status == status::optimal) == (plan.arena == 4099));
    CHECK(layout::plan(tight).offsets == plan.offsets);
}

TEST_CASE("the layout cases that are wrong are refused by name") {
    CHECK_THROWS_WITH_AS(static_cast<void>(layout::plan(given("alignment-zero"))), doctest::Contains("(b)"),
                         stowage::layout_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(layout::plan(given("lifetime-ends-before-it-begins"))),
                         doctest::Contains("(back)"), stowage::layout_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(layout::plan(given("sum-passes-2-to-63"))),
                         doctest::Contains("(x)"), stowage::overflow_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(layout::plan(given("sum-passes-2-to-63"))),
                         doctest::Contains("(y)"), stowage::overflow_error);
}

TEST_CASE("without anything to spend there is still a valid answer") {
    stowage::detail::splitmix64 random(92);
    std::stop_source stopped;
    stopped.request_stop();
    for (const auto& features : layout_cases::feature_sets()) {
        const layout::problem problem = layout_cases::random_problem(80, features, random);
        const layout::first_fit first{};
        for (const stowage::search_limits& limits :
             {stowage::search_limits{.time = std::chrono::nanoseconds{0}},
              stowage::search_limits{.stop = stopped.get_token()}}) {
            const layout::solution plan = layout::plan(problem, limits);
            CHECK(layout_cases::fault(problem, plan.offsets) == "");
            CHECK(plan.found_by == "first_fit by birth");
            // With a clock gaps are taken as closed, unless something is pinned.
            if (!limits.time || !features.gaps || features.pins) CHECK(plan.offsets == first(problem));
        }
        stowage::budget none({.states = 0});
        CHECK(layout::plan(problem, layout::default_portfolio(), none).offsets == first(problem));
    }
}

TEST_CASE("the same limits give the same plan, and more never a worse one") {
    stowage::detail::splitmix64 random(93);
    for (int round = 0; round < 10; ++round) {
        const layout::problem problem =
            layout_cases::random_problem(70, {.mixed_alignment = round % 2 == 0}, random);
        std::int64_t before = std::numeric_limits<std::int64_t>::max();
        for (const std::uint64_t states : {100U, 1000U, 10000U}) {
            const layout::solution plan = layout::plan(problem, {.states = states});
            CHECK(layout::plan(problem, {.states = states}).offsets == plan.offsets);
            CHECK(plan.arena <= before);
            before = plan.arena;
        }
    }
}

TEST_CASE("each pool is laid out by itself") {
    layout::problem problem;
    problem.capacities = {100, 100};
    problem.buffers = {{.lower = 0, .upper = 2, .size = 30, .pool = 0},
                       {.lower = 0, .upper = 2, .size = 40, .pool = 1},
                       {.lower = 1, .upper = 3, .size = 5, .pool = 1},
                       {.lower = 9, .upper = 9, .size = 5}};
    layout::solution plan = layout::plan(problem);
    CHECK(plan.arena == 45);
    CHECK(plan.load == 45);
    CHECK(plan.status == status::optimal);
    problem.buffers.push_back({.lower = 0, .upper = 1, .size = 50});
    plan = layout::plan(problem);
    CHECK(plan.arena == 80);
    CHECK(plan.lower_bound == 45);
    CHECK(plan.status == status::feasible);
    problem.buffers.back().pool = 2;
    CHECK_THROWS_AS(static_cast<void>(layout::plan(problem)), stowage::layout_error);
}

TEST_CASE("within a budget of time the sure first layout stays where a policy makes nothing better") {
    layout::problem problem;
    for (std::int64_t i = 0; i < 50; ++i)
        problem.buffers.push_back({.lower = i, .upper = i + 2, .size = 8, .alignment = i % 2 == 0 ? 8 : 4});
    const auto stack = [](const layout::problem& whole) {
        layout::offset_list offsets;
        for (const layout::buffer& b : whole.buffers)
            offsets.push_back(offsets.empty() ? 0 : offsets.back() + b.size);
        return offsets;
    };
    CHECK(layout::plan(problem, stack).arena == 400);
    const layout::solution timed = layout::plan(problem, stack, {.time = std::chrono::seconds(10)});
    CHECK(timed.arena == 16);
    CHECK(timed.found_by == "first_fit by birth");
    CHECK(timed.status == status::optimal);
}

TEST_CASE("a user's own policy can be planned with") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 3}, {.lower = 0, .upper = 2, .size = 4}};
    const layout::solution plan = layout::plan(problem, [](const layout::problem&) {
        return layout::offset_list{4, 0};
    });
    CHECK(plan.offsets == layout::offset_list{4, 0});
    CHECK(plan.status == status::optimal);
    CHECK(plan.found_by == "unnamed policy");
}

TEST_CASE("public layout problems: known answers, and never behind the baselines") {
    const auto files = layout_cases::public_files(STOWAGE_SHARED);
    if (files.empty()) {
        MESSAGE("skipped: the public layout problems are not at hand");
        return;
    }
    for (const auto& file : files) {
        const std::string name = file.stem().string();
        CAPTURE(name);
        const layout::problem problem = layout_cases::read_csv(file.string());
        const layout::solution plan = layout::plan(problem, {.states = 60'000});
        if (problem.buffers.size() < 2000) CHECK(layout_cases::fault(problem, plan.offsets) == "");
        CHECK(plan.arena >= plan.load);
        const std::array at_load = {
            "resnet50",           "G_1",     "iopddl-L", "iopddl-A", "executorch-resnet50", "tvm-googlenet",
            "litert-densenet121", "input.12"};
        if (std::find(at_load.begin(), at_load.end(), name) != at_load.end())
            CHECK(plan.status == status::optimal);
        if (plan.status == status::optimal) continue;
        for (const layout::offset_list& offsets : {layout::first_fit{}(problem), layout::best_fit{}(problem),
                                                   layout::llfb{}(problem), layout::llfb_fit{}(problem)}) {
            CHECK(plan.arena <= layout::arena_of(problem, offsets));
        }
    }
}

namespace {

/// A user's policy that puts every buffer at one address.
struct all_at {
    std::int64_t offset = 0;
    stowage::layout::offset_list operator()(const layout::problem& problem) const {
        return stowage::layout::offset_list(problem.buffers.size(), offset);
    }
    [[nodiscard]] std::string name() const { return "all_at"; }
};

}  // namespace

TEST_CASE("a user's policy whose layout is wrong is refused by name, alone and in a portfolio") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 4, .size = 100}, {.lower = 2, .upper = 6, .size = 200}};
    const std::int64_t top = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{-7}, top}) {
        CHECK_THROWS_WITH_AS(static_cast<void>(layout::plan(problem, all_at{offset})),
                             doctest::Contains("all_at"), stowage::layout_error);
    }
    CHECK_THROWS_WITH_AS(
        static_cast<void>(layout::plan(problem, layout::portfolio{all_at{0}, layout::skylines{}})),
        doctest::Contains("share"), stowage::layout_error);
    problem.buffers[1].lower = 4;
    CHECK(layout::plan(problem, all_at{0}).arena == 200);
    problem.alignment = 64;
    CHECK_THROWS_WITH_AS(static_cast<void>(layout::plan(problem, all_at{32})), doctest::Contains("multiple"),
                         stowage::layout_error);
}

TEST_CASE("a pin keeps its alignment although gaps cover the lifetime whole") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 4, .size = 3, .alignment = 8, .offset = 12, .gaps = {{0, 4}}}};
    CHECK_THROWS_AS(static_cast<void>(layout::plan(problem)), stowage::layout_error);
    problem.buffers[0].offset = 16;
    CHECK(layout::plan(problem).offsets == layout::offset_list{16});
}
