#include <stowage/order/depth_first.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"

namespace {

using namespace stowage;

// By the definition, with recursion.
order::sequence naive(const tensor_graph& graph, bool heavy) {
    const std::size_t count = graph.operator_count();
    std::vector<std::int64_t> weight(count);
    for (operator_index op = 0; op < count; ++op) {
        weight[op] = graph.workspace(op);
        for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
            if (graph.is_planned(b) && graph.producer(b) == op) weight[op] += graph.bytes(b);
        }
        for (const operator_index before : graph.predecessors(op))
            weight[op] += weight[before];
    }
    order::sequence order;
    std::vector<bool> seen(count, false);
    const std::function<void(operator_index)> visit = [&](operator_index op) {
        if (seen[op]) return;
        seen[op] = true;
        const auto before = graph.predecessors(op);
        std::vector<operator_index> children(before.begin(), before.end());
        std::sort(children.begin(), children.end(), [&](operator_index a, operator_index b) {
            return heavy ? std::tuple(-weight[a], a) < std::tuple(-weight[b], b)
                         : std::tuple(weight[a], a) < std::tuple(weight[b], b);
        });
        for (const operator_index child : children)
            visit(child);
        order.push_back(op);
    };
    for (operator_index op = 0; op < count; ++op) {
        if (graph.successors(op).empty()) visit(op);
    }
    return order;
}

}  // namespace

TEST_CASE("depth first by the definition, heaviest and lightest subtree first") {
    stowage::detail::splitmix64 random(24);
    for (int trial = 0; trial < 300; ++trial) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 1 + random.below(25)}));
        CHECK(order::depth_first{}(graph) == naive(graph, true));
        CHECK(order::depth_first{order::first_subtree::lightest}(graph) == naive(graph, false));
    }
}

TEST_CASE("weights that double with every operator do not overflow") {
    program step;
    buffer_id last = step.add_buffer({.bytes = std::int64_t{1} << 40U});
    step.add_operator({.writes = {last}});
    for (int i = 0; i < 200; ++i) {
        const buffer_id a = step.add_buffer({.bytes = std::int64_t{1} << 50U});
        const buffer_id b = step.add_buffer({.bytes = std::int64_t{1} << 50U});
        const buffer_id sum = step.add_buffer({.bytes = std::int64_t{1} << 50U});
        step.add_operator({.reads = {last}, .writes = {a}});
        step.add_operator({.reads = {last}, .writes = {b}});
        step.add_operator({.reads = {a, b}, .writes = {sum}});
        last = sum;
    }
    const auto problem = order::detail::make_order_problem(make_tensor_graph(step));
    const auto weights = order::detail::subtree_weights(problem);
    CHECK(*std::min_element(weights.begin(), weights.end()) > 0);
    CHECK(weights.back() == std::numeric_limits<std::int64_t>::max() / 4);
    CHECK(order::depth_first{}.arrange(problem).size() == 601);
}

TEST_CASE("a long chain needs no deep stack") {
    program step;
    buffer_id last = step.add_buffer({.bytes = 1, .kind = buffer_kind::input});
    for (int i = 0; i < 200'000; ++i) {
        const buffer_id next = step.add_buffer({.bytes = 64});
        step.add_operator({.reads = {last}, .writes = {next}});
        last = next;
    }
    const tensor_graph graph = make_tensor_graph(step);
    CHECK(order::depth_first{}(graph) == program_order(graph));
}
