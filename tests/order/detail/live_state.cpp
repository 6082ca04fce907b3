#include <stowage/order/detail/live_state.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"

namespace {

using namespace stowage;
using namespace stowage::order::detail;

}  // namespace

TEST_CASE("live bytes, hills and births agree with the definition at every step of random walks") {
    stowage::detail::splitmix64 random(4);
    for (int trial = 0; trial < 200; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 10}));
        const order_problem problem = make_order_problem(graph);
        live_state state(problem);
        test::operator_set set = 0;
        std::vector<operator_index> run;
        for (int step = 0; step < 60; ++step) {
            if (!run.empty() && random.below(3) == 0) {
                state.undo(run.back());
                set &= ~(test::operator_set{1} << run.back());
                run.pop_back();
            } else {
                const auto op = static_cast<operator_index>(random.below(graph.operator_count()));
                if ((set >> op & 1U) != 0 || (test::set_of(graph.predecessors(op)) & ~set) != 0) continue;
                const std::int64_t expected = test::live_during(graph, set, op);
                CHECK(state.hill(op) == expected);
                const std::int64_t before = state.live();
                const std::int64_t born = state.born_at(op);
                const std::int64_t dead = state.dead_after(op);
                CHECK(state.run(op) == expected);
                CHECK(state.live() == before + born - dead);
                set |= test::operator_set{1} << op;
                run.push_back(op);
            }
            CHECK(state.live() == test::live_after(graph, set));
        }
    }
}

TEST_CASE("backwards, a state is the complement") {
    stowage::detail::splitmix64 random(5);
    for (int trial = 0; trial < 100; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 9}));
        const order_problem problem = make_order_problem(graph);
        const order_problem back = reverse(problem);
        live_state forward(problem);
        live_state backward(back);
        const std::size_t count = graph.operator_count();
        std::vector<std::int64_t> live = {forward.live()};
        std::vector<std::int64_t> hill;
        for (operator_index op = 0; op < count; ++op) {
            hill.push_back(forward.run(op));
            live.push_back(forward.live());
        }
        for (operator_index op = 0; op < count; ++op) {
            CHECK(backward.live() == live[count - op]);
            CHECK(backward.hill(op) == hill[count - 1 - op]);
            CHECK(backward.run(op) == hill[count - 1 - op]);
        }
        CHECK(backward.live() == live[0]);
    }
}

TEST_CASE("an empty program has no hill") {
    const order_problem problem = make_order_problem(make_tensor_graph(program{}));
    CHECK(hills_of(problem, {}).empty());
    CHECK(peak_of(problem, {}) == 0);
}
