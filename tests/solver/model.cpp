#include <stowage/solver/model.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace stowage::solver;

TEST_CASE("a model is plain arrays") {
    model program;
    const auto x = program.add_binary(2);
    const auto y = program.add_variable(variable_kind::continuous, -1, infinity, 3);
    program.constant = 1;
    const auto row = program.add_row(-infinity, {{x, 1}, {y, 0}}, 4);
    const auto other = program.add_row(0, std::vector<term>{{y, 2}, {x, -1}}, 0);
    CHECK(program.variable_count() == 2);
    CHECK(program.row_count() == 2);
    CHECK(program.entry_count() == 3);  // a coefficient of 0 is no entry
    CHECK(program.row_variables(row).size() == 1);
    CHECK(program.row_variables(other)[0] == y);
    CHECK(program.row_coefficients(other)[1] == -1);
    CHECK(program.kind[x] == variable_kind::integer);
    CHECK(program.objective(std::vector<double>{1, 2}) == 9);
}

TEST_CASE("names are made on demand") {
    model program;
    program.add_binary();
    CHECK(program.describe_variable(0) == "variable 0");
    CHECK(program.describe_row(4) == "row 4");
    int asked = 0;
    program.variable_name = [&](variable_index i) {
        ++asked;
        return "x" + std::to_string(i);
    };
    CHECK(asked == 0);
    CHECK(program.describe_variable(0) == "variable 0 (x0)");
    CHECK(asked == 1);
}
