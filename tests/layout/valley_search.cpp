#include <stowage/layout/valley_search.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/layout/branch_and_bound.hpp>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::budget;
using stowage::status;

namespace {

/// All rules, each rule off, none.
std::vector<layout::valley_rules> rule_sets() {
    using layout::valley_rules;
    std::vector<valley_rules> sets = {
        {},
        {.bound = false},
        {.memo = false},
        {.symmetry = false},
        {.span = false},
        {.decompose = false},
        {.pivot = layout::pivot_rule::lowest_fewest},
        {.pivot = layout::pivot_rule::fewest_narrowest},
        {.bound = false, .memo = false, .symmetry = false, .span = false, .decompose = false},
    };
    return sets;
}

layout::decision decide(const layout::problem& problem, std::int64_t capacity,
                        const layout::valley_rules& rules, std::uint64_t seed = 1,
                        std::uint64_t states = 50'000'000) {
    budget account({.states = states});
    const layout::valley_search search{.options = {.rules = rules, .vary = false}};
    layout::decision answer = search.decide(problem, capacity, account, seed);
    if (answer.status == status::feasible) {
        CHECK(layout_cases::fault(problem, answer.offsets) == "");
        CHECK(layout_cases::arena(problem, answer.offsets) <= capacity);
    } else {
        CHECK(answer.offsets.empty());
    }
    return answer;
}

}  // namespace

TEST_CASE("the least capacity of random small problems, each rule on and off, with a common alignment") {
    stowage::detail::splitmix64 random(1);
    const auto sets = rule_sets();
    for (int round = 0; round < 300; ++round) {
        const layout_cases::features features{.alignment = round % 2 == 1, .empty = round % 3 == 0};
        const layout::problem problem = layout_cases::random_problem(2 + random.below(6), features, random);
        const std::int64_t least = layout_cases::least_arena(problem);
        for (std::size_t k = 0; k < sets.size(); ++k) {
            CAPTURE(round);
            CAPTURE(k);
            CHECK(decide(problem, least, sets[k]).status == status::feasible);
            CHECK(decide(problem, least - 1, sets[k]).status == status::infeasible);
        }
    }
}

TEST_CASE(
    "pins and alignments of their own: the least capacity, each rule on and off; gaps: no false answer") {
    stowage::detail::splitmix64 random(11);
    const auto sets = rule_sets();
    int open = 0;
    int found = 0;
    for (int round = 0; round < 60; ++round) {
        const layout_cases::features features{.alignment = random.below(2) == 1,
                                              .mixed_alignment = random.below(2) == 0,
                                              .pins = random.below(3) != 0,
                                              .gaps = round % 3 == 2,
                                              .empty = random.below(3) == 0};
        const layout::problem problem = layout_cases::random_problem(2 + random.below(6), features, random);
        const std::int64_t least = layout_cases::least_arena(problem);
        for (std::size_t k = 0; k < sets.size(); ++k) {
            CAPTURE(round);
            CAPTURE(k);
            // High pins leave so much slack that without any rule the search does not end.
            const std::uint64_t states = features.gaps || k + 1 == sets.size() ? 500 : 1'000'000;
            const status yes = decide(problem, least, sets[k], 1, states).status;
            const status no = decide(problem, least - 1, sets[k], 1, states).status;
            CHECK(yes != status::infeasible);
            CHECK(no != status::feasible);
            (yes == status::feasible ? found : open) += 1;
            if (states > 500) {
                CHECK(yes == status::feasible);
                CHECK(no == status::infeasible);
            }
        }
    }
    CHECK(found > 20 * open);
}

