#include <stowage/order/detail/order_problem.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/detail/live_state.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"

namespace {

using namespace stowage;
using namespace stowage::order::detail;

std::vector<operator_index> turned_round(std::vector<operator_index> order) {
    std::reverse(order.begin(), order.end());
    for (operator_index& op : order)
        op = static_cast<operator_index>(order.size() - 1 - op);
    return order;
}

}  // namespace

TEST_CASE("hills are the live bytes of the order's steps, forwards and backwards") {
    stowage::detail::splitmix64 random(1);
    for (int trial = 0; trial < 300; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 12}));
        const order_problem problem = make_order_problem(graph);
        const order_problem back = reverse(problem);
        const auto order = program_order(graph);
        const auto expected = live_bytes(graph, order);
        CHECK(hills_of(problem, order) == expected);
        CHECK(peak_of(problem, order) == peak_bytes(graph, order));
        auto hills = hills_of(back, turned_round(order));
        std::reverse(hills.begin(), hills.end());
        CHECK(hills == expected);
        CHECK(back.live_at_start() == problem.live_at_end());
        CHECK(back.live_at_end() == problem.live_at_start());
    }
}

TEST_CASE("reversing twice gives the problem again") {
    stowage::detail::splitmix64 random(2);
    for (int trial = 0; trial < 100; ++trial) {
        const order_problem problem =
            make_order_problem(make_tensor_graph(test::any_program(random, {.operators = 20})));
        const order_problem again = reverse(reverse(problem));
        CHECK(again.predecessors.values == problem.predecessors.values);
        CHECK(again.successors.values == problem.successors.values);
        CHECK(again.tensors.values == problem.tensors.values);
        CHECK(again.use_begin == problem.use_begin);
        CHECK(again.born_bytes == problem.born_bytes);
        CHECK(again.starts_alive == problem.starts_alive);
        CHECK(!again.backwards);
    }
}

TEST_CASE("predecessors have smaller indices both ways") {
    stowage::detail::splitmix64 random(3);
    for (int trial = 0; trial < 50; ++trial) {
        const order_problem problem =
            make_order_problem(make_tensor_graph(test::any_program(random, {.operators = 30})));
        for (const order_problem& p : {problem, reverse(problem)}) {
            for (operator_index op = 0; op < p.operator_count(); ++op) {
                for (const operator_index before : p.predecessors[op])
                    CHECK(before < op);
                for (const operator_index after : p.successors[op])
                    CHECK(after > op);
            }
        }
    }
}

TEST_CASE("a tensor without bytes, and a donated one without users, take no part") {
    program step;
    const auto nothing = step.add_buffer({.bytes = 0});
    step.add_buffer({.bytes = 8, .kind = buffer_kind::donated});
    const auto used = step.add_buffer({.bytes = 16, .kind = buffer_kind::donated});
    const auto weights = step.add_buffer({.bytes = 32, .kind = buffer_kind::parameter});
    step.add_operator({.reads = {used, weights}, .writes = {nothing}, .workspace = 5});
    const order_problem problem = make_order_problem(make_tensor_graph(step));
    REQUIRE(problem.tensor_count() == 1);
    CHECK(problem.live_at_start() == 16);
    CHECK(problem.live_at_end() == 0);
    CHECK(problem.workspace[0] == 5);
    CHECK(problem.products(0).empty());
    CHECK(problem.uses(0).size() == 1);
    CHECK(problem.consumers(0).size() == 1);
}

TEST_CASE("products come before uses, the producer before the other users") {
    program step;
    const auto a = step.add_buffer({.bytes = 1});
    const auto b = step.add_buffer({.bytes = 2, .kind = buffer_kind::output});
    step.add_operator({.writes = {a}});
    step.add_operator({.reads = {a}, .writes = {a, b}});
    step.add_operator({.reads = {a, b}});
    const order_problem problem = make_order_problem(make_tensor_graph(step));
    CHECK(problem.products(1).size() == 1);
    CHECK(problem.bytes[problem.products(1)[0]] == 2);
    CHECK(problem.uses(1).size() == 1);
    CHECK(problem.bytes[problem.uses(1)[0]] == 1);
    CHECK(problem.users[0].size() == 3);
    CHECK(problem.consumers(0).size() == 2);
    CHECK(problem.born_bytes == std::vector<std::int64_t>{1, 2, 0});
    CHECK(problem.live_at_end() == 2);
    CHECK(problem.total_bytes() == 3);
}
