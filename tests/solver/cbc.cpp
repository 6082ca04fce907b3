// ctest-label: threads
#include <stowage/solver/cbc.hpp>

#include <doctest/doctest.h>

#include "support/solver_contract.hpp"

using namespace stowage;
using namespace stowage::solver;

TEST_CASE("Cbc keeps the contract of solvers") {
    test::check_contract(cbc{}, 100);
    test::check_right_answers(cbc{{.strengthen = false}}, 50);
}

TEST_CASE("two threads with Cbc at once get the answers of one") {
    test::check_threads(cbc{});
}

TEST_CASE("a long linear program of Cbc is interrupted, too") {
    test::check_long_linear_program(cbc{});
}
