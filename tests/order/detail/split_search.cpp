#include <stowage/order/detail/split_search.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/rounds.hpp"

TEST_CASE("a split decides nothing wrongly, whatever the operator and the limits") {
    namespace order = stowage::order::detail;
    stowage::detail::splitmix64 random(21);
    int refuted = 0;
    int found = 0;
    int open = 0;
    int early = 0;
    for (int round = 0; round < stowage::test::rounds(20'000); ++round) {
        CAPTURE(round);
        stowage::test::any_program_options options;
        options.operators = 3 + random.below(9);
        options.window = 2 + random.below(8);
        options.most_bytes = random.below(2) == 0 ? 3 : 20;
        options.writes_again = random.below(2) == 0;
        const auto graph = stowage::make_tensor_graph(stowage::test::any_program(random, options));
        const std::int64_t least = stowage::test::least_peak(graph);
        const order::order_problem problem = order::make_order_problem(graph);
        const auto v = static_cast<stowage::operator_index>(random.below(problem.operator_count()));
        order::split_settings settings;
        settings.valleys = {.components = random.below(2) == 0, .plain_states = 1 + random.below(4)};
        const auto side = random.below(2) == 0 ? order::split_side::after : order::split_side::before;
        order::split_search split(problem, v, side, settings);
        const std::int64_t bound = least - 2 + static_cast<std::int64_t>(random.below(4));
        order::search_effort effort{.state_limit = 1'000'000};
        const order::verdict verdict = split.decide(bound, effort);
        if (verdict == order::verdict::found) {
            REQUIRE(split.order().size() == graph.operator_count());
            REQUIRE(order::peak_of(problem, split.order()) <= bound);
            REQUIRE(stowage::peak_bytes(graph, split.order()) <= bound);
            ++found;
        } else if (verdict == order::verdict::refuted) {
            REQUIRE(bound < least);
            REQUIRE(effort.least_refused > bound);
            REQUIRE(effort.least_refused <= least);
            ++refuted;
        } else {
            ++open;
        }
        early += split.starts_tried() > 1 ? 1 : 0;
    }
    MESSAGE(found, " found, ", refuted, " refuted, ", open, " open, ", early, " with early parts");
    CHECK(refuted > stowage::test::rounds(5'000));
    CHECK(found > stowage::test::rounds(5'000));
    CHECK(early > stowage::test::rounds(200));
}
