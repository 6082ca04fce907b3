// ctest-label: threads
#include <stowage/solver/glpk.hpp>

#include <doctest/doctest.h>

#include <glpk.h>

#include <string>

#include "support/solver_contract.hpp"

using namespace stowage;
using namespace stowage::solver;

TEST_CASE("GLPK keeps the contract of solvers") {
    test::check_contract(glpk{});
    test::check_right_answers(glpk{{.cuts = false}}, 50);
    test::check_right_answers(glpk{{.presolve = true}}, 50);
    test::check_stops(glpk{{.presolve = true}});
}

TEST_CASE("two threads with GLPK at once get the answers of one") {
    test::check_threads(glpk{});
}

TEST_CASE("GLPK's aborts are errors, and the caller's own GLPK objects survive them") {
    glp_prob* const mine = glp_create_prob();
    glp_add_cols(mine, 3);
    // A row that names a variable twice makes GLPK end the program; the contract refuses it before ...
    model program;
    program.add_binary(1);
    program.add_row(0, {{0, 1}, {0, 1}}, 1);
    const attempt refused = try_solve(glpk{}, program);
    REQUIRE(refused.error);
    CHECK(refused.error->kind() == fault::bad_model);
    // ... so GLPK is asked directly.
    for (int round = 0; round < 3; ++round) {
        try {
            static_cast<void>(glpk{}(program, {}));
            FAIL("no error");
        } catch (const solver_error& error) {
            CHECK(error.kind() == fault::aborted);
            CHECK(std::string(error.what()).find("duplicate indices not allowed") != std::string::npos);
        }
    }
    CHECK(glp_get_num_cols(mine) == 3);
    glp_delete_prob(mine);
    model good;
    good.add_binary(-1);
    CHECK(solve(glpk{}, good).objective == -1);
}

TEST_CASE("a long linear program is interrupted, too") {
    test::check_long_linear_program(glpk{});
}
