#include <stowage/order/detail/list_scheduler.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/detail/live_state.hpp>

#include "support/any_program.hpp"

namespace {

using namespace stowage;
using namespace stowage::order::detail;

// Takes the ready operator that was put first.
struct queue_choice {
    std::vector<operator_index> waiting;
    void put(operator_index op, std::int64_t, std::int64_t) {
        if (std::find(waiting.begin(), waiting.end(), op) == waiting.end()) waiting.push_back(op);
    }
    operator_index pick(std::int64_t, std::int64_t) {
        const operator_index op = waiting.front();
        waiting.erase(waiting.begin());
        return op;
    }
};
struct without_pick {
    void put(operator_index, std::int64_t, std::int64_t) {}
};
static_assert(ready_choice<queue_choice>);
static_assert(!ready_choice<without_pick>);

}  // namespace

TEST_CASE("need and net of every operator are up to date, forwards and backwards, and changes are told") {
    stowage::detail::splitmix64 random(82);
    for (int trial = 0; trial < 200; ++trial) {
        const order_problem forward = make_order_problem(
            make_tensor_graph(test::any_program(random, {.operators = 1 + random.below(20)})));
        for (const order_problem& problem : {forward, reverse(forward)}) {
            live_state expected(problem);
            list_state state(problem);
            const auto count = static_cast<operator_index>(problem.operator_count());
            std::vector<std::int64_t> need(count);
            std::vector<std::int64_t> net(count);
            for (operator_index op = 0; op < count; ++op) {
                need[op] = state.need(op);
                net[op] = state.net(op);
            }
            for (operator_index op = 0; op < count; ++op) {
                CHECK(state.live() == expected.live());
                CHECK(state.need(op) == expected.hill(op) - expected.live());
                CHECK(state.net(op) == expected.born_at(op) - expected.dead_after(op));
                expected.run(op);
                std::vector<bool> told(count, false);
                state.run(op, [&](operator_index other) { told[other] = true; });
                for (operator_index other = op + 1; other < count; ++other) {
                    if (state.need(other) != need[other] || state.net(other) != net[other])
                        CHECK(told[other]);
                    need[other] = state.need(other);
                    net[other] = state.net(other);
                }
            }
        }
    }
}

TEST_CASE("a choice sees ready operators only, each at least once") {
    stowage::detail::splitmix64 random(83);
    for (int trial = 0; trial < 50; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 15}));
        const auto order = list_order(make_order_problem(graph), queue_choice{}, nullptr);
        const auto step = steps_of(graph, order);
        for (operator_index op = 0; op < graph.operator_count(); ++op) {
            for (const operator_index before : graph.predecessors(op))
                CHECK(step[before] < step[op]);
        }
    }
}
