#include <stowage/layout/section_growing.hpp>

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <stowage/layout/valley_search.hpp>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::budget;
using stowage::status;

TEST_CASE("it agrees with brute force on random small problems") {
    stowage::detail::splitmix64 random(1);
    for (int round = 0; round < 300; ++round) {
        const layout_cases::features features{.alignment = round % 2 == 1, .empty = round % 3 == 0};
        const layout::problem problem = layout_cases::random_problem(1 + random.below(7), features, random);
        const std::int64_t least = layout_cases::least_arena(problem);
        CAPTURE(round);
        budget account({.states = 10'000'000});
        const layout::decision yes = layout::section_growing{}.decide(problem, least, account);
        CHECK(yes.status == status::feasible);
        CHECK(layout_cases::fault(problem, yes.offsets) == "");
        CHECK(layout_cases::arena(problem, yes.offsets) <= least);
        CHECK(layout::section_growing{}.decide(problem, least - 1, account).status == status::infeasible);
    }
}

TEST_CASE("a relaxation that is infeasible is a proof: dense fills agree with the valley search") {
    stowage::detail::splitmix64 random(2);
    int refuted = 0;
    for (int round = 0; round < 3000; ++round) {
        const layout::problem problem = dense_layouts::fill(12 + random.below(20), 12, 8, random);
        const std::int64_t load = layout_cases::load(problem);
        budget account({.states = 10'000'000});
        const layout::decision grown = layout::section_growing{}.decide(problem, load, account);
        CHECK(grown.status == layout::valley_search{}.decide(problem, load, account).status);
        if (grown.status == status::infeasible) ++refuted;
        if (grown.status == status::feasible) CHECK(layout_cases::fault(problem, grown.offsets) == "");
    }
    CHECK(refuted > 10);
}

TEST_CASE("as a policy it proves hard public problems at their load") {
    const std::string shared = STOWAGE_SHARED;
    if (shared.empty()) return;
    for (const char* name : {"E", "I", "K"}) {
        const layout::problem problem =
            layout_cases::read_csv(shared + "/layout/" + std::string(name) + ".1048576.csv");
        budget account({.states = 1'000'000});
        layout::context context{.account = account, .lower_bound = layout_cases::load(problem)};
        const layout::offset_list offsets = layout::section_growing{}(problem, context);
        CAPTURE(name);
        CHECK(layout_cases::fault(problem, offsets) == "");
        CHECK(layout_cases::arena(problem, offsets) == context.lower_bound);
    }
}

TEST_CASE("limits and problems that are not for it leave the question open") {
    stowage::detail::splitmix64 random(3);
    const layout::problem hard = dense_layouts::fill(300, 80, 30, random);
    budget tiny({.states = 20});
    CHECK(layout::section_growing{}.decide(hard, layout_cases::load(hard), tiny).status == status::unknown);
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5, .offset = 4}};
    budget account;
    CHECK(layout::section_growing{}.decide(problem, 100, account).status == status::feasible);
    CHECK(layout::section_growing{}.decide(problem, 8, account).status == status::infeasible);
    problem.capacities = {50, 50};
    CHECK(layout::section_growing{}.decide(problem, 100, account).status == status::unknown);
    problem.capacities.clear();
    problem.buffers.clear();
    CHECK(layout::section_growing{}.decide(problem, 0, account).status == status::feasible);
    CHECK(layout::section_growing{}.decide(problem, -1, account).status == status::infeasible);
}
