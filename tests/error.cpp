#include <stowage/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace stowage;

TEST_CASE("a program_error makes its text from its fields") {
    const program_error both("it reads a buffer that no operator has written before", {3, "conv1"}, {7, "x"});
    CHECK(std::string(both.what()) ==
          "operator 3 (conv1), buffer 7 (x): it reads a buffer that no operator has written before");
    CHECK(both.operator_concerned().index == 3);
    CHECK(both.buffer_concerned().name == "x");
    CHECK(std::string(program_error("no operators", {}).what()) == "no operators");
    CHECK(std::string(program_error("negative size", {}, {2, ""}).what()) == "buffer 2: negative size");
}

TEST_CASE("a layout_error names one buffer or two") {
    CHECK(std::string(layout_error("they overlap", {0, "a"}, {1, "b"}).what()) ==
          "buffer 0 (a) and buffer 1 (b): they overlap");
    CHECK(std::string(layout_error("size -1 is negative", {4, ""}).what()) ==
          "buffer 4: size -1 is negative");
}

TEST_CASE("a parse_error says where") {
    const parse_error csv("lower 7 > upper 3", "problem.csv", 3, 8, "upper");
    CHECK(std::string(csv.what()) == "problem.csv:3:8: upper: lower 7 > upper 3");
    CHECK(csv.line() == 3);
    CHECK(csv.column() == 8);
    const parse_error json("not an integer", "p.json", 0, 0, "ops[3].reads[0]");
    CHECK(std::string(json.what()) == "p.json: ops[3].reads[0]: not an integer");
    CHECK(json.key() == "ops[3].reads[0]");
}

TEST_CASE("every error is a stowage::error") {
    CHECK_THROWS_AS(throw overflow_error("x"), error);
    CHECK_THROWS_AS(throw parse_error("x", "f"), error);
    CHECK_THROWS_AS(throw layout_error("x", {}), error);
    CHECK_THROWS_AS(throw program_error("x", {}), error);
}
