#include <stowage/roam/joint.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <stowage/order/portfolio.hpp>
#include <stowage/verify.hpp>

#include "support/random_program.hpp"

using namespace stowage;

namespace {

/// First fit by birth: a weak layout, so that orders matter.
roam::ordered_layout start(const tensor_graph& graph) {
    budget account;
    roam::ordered_layout result;
    result.ordered = order::plan(graph, order::portfolio{}, account);
    result.items = layout::layout_problem_of(graph, result.ordered.order);
    result.laid_out = layout::plan(result.items.problem, layout::first_fit{});
    return result;
}

}  // namespace

TEST_CASE("other orders are taken only for a smaller arena, and the answer stays consistent") {
    int improved = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 14}));
        roam::ordered_layout best = start(graph);
        const std::int64_t before = best.laid_out.arena;
        const std::vector<operator_index> order_before = best.ordered.order;
        budget account({.states = 2'000});
        roam::try_other_orders(graph, best, layout::first_fit{}, best.ordered.lower_bound, account);
        REQUIRE(best.laid_out.arena <= before);
        if (best.laid_out.arena == before) {
            CHECK(best.ordered.order == order_before);
        } else {
            ++improved;
        }
        CHECK(best.ordered.peak == peak_bytes(graph, best.ordered.order));
        CHECK(verify::check_order(graph, best.ordered.order).ok);
        CHECK(verify::check_layout(best.items.problem, best.laid_out).ok);
    }
    CHECK(improved > 5);
}

TEST_CASE("nothing is tried at the bound, or without an account") {
    const tensor_graph graph = make_tensor_graph(test::random_program(1, {.operators = 14}));
    roam::ordered_layout best = start(graph);
    const std::vector<operator_index> order_before = best.ordered.order;
    budget account;
    roam::try_other_orders(graph, best, layout::first_fit{}, best.laid_out.arena, account);
    CHECK(account.spent() == 0);
    best = start(graph);
    budget nothing({.states = 0});
    roam::try_other_orders(graph, best, layout::first_fit{}, 0, nothing);
    CHECK(best.ordered.order == order_before);
}
