#include <stowage/order/exact.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/order/detail/run_policy.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/order/valley_search.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/order_problems.hpp"
#include "support/rounds.hpp"

namespace {

namespace order = stowage::order;

stowage::tensor_graph any_graph(stowage::detail::splitmix64& random, std::size_t most) {
    stowage::test::any_program_options options;
    options.operators = 1 + random.below(most);
    options.window = 2 + random.below(8);
    options.most_bytes = random.below(2) == 0 ? 3 : 20;
    options.writes_again = random.below(2) == 0;
    return stowage::make_tensor_graph(stowage::test::any_program(random, options));
}

template <class Policy>
order::solution solve(const stowage::tensor_graph& graph, const Policy& policy, std::uint64_t states) {
    stowage::budget account(stowage::search_limits{.states = states});
    order::solution result = order::plan(graph, policy, account);
    order::detail::require_legal(graph, result.order, "a policy");
    REQUIRE(result.peak == stowage::peak_bytes(graph, result.order));
    return result;
}

}  // namespace

TEST_CASE("exact proves the least peak, and no policy claims more than holds") {
    stowage::detail::splitmix64 random(51);
    int proven = 0;
    int programs = 0;
    for (int round = 0; round < stowage::test::rounds(10'000); ++round) {
        CAPTURE(round);
        const stowage::tensor_graph graph =
            round % 4 == 0 ? stowage::test::side_by_side(random) : any_graph(random, 11);
        const std::int64_t least = stowage::test::least_peak(graph);
        const order::solution whole = solve(graph, order::exact{}, 200'000);
        REQUIRE(whole.lower_bound <= least);
        REQUIRE(whole.peak >= least);
        REQUIRE((whole.status == stowage::status::optimal) == (whole.peak == whole.lower_bound));
        if (whole.witness.rule == "min cut") {  // the witness holds in the whole program
            const order::detail::order_problem problem = order::detail::make_order_problem(graph);
            order::detail::cut_library cuts(problem);
            REQUIRE(cuts.least_hill(whole.witness.at) >= whole.lower_bound);
        }
        proven += whole.status == stowage::status::optimal ? 1 : 0;
        ++programs;
        const std::uint64_t states = 1 + random.below(300);
        switch (random.below(5)) {
            case 0: {
                order::exact policy;
                policy.state_limit = states;
                policy.parts = {.segments = random.below(2) == 0,
                                .relaxed = random.below(2) == 0,
                                .components = random.below(2) == 0};
                policy.valleys.components = random.below(2) == 0;
                policy.branches.probe = random.below(2) == 0;
                policy.branches.segments = random.below(2) == 0;
                policy.branches.split_operators = random.below(3);
                policy.branches.split_before = random.below(2) == 0;
                policy.moves = random.below(2) == 0;
                policy.parts.reductions.contract = random.below(2) == 0;
                policy.search_first = random.below(2) == 0;
                policy.narrow = random.below(2) == 0;
                REQUIRE(solve(graph, policy, 200'000).lower_bound <= least);
                break;
            }
            case 1: REQUIRE(solve(graph, order::splits{}, states).lower_bound <= least); break;
            case 2: REQUIRE(solve(graph, order::probing{}, states).lower_bound <= least); break;
            case 3: REQUIRE(solve(graph, order::branching{}, states).lower_bound <= least); break;
            default: {
                order::valley_search policy;
                policy.parts = {.segments = random.below(2) == 0, .relaxed = random.below(2) == 0};
                policy.states = 1 + random.below(20);
                REQUIRE(solve(graph, policy, states).lower_bound <= least);
            }
        }
    }
    CHECK(proven == programs);
}

TEST_CASE("programs of some dozen operators are proven, and nothing better is found by other means") {
    stowage::detail::splitmix64 random(52);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        const stowage::tensor_graph graph = any_graph(random, 60);
        const order::solution whole = solve(graph, order::exact{}, 2'000'000);
        const order::solution other = solve(graph, order::local_search{.rounds = 2}, 2'000'000);
        REQUIRE(other.peak >= whole.lower_bound);
        REQUIRE(other.lower_bound <= whole.peak);
        CHECK(whole.status == stowage::status::optimal);
    }
}
