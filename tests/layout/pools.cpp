#include <stowage/layout/pools.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::status;

namespace {

layout::problem pool_of(const layout::problem& whole, const std::vector<std::uint32_t>& pools,
                        std::uint32_t pool) {
    layout::problem part;
    part.alignment = whole.alignment;
    for (std::size_t i = 0; i < pools.size(); ++i) {
        if (pools[i] == pool) part.buffers.push_back(whole.buffers[i]);
    }
    return part;
}

/// Tries every assignment.
bool fits(const layout::problem& problem, const std::vector<std::size_t>& buffers) {
    std::vector<std::uint32_t> pools(problem.buffers.size(), 1000);
    const auto search = [&](const auto& self, std::size_t k) -> bool {
        if (k == buffers.size()) {
            for (std::uint32_t p = 0; p < problem.capacities.size(); ++p) {
                if (layout_cases::least_arena(pool_of(problem, pools, p)) > problem.capacities[p])
                    return false;
            }
            return true;
        }
        for (std::uint32_t p = 0; p < problem.capacities.size(); ++p) {
            if (problem.buffers[buffers[k]].pool.value_or(p) != p) continue;
            pools[buffers[k]] = p;
            if (self(self, k + 1)) return true;
        }
        pools[buffers[k]] = 1000;
        return false;
    };
    return search(search, 0);
}

void check_answer(const layout::problem& problem, const layout::pool_answer& answer) {
    REQUIRE(answer.pools.size() == problem.buffers.size());
    for (std::size_t i = 0; i < answer.pools.size(); ++i) {
        CHECK(answer.pools[i] == problem.buffers[i].pool.value_or(answer.pools[i]));
    }
    for (std::uint32_t p = 0; p < problem.capacities.size(); ++p) {
        layout::offset_list offsets;
        for (std::size_t i = 0; i < answer.pools.size(); ++i) {
            if (answer.pools[i] == p) offsets.push_back(answer.offsets[i]);
        }
        const layout::problem part = pool_of(problem, answer.pools, p);
        CHECK(layout_cases::fault(part, offsets) == "");
        CHECK(layout_cases::arena(part, offsets) == answer.arenas[p]);
        if (answer.status == status::feasible) CHECK(answer.arenas[p] <= problem.capacities[p]);
    }
}

}  // namespace

TEST_CASE("random small problems with every feature agree with brute force over all assignments") {
    stowage::detail::splitmix64 random(1);
    int yes = 0;
    int no = 0;
    for (int round = 0; round < 400; ++round) {
        const layout_cases::features features{.alignment = round % 2 == 0,
                                              .mixed_alignment = round % 3 == 0,
                                              .gaps = round % 5 == 0,
                                              .empty = round % 7 == 0};
        layout::problem problem = layout_cases::random_problem(2 + random.below(4), features, random);
        const std::int64_t load = layout_cases::load(problem);
        problem.capacities.resize(1 + random.below(3));
        for (std::int64_t& capacity : problem.capacities) {
            capacity = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(load) + 2));
        }
        for (layout::buffer& b : problem.buffers) {
            if (random.below(3) == 0)
                b.pool = static_cast<std::uint32_t>(random.below(problem.capacities.size()));
        }
        CAPTURE(round);
        std::vector<std::size_t> all(problem.buffers.size());
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = i;
        const bool expected = fits(problem, all);
        const layout::pool_answer answer = layout::fit_pools(problem, {.limits = {.states = 1'000'000}});
        CHECK(answer.status == (expected ? status::feasible : status::infeasible));
        check_answer(problem, answer);
        (expected ? yes : no) += 1;
        if (!answer.blame.buffers.empty()) CHECK_FALSE(fits(problem, answer.blame.buffers));
    }
    CHECK(yes > 50);
    CHECK(no > 50);
}

TEST_CASE("two halves of a dense fill: what does not fit into the first pool spills into the second") {
    stowage::detail::splitmix64 random(2);
    int solved = 0;
    for (int round = 0; round < 20; ++round) {
        layout::problem problem = dense_layouts::fill(80, 40, 8, random);
        problem.capacities = {26, 22};
        const layout::pool_answer answer = layout::fit_pools(problem);
        check_answer(problem, answer);
        if (answer.status == status::feasible) ++solved;
    }
    CHECK(solved >= 15);
}

TEST_CASE("one buffer, one pool, one moment to blame") {
    layout::problem problem;
    CHECK_THROWS_AS(static_cast<void>(layout::fit_pools(problem)), stowage::layout_error);
    problem.capacities = {10, 20};
    problem.buffers = {{.lower = 0, .upper = 2, .size = 12, .pool = 0}};
    CHECK(layout::fit_pools(problem).blame.buffers == std::vector<std::size_t>{0});
    problem.buffers[0].pool.reset();
    CHECK(layout::fit_pools(problem).pools == std::vector<std::uint32_t>{1});
    problem.buffers.push_back({.lower = 0, .upper = 1, .size = 6, .pool = 0});
    problem.buffers.push_back({.lower = 0, .upper = 1, .size = 6, .pool = 0});
    const layout::pool_answer pool = layout::fit_pools(problem);
    CHECK(pool.status == status::infeasible);
    CHECK(pool.blame.buffers == std::vector<std::size_t>{1, 2});
    problem.buffers = {{.lower = 0, .upper = 2, .size = 10},
                       {.lower = 0, .upper = 2, .size = 10},
                       {.lower = 0, .upper = 2, .size = 9},
                       {.lower = 1, .upper = 2, .size = 2}};
    const layout::pool_answer moment = layout::fit_pools(problem);
    CHECK(moment.status == status::infeasible);
    CHECK(moment.blame.buffers == std::vector<std::size_t>{0, 1, 2, 3});
    problem.buffers.pop_back();
    CHECK(layout::fit_pools(problem).status == status::feasible);
    problem.capacities = {0, -5};
    CHECK(layout::fit_pools(problem).status == status::infeasible);
}

TEST_CASE("pinned buffers that meet go to different pools, or are an error where they may not") {
    layout::problem problem;
    problem.capacities = {20, 20};
    problem.buffers = {{.lower = 0, .upper = 2, .size = 10, .offset = 4},
                       {.lower = 1, .upper = 3, .size = 10, .offset = 8},
                       {.lower = 1, .upper = 2, .size = 6}};
    const layout::pool_answer answer = layout::fit_pools(problem);
    CHECK(answer.status == status::feasible);
    CHECK(answer.pools[0] != answer.pools[1]);
    check_answer(problem, answer);
    problem.buffers[0].pool = problem.buffers[1].pool = 1;
    CHECK_THROWS_AS(static_cast<void>(layout::fit_pools(problem)), stowage::layout_error);
}
