#include <stowage/order/detail/precedence_prober.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/order/detail/valley_solver.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/rounds.hpp"

TEST_CASE("probing refutes nothing that is feasible and keeps every decision") {
    namespace order = stowage::order::detail;
    stowage::detail::splitmix64 random(31);
    int refuted = 0;
    int missed = 0;
    std::size_t added = 0;
    for (int round = 0; round < stowage::test::rounds(12'000); ++round) {
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
        order::residual rest(problem, program, bound);
        order::precedence_prober prober(rest, {.rounds = 20,
                                               .most_slack = random.below(4) == 0 ? 10 : 1000,
                                               .witnesses = random.below(3) != 0});
        order::search_effort effort;
        const order::verdict verdict = prober.run(effort);
        REQUIRE(verdict != order::verdict::found);
        if (verdict == order::verdict::refuted) {
            REQUIRE(bound < least);
            ++refuted;
            continue;
        }
        missed += bound == least - 1 ? 1 : 0;
        added += prober.added();
        order::valley_solver solver(rest.problem());
        const order::verdict decided = solver.decide(rest.bound(), 1'000'000, effort);
        REQUIRE(decided == (bound >= least ? order::verdict::found : order::verdict::refuted));
        if (decided != order::verdict::found) continue;
        rest.finish(solver.order());
        REQUIRE(rest.order().size() == graph.operator_count());
        REQUIRE(stowage::peak_bytes(graph, rest.order()) <= bound);
    }
    MESSAGE(refuted, " refuted, one byte below missed ", missed, ", ", added, " dependencies");
    CHECK(refuted > stowage::test::rounds(3'000));
    CHECK(missed < 100);
    CHECK(added > stowage::test::rounds(std::size_t{1'000}));
}
