#pragma once
// What every layout policy must do, checked on small random problems against brute force.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/policy.hpp>
#include "support/layout_cases.hpp"

namespace layout_cases {

/// Each feature alone and all together.
inline std::vector<features> feature_sets() {
    return {{},
            {.alignment = true},
            {.mixed_alignment = true},
            {.pins = true},
            {.gaps = true},
            {.empty = true},
            {.alignment = true, .mixed_alignment = true, .pins = true, .gaps = true, .empty = true}};
}

/// One call of a policy with an account of so many states.
template <class Policy>
stowage::layout::offset_list run(const Policy& policy, const problem& problem, std::uint64_t states = 100'000,
                                 std::int64_t bound = 0) {
    stowage::budget account({.states = states});
    stowage::layout::context context{.account = account, .lower_bound = bound};
    return stowage::layout::apply(policy, problem, context);
}

/// The contract: a valid layout of every problem, never below the optimum, the same at every call; nothing
/// where the target is too low or the account is empty.
template <class Policy>
void check_contract(const Policy& policy) {
    stowage::detail::splitmix64 random(20240601);
    for (const features& features : feature_sets()) {
        for (int round = 0; round < 60; ++round) {
            const problem problem = random_problem(1 + random.below(6), features, random);
            const auto offsets = run(policy, problem);
            INFO("round " << round << " of " << problem.buffers.size() << " buffers");
            REQUIRE(fault(problem, offsets) == "");
            CHECK(stowage::layout::arena_of(problem, offsets) == arena(problem, offsets));
            CHECK(arena(problem, offsets) >= least_arena(problem));
            CHECK(run(policy, problem) == offsets);
            if (arena(problem, offsets) == 0) continue;
            if constexpr (stowage::layout::searching_layout_policy<Policy>) {
                stowage::budget account({.states = 100'000});
                stowage::layout::context context{.account = account, .target = least_arena(problem)};
                CHECK(policy(problem, context).empty());
            }
        }
        for (int round = 0; round < 10; ++round) {
            const problem problem = random_problem(60 + random.below(60), features, random);
            REQUIRE(fault(problem, run(policy, problem)) == "");
            if constexpr (stowage::layout::searching_layout_policy<Policy>) {
                CHECK(run(policy, problem, 1).empty());
            }
        }
    }
    CHECK(run(policy, problem{}).empty());
    problem nothing;
    nothing.buffers = {{.lower = 3, .upper = 3, .size = 5}, {.lower = 0, .upper = 9, .size = 0, .offset = 4}};
    CHECK(run(policy, nothing) == stowage::layout::offset_list{0, 4});
}

}  // namespace layout_cases
