#include <stowage/order/detail/plain_bounds.hpp>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>

#include "support/known_programs.hpp"

using namespace stowage;
using namespace stowage::order::detail;

TEST_CASE("the first of equally strong bounds is kept") {
    const order::bound a{5, {"a", 1}};
    const order::bound b{5, {"b", 2}};
    const order::bound c{6, {"c", 3}};
    CHECK(stronger(a, b).witness.rule == "a");
    CHECK(stronger(a, c).witness.rule == "c");
    CHECK(stronger(c, a).witness.rule == "c");
}

TEST_CASE("witnesses name the operator") {
    const auto problem = make_order_problem(make_tensor_graph(test::known_programs()[1].step));
    CHECK(working_set(problem).witness.at == 5);
    surely_alive alive(problem);
    CHECK(alive.at(5) == 120);
    CHECK(alive.at(0) == 10);
    CHECK(alive.work() > 0);
    const auto nothing = make_order_problem(make_tensor_graph(program{}));
    CHECK(working_set(nothing).bytes == 0);
    CHECK(both_ends(nothing).bytes == 0);
}
