#include <stowage/layout/exact.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/layout/plan.hpp>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"
#include "support/rounds.hpp"

namespace layout = stowage::layout;
using stowage::status;

TEST_CASE("claims of optimality agree with brute force, each feature and option on and off") {
    stowage::detail::splitmix64 random(1);
    const std::vector<layout_cases::features> kinds = {
        {},
        {.alignment = true},
        {.mixed_alignment = true},
        {.pins = true},
        {.gaps = true},
        {.alignment = true, .mixed_alignment = true, .pins = true, .gaps = true, .empty = true},
    };
    const std::vector<layout::exact> policies = {
        {}, {{.small = 0}}, {{.middling = 0}}, {{.keys = false}}, {{.between = false}}, {{.canonical = 0}}};
    for (int round = 0; round < stowage::test::rounds(600); ++round) {
        const auto& features = kinds[static_cast<std::size_t>(round) % kinds.size()];
        const layout::problem problem = layout_cases::random_problem(2 + random.below(5), features, random);
        const std::int64_t least = layout_cases::least_arena(problem);
        const layout::exact& policy =
            policies[static_cast<std::size_t>(round) / kinds.size() % policies.size()];
        CAPTURE(round);
        const layout::solution answer = layout::plan(problem, policy, {.states = 20'000});
        CHECK(layout_cases::fault(problem, answer.offsets) == "");
        CHECK(answer.arena >= least);
        CHECK(answer.lower_bound <= least);
        if (answer.status == status::optimal) CHECK(answer.arena == least);
        if (policy.options.canonical > 0 && policy.options.middling > 0)
            CHECK(answer.status == status::optimal);
    }
}

TEST_CASE("dense fills are proven, above the load too") {
    stowage::detail::splitmix64 random(2);
    int above = 0;
    for (int round = 0; round < stowage::test::rounds(1500); ++round) {
        const layout::problem problem = dense_layouts::fill(10 + random.below(12), 12, 8, random);
        const layout::solution answer = layout::plan(problem, layout::exact{}, {.states = 1'000'000});
        CHECK(layout_cases::fault(problem, answer.offsets) == "");
        CHECK(answer.status == status::optimal);
        if (answer.arena > answer.load) ++above;
        stowage::budget account({.states = 1'000'000});
        const layout::decision below = layout::branch_and_bound{}.decide(problem, answer.arena - 1, account);
        CHECK(below.status == status::infeasible);
    }
    CHECK(above > 0);
}

TEST_CASE("only layouts below the target are worth having") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5}, {.lower = 1, .upper = 3, .size = 8}};
    stowage::budget account;
    layout::context context{.account = account, .lower_bound = 13, .target = 13};
    CHECK(layout::exact{}(problem, context).empty());
    context.target = 14;
    CHECK(layout::exact{}(problem, context).size() == 2);
    problem.capacities = {20, 20};
    CHECK(layout::exact{}(problem, context).empty());
}

TEST_CASE("public problems at their load, the same every time") {
    const std::string shared = STOWAGE_SHARED;
    if (shared.empty()) return;
    for (const char* name : {"A", "B", "C", "D", "E", "F", "G", "H"}) {
        const layout::problem problem =
            layout_cases::read_csv(shared + "/layout/" + std::string(name) + ".1048576.csv");
        const layout::solution answer = layout::plan(problem, layout::exact{}, {.states = 500'000});
        CAPTURE(name);
        CHECK(layout_cases::fault(problem, answer.offsets) == "");
        CHECK(answer.status == status::optimal);
        CHECK(answer.arena == answer.load);
        CHECK(layout::plan(problem, layout::exact{}, {.states = 500'000}).offsets == answer.offsets);
    }
}

TEST_CASE(
    "more buffers with gaps or alignments of their own than the branch and bound takes, at their load") {
    const std::string shared = STOWAGE_SHARED;
    if (shared.empty()) return;
    for (const char* name : {"D", "E", "H"}) {
        layout::problem problem =
            layout_cases::read_csv(shared + "/layout/" + std::string(name) + ".1048576.csv");
        const bool gaps = std::string(name) == "D";
        for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
            layout::buffer& b = problem.buffers[i];
            if (i % 3 == 0) b.alignment = 512;
            if (i % 3 == 1) b.alignment = 1024;
            if (gaps && i % 50 == 0 && b.upper - b.lower > 3) b.gaps.push_back({b.lower + 1, b.lower + 2});
        }
        const layout::exact without{{.common_alignment = 0}};
        const layout::solution before = layout::plan(problem, without, {.states = 100'000});
        const layout::solution after = layout::plan(problem, layout::exact{}, {.states = 200'000});
        CAPTURE(std::string(name));
        CHECK(layout_cases::fault(problem, before.offsets) == "");
        CHECK(layout_cases::fault(problem, after.offsets) == "");
        CHECK(after.arena <= before.arena);
        CHECK(after.lower_bound == after.load);
        CHECK(after.status == status::optimal);
    }
}

TEST_CASE("more than 200 buffers, some pinned where a layout at the load has them, are met at the load") {
    const std::string shared = STOWAGE_SHARED;
    if (shared.empty()) return;
    for (const char* name : {"E", "K"}) {
        layout::problem problem =
            layout_cases::read_csv(shared + "/layout/" + std::string(name) + ".1048576.csv");
        const layout::solution known = layout::plan(problem, {.states = 500'000});
        REQUIRE(known.status == status::optimal);
        stowage::detail::splitmix64 random(77);
        for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
            if (random.uniform() < 0.2) problem.buffers[i].offset = known.offsets[i];
        }
        const layout::solution answer = layout::plan(problem, {.states = 300'000});
        CAPTURE(std::string(name));
        CHECK(layout_cases::fault(problem, answer.offsets) == "");
        CHECK(answer.status == status::optimal);
        CHECK(answer.arena == answer.load);
    }
}
