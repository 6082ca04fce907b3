#pragma once
// The least peak of a small program in at most T steps of several operators, from the graph alone and by the
// definition of live bytes: every assignment of steps is tried.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>

namespace stowage::test {

/// The most bytes alive in one of `steps` steps, `at[op]` being the step of each operator.
[[nodiscard]] inline std::int64_t peak_of_assignment(const tensor_graph& graph,
                                                     const std::vector<std::size_t>& at, std::size_t steps) {
    std::int64_t peak = 0;
    for (std::size_t t = 0; t < steps; ++t) {
        std::int64_t live = 0;
        for (operator_index op = 0; op < at.size(); ++op)
            live += at[op] == t ? graph.workspace(op) : 0;
        for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
            if (!graph.is_planned(b)) continue;
            bool born = graph.kind(b) == buffer_kind::donated;
            bool needed = graph.kind(b) == buffer_kind::output;
            for (const operator_index op : graph.users(b)) {
                born = born || at[op] <= t;
                needed = needed || at[op] >= t;
            }
            if (born && needed) live += graph.bytes(b);
        }
        peak = std::max(peak, live);
    }
    return peak;
}

/// The least peak of all legal assignments; the largest integer if there is none. O(T^n n buffers).
[[nodiscard]] inline std::int64_t least_peak_in_steps(const tensor_graph& graph, std::size_t steps) {
    std::vector<std::size_t> at(graph.operator_count(), 0);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    while (true) {
        bool legal = true;
        for (operator_index op = 0; op < at.size() && legal; ++op) {
            for (const operator_index before : graph.predecessors(op))
                legal = legal && at[before] < at[op];
        }
        if (legal) best = std::min(best, peak_of_assignment(graph, at, steps));
        std::size_t i = 0;
        while (i < at.size() && at[i] + 1 == steps)
            at[i++] = 0;
        if (i == at.size()) return best;
        ++at[i];
    }
}

}  // namespace stowage::test
