// What the order and layout rooms ask of glpk.
#include <doctest/doctest.h>

#include <stowage/solver/glpk.hpp>

#include "support/solver_programs.hpp"

using namespace stowage;

TEST_CASE("layouts by glpk are exact") {
    test::check_layout_programs(solver::glpk{});
}

TEST_CASE("orders and steps by glpk are exact") {
    test::check_order_programs(solver::glpk{});
}

TEST_CASE("glpk stopped at any moment leaves a valid order and a valid bound") {
    test::check_interrupted_programs(solver::glpk{});
}

TEST_CASE("MODeL by glpk agrees with brute force on small programs") {
    test::check_rivals(solver::glpk{});
}
