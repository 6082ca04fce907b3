#pragma once
// The least peak of a small program over all legal orders, from the graph alone and by the definition of live
// bytes: a table over all down-sets. For up to 20 operators.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>

namespace stowage::test {

/// Operators as bits of a word.
using operator_set = std::uint32_t;

[[nodiscard]] inline operator_set set_of(std::span<const operator_index> operators) {
    operator_set set = 0;
    for (const operator_index op : operators)
        set |= operator_set{1} << op;
    return set;
}

[[nodiscard]] inline bool is_down_set(const tensor_graph& graph, operator_set set) {
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if ((set >> op & 1U) != 0 && (set_of(graph.predecessors(op)) & ~set) != 0) return false;
    }
    return true;
}

/// Live bytes between two operators, the first having run `set`.
[[nodiscard]] inline std::int64_t live_after(const tensor_graph& graph, operator_set set) {
    std::int64_t live = 0;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b)) continue;
        const operator_set users = set_of(graph.users(b));
        const bool born = graph.kind(b) == buffer_kind::donated || (users & set) != 0;
        const bool dead = graph.kind(b) != buffer_kind::output && (users & ~set) == 0;
        if (born && !dead) live += graph.bytes(b);
    }
    return live;
}

/// Live bytes while `op` runs, `set` having run before.
[[nodiscard]] inline std::int64_t live_during(const tensor_graph& graph, operator_set set,
                                              operator_index op) {
    std::int64_t live = graph.workspace(op);
    const operator_set now = operator_set{1} << op;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b)) continue;
        const operator_set users = set_of(graph.users(b));
        const bool born = graph.kind(b) == buffer_kind::donated || (users & (set | now)) != 0;
        const bool dead = graph.kind(b) != buffer_kind::output && (users & ~set) == 0;
        if (born && !dead) live += graph.bytes(b);
    }
    return live;
}

/// The least peak of all legal orders. O(2^n n buffers).
[[nodiscard]] inline std::int64_t least_peak(const tensor_graph& graph) {
    const std::size_t count = graph.operator_count();
    const operator_set all = (operator_set{1} << count) - 1;
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> best(std::size_t{all} + 1, none);
    best[0] = 0;
    for (operator_set set = 0; set < all; ++set) {
        if (best[set] == none) continue;
        for (operator_index op = 0; op < count; ++op) {
            if ((set >> op & 1U) != 0 || (set_of(graph.predecessors(op)) & ~set) != 0) continue;
            std::int64_t& next = best[set | operator_set{1} << op];
            next = std::min(next, std::max(best[set], live_during(graph, set, op)));
        }
    }
    return best[all];
}

}  // namespace stowage::test
