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

/// The least peak of all legal orders, by dynamic programming over the sets of operators run. O(2^n n
/// buffers).
[[nodiscard]] inline std::int64_t least_peak(const tensor_graph& graph) {
    const std::size_t count = graph.operator_count();
    std::vector<std::uint32_t> before(count, 0);
    for (operator_index op = 0; op < count; ++op) {
        for (const operator_index p : graph.predecessors(op))
            before[op] |= 1U << p;
    }
    struct life {
        std::uint32_t users = 0;
        std::int64_t bytes = 0;
        buffer_kind kind = buffer_kind::intermediate;
    };
    std::vector<life> lives;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b)) continue;
        life entry{0, graph.bytes(b), graph.kind(b)};
        for (const operator_index op : graph.users(b))
            entry.users |= 1U << op;
        lives.push_back(entry);
    }
    const std::uint32_t all = count == 0 ? 0 : (count == 32 ? ~0U : (1U << count) - 1);
    const auto cost = [&](std::uint32_t done, operator_index op) {
        std::int64_t live = graph.workspace(op);
        const std::uint32_t after = done | 1U << op;
        for (const life& l : lives) {
            const bool born = l.kind == buffer_kind::donated || (l.users & after) != 0;
            const bool needed = l.kind == buffer_kind::output || (l.users & ~done) != 0;
            if (born && needed) live += l.bytes;
        }
        return live;
    };
    std::vector<std::int64_t> best(static_cast<std::size_t>(all) + 1,
                                   std::numeric_limits<std::int64_t>::max());
    best[0] = 0;
    for (std::uint32_t done = 0; done < all; ++done) {
        if (best[done] == std::numeric_limits<std::int64_t>::max()) continue;
        for (operator_index op = 0; op < count; ++op) {
            if ((done >> op & 1U) != 0 || (before[op] & ~done) != 0) continue;
            std::int64_t& next = best[done | 1U << op];
            next = std::min(next, std::max(best[done], cost(done, op)));
        }
    }
    return best[all];
}

}  // namespace stowage::test
