#include <stowage/order/detail/spans.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"

using namespace stowage;

namespace {

/// reach[u][v]: a path of dependencies leads from u to v.
std::vector<std::vector<bool>> closure(const tensor_graph& graph) {
    const std::size_t count = graph.operator_count();
    std::vector<std::vector<bool>> reach(count, std::vector<bool>(count, false));
    for (operator_index v = 0; v < count; ++v) {
        for (const operator_index u : graph.predecessors(v)) {
            reach[u][v] = true;
            for (std::size_t w = 0; w < u; ++w)
                reach[w][v] = reach[w][v] || reach[w][u];
        }
    }
    return reach;
}

}  // namespace

TEST_CASE("spans by count are the numbers of ancestors and descendants") {
    stowage::detail::splitmix64 random(61);
    for (const std::size_t operators : {std::size_t{1}, std::size_t{5}, std::size_t{64}, std::size_t{150}}) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = operators, .window = 20}));
        const auto spans = order::detail::spans_by_count(order::detail::make_order_problem(graph));
        const auto reach = closure(graph);
        for (std::size_t op = 0; op < operators; ++op) {
            std::size_t before = 0;
            std::size_t after = 0;
            for (std::size_t other = 0; other < operators; ++other) {
                before += reach[other][op] ? 1 : 0;
                after += reach[op][other] ? 1 : 0;
            }
            CHECK(spans.first[op] == before);
            CHECK(spans.last[op] == operators - 1 - after);
        }
    }
}

TEST_CASE("spans by path leave room for the longest path before and after") {
    program made;  // 0 -> 1 -> 3, 2 alone
    const buffer_id a = made.add_buffer({.bytes = 1});
    const buffer_id b = made.add_buffer({.bytes = 1});
    made.add_operator({.writes = {a}});
    made.add_operator({.reads = {a}, .writes = {b}});
    made.add_operator({});
    made.add_operator({.reads = {b}});
    const auto problem = order::detail::make_order_problem(make_tensor_graph(made));
    CHECK(order::detail::longest_path(problem) == 3);
    const auto spans = order::detail::spans_by_path(problem, 4);
    CHECK(spans.first == std::vector<std::uint32_t>{0, 1, 0, 2});
    CHECK(spans.last == std::vector<std::uint32_t>{1, 2, 3, 3});
    CHECK(order::detail::spans_by_path(problem, 2).first.empty());
}
