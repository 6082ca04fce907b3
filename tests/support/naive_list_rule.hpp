#pragma once
// List rules by their definition: at every step all ready operators are compared, with live bytes computed
// from the graph alone. For up to 30 operators.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>

#include "support/brute_force_order.hpp"

namespace stowage::test {

/// What a list rule may look at.
struct ready_figures {
    operator_index op = 0;  // numbered from the end of the program when it is run backwards
    std::int64_t need = 0;  // bytes that it adds while it runs, workspace included
    std::int64_t net = 0;   // bytes that it leaves, less those that it frees
    std::int64_t live = 0;
    std::int64_t peak = 0;           // of the steps so far
    std::size_t waiting_for_it = 0;  // operators
};

/// The order in which always the ready operator with the least key runs.
template <class Key>
std::vector<operator_index> naive_list_order(const tensor_graph& graph, bool backwards, Key key) {
    const std::size_t count = graph.operator_count();
    const operator_set all = (operator_set{1} << count) - 1;
    std::vector<operator_index> order;
    operator_set run = 0;
    std::int64_t peak = 0;
    const auto live_of = [&](operator_set set) { return live_after(graph, backwards ? all & ~set : set); };
    while (order.size() < count) {
        std::optional<std::pair<decltype(key(ready_figures{})), operator_index>> best;
        std::int64_t hill = 0;
        const std::int64_t live = live_of(run);
        for (operator_index i = 0; i < count; ++i) {
            const auto op = backwards ? static_cast<operator_index>(count - 1 - i) : i;
            const operator_set bit = operator_set{1} << op;
            const auto before = backwards ? graph.successors(op) : graph.predecessors(op);
            const auto after = backwards ? graph.predecessors(op) : graph.successors(op);
            if ((run & bit) != 0 || (set_of(before) & ~run) != 0) continue;
            const std::int64_t during = live_during(graph, backwards ? all & ~run & ~bit : run, op);
            const ready_figures figures{i,    during - live, live_of(run | bit) - live,
                                        live, peak,          after.size()};
            if (best && best->first <= key(figures)) continue;
            best = {key(figures), op};
            hill = during;
        }
        order.push_back(best->second);
        run |= operator_set{1} << best->second;
        peak = std::max(peak, hill);
    }
    if (backwards) std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace stowage::test
