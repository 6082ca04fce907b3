// What the order and layout rooms ask of cbc.
#include <doctest/doctest.h>

#include <stowage/solver/cbc.hpp>

#include "support/solver_programs.hpp"

using namespace stowage;

TEST_CASE("layouts by cbc are exact") {
    test::check_layout_programs(solver::cbc{});
}

TEST_CASE("orders and steps by cbc are exact") {
    test::check_order_programs(solver::cbc{});
}

TEST_CASE("cbc stopped at any moment leaves a valid order and a valid bound") {
    test::check_interrupted_programs(solver::cbc{});
}

TEST_CASE("MODeL by cbc agrees with brute force on small programs") {
    test::check_rivals(solver::cbc{});
}
