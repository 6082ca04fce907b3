#include <stowage/order/detail/branch_search.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/order/detail/run_policy.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/rounds.hpp"

TEST_CASE("branching decides nothing wrongly, whatever is switched on") {
    namespace order = stowage::order::detail;
    stowage::detail::splitmix64 random(41);
    int branched = 0;
    int open = 0;
    for (int round = 0; round < stowage::test::rounds(10'000); ++round) {
        CAPTURE(round);
        stowage::test::any_program_options options;
        options.operators = 3 + random.below(9);
        options.window = 2 + random.below(8);
        options.most_bytes = random.below(2) == 0 ? 3 : 20;
        const auto graph = stowage::make_tensor_graph(stowage::test::any_program(random, options));
        const std::int64_t least = stowage::test::least_peak(graph);
        const order::order_problem problem = order::make_order_problem(graph);
        std::vector<stowage::operator_index> program(graph.operator_count());
        for (stowage::operator_index op = 0; op < program.size(); ++op)
            program[op] = op;
        const std::int64_t bound = least - 2 + static_cast<std::int64_t>(random.below(4));
        if (bound < 0) continue;
        order::branch_settings settings;
        settings.commit_states = 1 + random.below(2);
        settings.probe = random.below(4) == 0;
        settings.probing.rounds = 1 + random.below(4);
        settings.probing.most_slack = random.below(2) == 0 ? 10 : 1000;
        settings.segments = random.below(2) == 0;
        settings.split_operators = random.below(4) == 0 ? 1 + random.below(2) : 0;
        settings.split.states = 1 + random.below(20);
        settings.nodes = 10'000;
        settings.one_sided = 64;
        settings.split_before = random.below(2) == 0;
        order::residual rest(problem, program, bound);
        order::branch_search search(settings);
        order::search_effort effort;
        const order::verdict verdict = search.decide(rest, effort);
        branched += search.nodes() > 1 ? 1 : 0;
        if (verdict == order::verdict::open) {
            ++open;
        } else if (verdict == order::verdict::refuted) {
            REQUIRE(bound < least);
        } else {
            order::require_legal(graph, rest.order(), "branching");
            REQUIRE(stowage::peak_bytes(graph, rest.order()) <= bound);
        }
    }
    MESSAGE(branched, " with branching, ", open, " open");
    CHECK(branched > stowage::test::rounds(1'000));
    CHECK(open < 100);
}