TEST_CASE("dense fills with pins, some moved so that nothing fits, each rule on and off") {
    stowage::detail::splitmix64 random(12);
    const auto sets = rule_sets();
    int refuted = 0;
    for (int round = 0; round < 200; ++round) {
        layout::problem problem =
            dense_layouts::fill(8 + random.below(12), static_cast<std::int64_t>(4 + random.below(20)),
                                static_cast<std::int64_t>(2 + random.below(12)), random);
        if (round % 4 == 3) problem.alignment = static_cast<std::int64_t>(1 + random.below(4));
        const std::int64_t capacity =
            layout_cases::load(problem) +
            (problem.alignment > 1 ? static_cast<std::int64_t>(random.below(8)) : 0);
        budget account({.states = 20'000});
        const layout::decision known = layout::branch_and_bound{}.decide(problem, capacity, account);
        if (known.status != status::feasible) continue;
        for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
            if (random.below(4) == 0) problem.buffers[i].offset = known.offsets[i];
        }
        for (layout::buffer& b : problem.buffers) {
            if (!b.offset && random.below(8) == 0) b.upper += 1;
        }
        budget again({.states = 20'000});
        const status expected = layout::branch_and_bound{}.decide(problem, capacity, again).status;
        CAPTURE(round);
        for (std::size_t k = 0; k < sets.size(); ++k) {
            CAPTURE(k);
            const status answer = decide(problem, capacity, sets[k], 1, 2'000).status;
            if (answer != status::unknown && expected != status::unknown) CHECK(answer == expected);
            if (k == 0 && answer == status::infeasible) ++refuted;
        }
    }
    CHECK(refuted >= 5);
}

TEST_CASE("dense fills at the load, where many have no layout, each rule on and off") {
    stowage::detail::splitmix64 random(2);
    const auto sets = rule_sets();
    std::vector<std::uint64_t> nodes(sets.size(), 0);
    int refuted = 0;
    for (int round = 0; round < 2500; ++round) {
        const auto largest = static_cast<std::int64_t>(2 + random.below(12));
        layout::problem problem =
            dense_layouts::fill(8 + random.below(round % 50 == 0 ? 23 : 10),
                                static_cast<std::int64_t>(4 + random.below(20)), largest, random);
        if (round % 4 == 3) problem.alignment = static_cast<std::int64_t>(1 + random.below(4));
        CAPTURE(round);
        budget account({.states = 100'000});
        std::int64_t capacity = layout_cases::load(problem);
        if (problem.alignment > 1) capacity += static_cast<std::int64_t>(random.below(8));
        const status expected = layout::branch_and_bound{}.decide(problem, capacity, account).status;
        const layout::decision first = decide(problem, capacity, sets[0]);
        CHECK(first.status != status::unknown);
        if (expected != status::unknown) CHECK(first.status == expected);
        if (first.status == status::infeasible) ++refuted;
        if (first.status != status::infeasible && round % 20 != 0) continue;
        for (std::size_t k = 0; k < sets.size(); ++k) {
            CAPTURE(k);
            const layout::decision answer = decide(problem, capacity, sets[k], 1 + random.below(1000));
            CHECK(answer.status == first.status);
            if (answer.status == status::infeasible) nodes[k] += answer.nodes;
        }
    }
    CHECK(refuted >= 10);
    for (std::size_t k = 1; k <= 5; ++k) {
        CAPTURE(k);
        CHECK(nodes[0] <= nodes[k]);  // each rule saves nodes where there is no layout
    }
}

TEST_CASE("as a policy it meets the bound, or raises it") {
    stowage::detail::splitmix64 random(3);
    int raised = 0;
    for (int round = 0; round < 3000; ++round) {
        const layout::problem problem = dense_layouts::fill(14, 12, 8, random);
        budget account({.states = 10'000'000});
        layout::context context{.account = account, .lower_bound = layout_cases::load(problem)};
        const layout::offset_list offsets = layout::valley_search{}(problem, context);
        CHECK(layout_cases::fault(problem, offsets) == "");
        CHECK(layout_cases::arena(problem, offsets) == context.lower_bound);
        if (context.lower_bound > layout_cases::load(problem)) ++raised;
    }
    CHECK(raised > 0);
}

TEST_CASE("one seed, one answer; a limit ends without a claim") {
    stowage::detail::splitmix64 random(4);
    const layout::problem problem = dense_layouts::fill(200, 60, 20, random);
    const std::int64_t load = layout_cases::load(problem);
    budget first({.states = 3000});
    budget second({.states = 3000});
    const layout::decision a = layout::valley_search{}.decide(problem, load, first, 9);
    const layout::decision b = layout::valley_search{}.decide(problem, load, second, 9);
    CHECK(a.status == b.status);
    CHECK(a.offsets == b.offsets);
    CHECK(a.nodes == b.nodes);
    budget tiny({.states = 1});
    CHECK(layout::valley_search{}.decide(problem, load, tiny).status == status::unknown);
}

TEST_CASE("sizes up to 2^63 - 1 do not wrap") {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = largest / 2},
                       {.lower = 1, .upper = 3, .size = largest / 2 + 1},
                       {.lower = 2, .upper = 4, .size = largest / 2}};
    CHECK(decide(problem, largest, {}).status == status::feasible);
    CHECK(decide(problem, largest - 1, {}).status == status::infeasible);
    problem.alignment = 4096;  // the padding of the topmost buffer is cut off
    CHECK(decide(problem, largest, {}).status == status::feasible);
    constexpr std::int64_t half = largest / 2 + 1;  // 2^62
    problem.buffers[0].size = problem.buffers[2].size = half + 4094;
    problem.buffers[1].size = half - 4095;
    CHECK(decide(problem, largest, {}).status == status::infeasible);
}

TEST_CASE("nothing to place, and problems that are not for it") {
    layout::problem problem;
    CHECK(decide(problem, 0, {}).status == status::feasible);
    CHECK(decide(problem, -1, {}).status == status::infeasible);
    problem.buffers = {{.lower = 0, .upper = 2, .size = 3}, {.lower = 1, .upper = 3, .size = 3}};
    CHECK(decide(problem, -1, {}).status == status::infeasible);
    CHECK(decide(problem, 6, {}).status == status::feasible);
    problem.buffers[0].offset = 1;
    CHECK(decide(problem, 6, {}).status == status::infeasible);
    CHECK(decide(problem, 7, {}).status == status::feasible);
    problem.buffers[1].offset = 2;  // they meet
    CHECK(decide(problem, 9, {}).status == status::infeasible);
    problem.buffers[0].offset.reset();
    problem.buffers[1].offset.reset();
    problem.buffers[1].alignment = 2;
    CHECK(decide(problem, 6, {}).status == status::feasible);
    problem.buffers[0].alignment = 4;
    CHECK(decide(problem, 6, {}).status == status::infeasible);
    CHECK(decide(problem, 7, {}).status == status::feasible);
    problem.buffers[0].alignment = problem.buffers[1].alignment = 1;
    problem.buffers.push_back({.lower = 0, .upper = 3, .size = 1, .gaps = {{1, 2}}});
    CHECK(decide(problem, 7, {}).status == status::feasible);
    CHECK(decide(problem, 5, {}).status == status::infeasible);
    problem.buffers.resize(2);
    problem.capacities = {5, 5};
    CHECK(decide(problem, 9, {}).status == status::unknown);
    budget account;
    CHECK(layout::valley_search{.options = {.width_limit = 1}}.decide(problem, 9, account).status ==
          status::unknown);
}

TEST_CASE("public problems at their load") {
    const std::string folder = std::string(STOWAGE_SHARED) + "/layout/";
    if (std::string(STOWAGE_SHARED).empty()) return;
    for (const char* name :
         {"A.1048576.csv", "B.1048576.csv", "C.1048576.csv", "F.1048576.csv", "G.1048576.csv",
          "H.1048576.csv", "tvm-deep_speech.csv", "litert-densenet121.csv"}) {
        const layout::problem problem = layout_cases::read_csv(folder + name);
        budget account({.states = 100'000});
        layout::context context{.account = account, .lower_bound = layout_cases::load(problem)};
        const layout::offset_list offsets = layout::valley_search{}(problem, context);
        CAPTURE(name);
        REQUIRE(offsets.size() == problem.buffers.size());
        CHECK(layout_cases::fault(problem, offsets) == "");
        CHECK(layout_cases::arena(problem, offsets) == context.lower_bound);
        CHECK(context.lower_bound == layout_cases::load(problem));
    }
}
