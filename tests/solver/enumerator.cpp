#include <stowage/solver/enumerator.hpp>

#include <doctest/doctest.h>

#include "support/solver_contract.hpp"

using namespace stowage;
using namespace stowage::solver;

TEST_CASE("the enumerator keeps the contract of solvers") {
    test::check_contract(enumerator{});
}

TEST_CASE("an integer without a lower bound is refused by name") {
    model program;
    program.add_variable(variable_kind::integer, -infinity, 0, 1);
    program.variable_name = [](variable_index) { return std::string("x"); };
    const attempt refused = try_solve(enumerator{}, program);
    REQUIRE(refused.error);
    CHECK(refused.error->kind() == fault::bad_model);
    CHECK(std::string(refused.error->what()).find("variable 0 (x)") != std::string::npos);
}

TEST_CASE("where propagation does not settle the continuous part, nothing is claimed") {
    // x + y = 1, x - y = 0 has one solution, which no end of a range is.
    model program;
    program.add_variable(variable_kind::continuous, 0, 1, 1);
    program.add_variable(variable_kind::continuous, 0, 1, 0);
    program.add_row(1, {{0, 1}, {1, 1}}, 1);
    program.add_row(0, {{0, 1}, {1, -1}}, 0);
    const result found = solve(enumerator{}, program);
    CHECK(found.status == status::unknown);
    CHECK(found.bound <= 0.5);
}

TEST_CASE("pruning saves nodes") {
    stowage::detail::splitmix64 random(3);
    const model program = test::random_model(random, {.variables = 8, .rows = 2});
    const result plain = solve(enumerator{}, program);
    REQUIRE(plain.status == status::optimal);
    const result started = solve(enumerator{}, program, {.start = plain.values});
    CHECK(started.nodes < plain.nodes);
    const result rough = solve(enumerator{}, program, {.absolute_gap = 5});
    CHECK(rough.nodes <= plain.nodes);
    CHECK(rough.objective - plain.objective <= 5);
}
