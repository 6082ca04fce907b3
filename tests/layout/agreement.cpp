// Every claim over random small problems with each feature on and off agrees with brute force: `optimal` has
// the least arena, `infeasible` and `feasible` are the truth, a blame set alone does not fit, no bound passes
// the optimum. A few hundred problems; STOWAGE_AGREEMENT=10000 in the environment asks for as many.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/layout/capacity.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/pools.hpp>
#include <stowage/layout/sharing.hpp>

#include "../support/dense_layouts.hpp"
#include "../support/layout_cases.hpp"

namespace layout = stowage::layout;
using stowage::status;

namespace {

[[nodiscard]] int rounds() {
    const char* const given = std::getenv("STOWAGE_AGREEMENT");
    return given != nullptr ? std::max(1, std::atoi(given)) : 250;
}

/// Claims counted by kind.
struct tally {
    int problems = 0;
    int optimal = 0;
    int above_load = 0;
    int feasible = 0;
    int infeasible = 0;
    int unknown = 0;
    std::array<int, 7> with{};  // problems with each feature

    void count(status answer) {
        ++(answer == status::infeasible ? infeasible : answer == status::unknown ? unknown : feasible);
    }
    [[nodiscard]] std::string text() const {
        static constexpr std::array names{"alignment", "own alignments", "pins",         "gaps",
                                          "empty",     "aliases",        "several pools"};
        std::string result = std::to_string(problems) + " problems: " + std::to_string(optimal) +
                             " optimal (" + std::to_string(above_load) +
                             " above the load); asked about a capacity: " + std::to_string(feasible) +
                             " feasible, " + std::to_string(infeasible) + " infeasible, " +
                             std::to_string(unknown) + " unknown; with";
        for (std::size_t k = 0; k < names.size(); ++k)
            result += std::string(k > 0 ? ", " : " ") + names[k] + " " + std::to_string(with[k]);
        return result;
    }
};

/// Two random blocks of two buffers each, as one buffer each.
[[nodiscard]] layout::problem with_aliases(const layout::problem& whole,
                                           stowage::detail::splitmix64& random) {
    layout::problem plain = whole;
    for (layout::buffer& b : plain.buffers)
        b.offset.reset();
    std::vector<layout::shared_block> blocks(2);
    for (std::size_t i = 0; i < 4 && i < plain.buffers.size(); ++i)
        blocks[i % 2].push_back({i, static_cast<std::int64_t>(random.below(3) * 24)});
    return layout::collapse(plain, blocks).problem;
}

void check_plan(const layout::problem& problem, std::int64_t least, tally& counts) {
    const layout::solution answer = layout::plan(problem, {.states = 20'000});
    CHECK(layout_cases::fault(problem, answer.offsets) == "");
    CHECK(layout_cases::arena(problem, answer.offsets) == answer.arena);
    CHECK(answer.lower_bound <= least);
    if (answer.status != status::optimal) return;
    CHECK(answer.arena == least);
    ++counts.optimal;
    if (answer.arena > answer.load) ++counts.above_load;
}

void check_fit(const layout::problem& problem, std::int64_t least, std::int64_t capacity, tally& counts) {
    const layout::capacity_answer answer = layout::fit(problem, capacity, {.states = 20'000});
    counts.count(answer.status);
    if (answer.status == status::feasible) {
        CHECK(least <= capacity);
        CHECK(layout_cases::fault(problem, answer.offsets) == "");
        CHECK(layout_cases::arena(problem, answer.offsets) <= capacity);
    }
    if (answer.status != status::infeasible) return;
    CHECK(least > capacity);
    layout::problem blamed;
    blamed.alignment = problem.alignment;
    for (const std::size_t b : answer.blame.buffers)
        blamed.buffers.push_back(problem.buffers[b]);
    CHECK(layout_cases::least_arena(blamed) > capacity);
}

/// Is there a way to spread the buffers over two pools?
[[nodiscard]] bool fits_two(const layout::problem& problem) {
    const std::size_t n = problem.buffers.size();
    for (std::uint32_t bits = 0; bits < 1U << n; ++bits) {
        std::array<layout::problem, 2> parts;
        bool allowed = true;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t pool = bits >> i & 1U;
            allowed = allowed && problem.buffers[i].pool.value_or(pool) == pool;
            parts[pool].buffers.push_back(problem.buffers[i]);
        }
        for (std::size_t p = 0; p < 2 && allowed; ++p) {
            parts[p].alignment = problem.alignment;
            allowed = layout_cases::load(parts[p]) <= problem.capacities[p] &&
                      layout_cases::least_arena(parts[p]) <= problem.capacities[p];
        }
        if (allowed) return true;
    }
    return false;
}

void check_pools(layout::problem problem, std::int64_t least, stowage::detail::splitmix64& random,
                 tally& counts) {
    for (layout::buffer& b : problem.buffers) {
        b.offset.reset();
        if (random.below(3) == 0) b.pool = static_cast<std::uint32_t>(random.below(2));
    }
    const auto most = static_cast<std::uint64_t>(least);
    problem.capacities = {static_cast<std::int64_t>(random.below(most + 1)),
                          static_cast<std::int64_t>(random.below(most + 1))};
    const layout::pool_answer answer = layout::fit_pools(problem, {.limits = {.states = 50'000}});
    counts.count(answer.status);
    const bool fits = fits_two(problem);
    if (answer.status == status::feasible) CHECK(fits);
    if (answer.status == status::infeasible) CHECK_FALSE(fits);
}

}  // namespace

TEST_CASE("every claim agrees with brute force, each feature on and off") {
    stowage::detail::splitmix64 random(20);
    tally counts;
    for (int round = 0; round < rounds(); ++round) {
        CAPTURE(round);
        std::array<bool, 7> on{};
        for (bool& feature : on)
            feature = random.below(2) == 0;
        const layout_cases::features features{
            .alignment = on[0], .mixed_alignment = on[1], .pins = on[2], .gaps = on[3], .empty = on[4]};
        // Every third is a dense fill, which the random ones are not; features that it cannot have are off.
        const bool dense = round % 3 == 2;
        layout::problem problem = dense ? dense_layouts::fill(6, 10, 7, random)
                                        : layout_cases::random_problem(3 + random.below(4), features, random);
        if (dense) {
            on[1] = on[2] = on[3] = on[4] = false;
            if (on[0]) problem.alignment = static_cast<std::int64_t>(1 + random.below(4));
        }
        if (on[5]) {
            problem = with_aliases(problem, random);
            on[2] = false;
        }
        ++counts.problems;
        for (std::size_t k = 0; k < on.size(); ++k)
            counts.with[k] += on[k] ? 1 : 0;
        const std::int64_t least = layout_cases::least_arena(problem);
        check_plan(problem, least, counts);
        check_fit(problem, least, least, counts);
        if (least > 0) check_fit(problem, least, least - 1, counts);
        check_fit(problem, least,
                  static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(least) + 4)), counts);
        if (on[6]) check_pools(problem, least, random, counts);
    }
    CHECK(counts.optimal > counts.problems / 2);
    CHECK(counts.infeasible > 0);
    if (std::getenv("STOWAGE_AGREEMENT") != nullptr) MESSAGE(counts.text());
}
