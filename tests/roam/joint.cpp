#include <stowage/roam/joint.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <stowage/order/portfolio.hpp>
#include <stowage/verify.hpp>

#include "support/random_program.hpp"
#include "support/rounds.hpp"

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
    for (std::uint64_t seed = 0; seed < stowage::test::rounds(std::uint64_t{300}); ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 14}));
        roam::ordered_layout best = start(graph);
        const std::int64_t before = best.laid_out.arena;
        const std::vector<operator_index> order_before = best.ordered.order;
        budget account({.states = 2'000});
        const roam::counted_program program(graph, 1);
        roam::try_other_orders(program, best, layout::first_fit{}, {best.ordered.lower_bound}, account);
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
    CHECK(improved > stowage::test::rounds(5));
}

TEST_CASE("an order that leaves room below an aligned arena is found, or shown not to exist") {
    int proofs = 0;
    int improved = 0;
    for (std::uint64_t seed = 0; seed < stowage::test::rounds(std::uint64_t{200}); ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 10}));
        const roam::counted_program program(graph, 8);
        if (program.granule() == 1) continue;
        roam::ordered_layout best;
        best.ordered.order = program_order(graph);
        best.items = layout::layout_problem_of(graph, best.ordered.order, 8);
        best.laid_out = layout::plan(best.items.problem);
        const std::int64_t before = best.laid_out.arena;
        roam::proven_arena proven;
        budget account({.states = 50'000});
        roam::try_to_undercut(program, best, layout::default_portfolio(), proven, account);
        improved += best.laid_out.arena < before ? 1 : 0;
        proofs += proven.bytes == best.laid_out.arena ? 1 : 0;
        REQUIRE(best.laid_out.arena <= before);
        REQUIRE(proven.bytes <= best.laid_out.arena);
        CHECK(verify::check_order(graph, best.ordered.order).ok);
        CHECK(verify::check_layout(best.items.problem, best.laid_out).ok);
        if (proven.bytes > 0) CHECK(proven.bytes <= proven.witness.bytes);
    }
    CHECK(improved > stowage::test::rounds(50));
    CHECK(proofs > stowage::test::rounds(50));
}

TEST_CASE("nothing is tried at the bound, or without an account") {
    const tensor_graph graph = make_tensor_graph(test::random_program(1, {.operators = 14}));
    roam::ordered_layout best = start(graph);
    const std::vector<operator_index> order_before = best.ordered.order;
    budget account;
    const roam::counted_program program(graph, 1);
    roam::try_other_orders(program, best, layout::first_fit{}, {best.laid_out.arena}, account);
    CHECK(account.spent() == 0);
    best = start(graph);
    budget nothing({.states = 0});
    roam::try_other_orders(program, best, layout::first_fit{}, {}, nothing);
    CHECK(best.ordered.order == order_before);
}
