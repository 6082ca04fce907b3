#include <stowage/layout/branch_and_bound.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::budget;
using stowage::status;

namespace {

const layout::branch_and_bound all_rules{};
const layout::branch_and_bound no_bound{.options = {.rules = {.bound = false}}};
const layout::branch_and_bound no_dominance{.options = {.rules = {.dominance = false}}};
const layout::branch_and_bound no_identical{.options = {.rules = {.identical = false}}};

void agrees_with_brute_force(const layout::branch_and_bound& policy, const layout::problem& problem,
                             std::int64_t least) {
    budget account({.states = 100'000'000});
    layout::context context{.account = account, .lower_bound = 0};
    const layout::offset_list offsets = policy(problem, context);
    CHECK(layout_cases::fault(problem, offsets).empty());
    CHECK(layout_cases::arena(problem, offsets) == least);
    CHECK(context.lower_bound == least);
    CHECK(policy.decide(problem, least, account).status == status::feasible);
    if (least > 0) CHECK(policy.decide(problem, least - 1, account).status == status::infeasible);
}

}  // namespace

TEST_CASE("the optimum of random small problems with each feature, each rule on and off") {
    stowage::detail::splitmix64 random(1);
    const std::vector<layout_cases::features> kinds = {
        {},
        {.alignment = true},
        {.mixed_alignment = true},
        {.pins = true},
        {.gaps = true},
        {.alignment = true, .mixed_alignment = true, .pins = true, .gaps = true, .empty = true},
    };
    for (int round = 0; round < 300; ++round) {
        const auto& features = kinds[static_cast<std::size_t>(round) % kinds.size()];
        const layout::problem problem = layout_cases::random_problem(2 + random.below(5), features, random);
        CAPTURE(round);
        const std::int64_t least = layout_cases::least_arena(problem);
        agrees_with_brute_force(all_rules, problem, least);
        agrees_with_brute_force(no_bound, problem, least);
        agrees_with_brute_force(no_dominance, problem, least);
        agrees_with_brute_force(no_identical, problem, least);
    }
}

TEST_CASE("each rule saves nodes") {
    stowage::detail::splitmix64 random(2);
    std::uint64_t nodes[4] = {};
    for (int round = 0; round < 60; ++round) {
        const layout::problem problem = dense_layouts::fill(9, 6, 3, random);
        int which = 0;
        for (const auto* policy : {&all_rules, &no_bound, &no_dominance, &no_identical}) {
            budget account({.states = 1'000'000'000});
            const layout::decision answer = policy->decide(problem, layout_cases::load(problem), account);
            nodes[which++] += answer.nodes;
        }
    }
    CHECK(nodes[0] < nodes[1]);
    CHECK(nodes[0] < nodes[2]);
    CHECK(nodes[0] < nodes[3]);
}

TEST_CASE("a limit ends the search without a claim") {
    stowage::detail::splitmix64 random(3);
    const layout::problem problem = dense_layouts::fill(200, 40, 10, random);
    budget account({.states = 50});
    const layout::decision answer = all_rules.decide(problem, layout_cases::load(problem), account);
    CHECK(answer.status == status::unknown);
    CHECK(answer.offsets.empty());
    budget other({.states = 50});
    layout::context context{.account = other, .lower_bound = 3};
    CHECK(all_rules(problem, context).empty());
    CHECK(context.lower_bound == 3);
}

TEST_CASE("nothing to place, too much to place, problems that are not for it") {
    budget account;
    layout::problem problem;
    CHECK(all_rules.decide(problem, 0, account).status == status::feasible);
    problem.buffers.resize(2);
    CHECK(all_rules.decide(problem, 0, account).offsets == layout::offset_list{0, 0});
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    problem.buffers[0] = {.lower = 0, .upper = 2, .size = largest - 1};
    problem.buffers[1] = {.lower = 1, .upper = 3, .size = 1};
    CHECK(all_rules.decide(problem, largest, account).status == status::feasible);
    CHECK(all_rules.decide(problem, largest - 1, account).status == status::infeasible);
    problem.buffers[0].alignment = 2;
    problem.buffers[1].alignment = largest;
    CHECK(all_rules.decide(problem, largest, account).status == status::infeasible);
    problem.capacities = {10, 10};
    CHECK(all_rules.decide(problem, largest, account).status == status::unknown);
}
