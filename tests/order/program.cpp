#include <stowage/order/program.hpp>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>

using namespace stowage;

TEST_CASE("program order is 0, 1, 2, ...") {
    program step;
    for (int i = 0; i < 4; ++i)
        step.add_operator({});
    const tensor_graph graph = make_tensor_graph(step);
    CHECK(order::in_program_order{}(graph) == order::sequence{0, 1, 2, 3});
    CHECK(order::in_program_order{}.arrange(order::detail::make_order_problem(graph)) ==
          order::sequence{0, 1, 2, 3});
    CHECK(order::in_program_order{}(make_tensor_graph(program{})).empty());
}
