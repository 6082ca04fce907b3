#include <stowage/order/model.hpp>

#include <doctest/doctest.h>

#include <chrono>

#include <stowage/graph.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/verify/order.hpp>

#include "support/solver_programs.hpp"

using namespace stowage;
using namespace stowage::order;

TEST_CASE("MODeL by the enumerator agrees with brute force on small programs") {
    test::check_rivals(solver::enumerator{});
}

TEST_CASE("MODeL knows no order to begin from: without time it has none, and says so") {
    stowage::detail::splitmix64 random(81);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 12}));
    budget none({.time = std::chrono::nanoseconds(0)});
    context alone{.account = none};
    CHECK(model_ss{solver::enumerator{}}(graph, alone).empty());
    CHECK(model_ms{solver::enumerator{}}(graph, none).status == status::unknown);
    // A plan falls back to program order.
    budget again({.time = std::chrono::nanoseconds(0)});
    CHECK(verify::check_order(graph, order::plan(graph, model_ss{solver::enumerator{}}, again)));
}

TEST_CASE("programs above its limits are refused") {
    stowage::detail::splitmix64 random(82);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 12}));
    budget account;
    context alone{.account = account};
    CHECK(model_ss{solver::enumerator{}, {.operators = 11}}(graph, alone).empty());
    CHECK(model_ss{solver::enumerator{}, {.limits = {.entries = 50}}}(graph, alone).empty());
    CHECK(model_ms{solver::enumerator{}, {.operators = 11}}(graph, account).timesteps.steps.empty());
    CHECK(alone.lower_bound == 0);
}
