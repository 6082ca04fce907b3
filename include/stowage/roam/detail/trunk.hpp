#pragma once
// The trunk of a training step: what lies on paths from the head of its longest path over the turn from
// forward to backward pass to its tail. Captured programs hold operators beside it that would stand in the
// way of every boundary: tables, masks and noise that nothing is needed for, values that the backward pass
// computes again from activations, results that nothing needs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/graph/stage.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/roam/segments.hpp>

namespace stowage::roam::detail {

/// The operator of `among` (one flag an operator) from which the longest path starts, by index if several do;
/// no_operator if there is none. O(operators + dependencies).
template <class = void>
[[nodiscard]] operator_index longest_path_head(const tensor_graph& graph, const std::vector<bool>& among) {
    std::vector<std::uint32_t> height(graph.operator_count(), 0);
    operator_index head = no_operator;
    for (auto op = static_cast<operator_index>(graph.operator_count()); op-- > 0;) {
        for (const operator_index s : graph.successors(op))
            height[op] = std::max(height[op], height[s] + 1);
        if (among[op] && (head == no_operator || height[op] >= height[head])) head = op;
    }
    return head;
}

/// Flags what `from` leads to, itself among it. O(operators + dependencies).
template <class = void>
[[nodiscard]] std::vector<bool> descendants_of(const tensor_graph& graph, operator_index from) {
    std::vector<bool> result(graph.operator_count(), false);
    for (operator_index op = from; op < graph.operator_count(); ++op) {
        const auto before = graph.predecessors(op);
        result[op] = op == from ||
                     std::any_of(before.begin(), before.end(), [&](operator_index p) { return result[p]; });
    }
    return result;
}

/// Flags what leads to `to`, itself among it. O(operators + dependencies).
template <class = void>
[[nodiscard]] std::vector<bool> ancestors_of(const tensor_graph& graph, operator_index to) {
    std::vector<bool> result(graph.operator_count(), false);
    for (operator_index op = to + 1; op-- > 0;) {
        const auto next = graph.successors(op);
        result[op] =
            op == to || std::any_of(next.begin(), next.end(), [&](operator_index s) { return result[s]; });
    }
    return result;
}

/// The core operator that the longest path from `head` leads to. O(operators + dependencies).
template <class = void>
[[nodiscard]] operator_index longest_path_tail(const tensor_graph& graph, const std::vector<part_role>& roles,
                                               operator_index head) {
    std::vector<std::uint32_t> depth(graph.operator_count(), 0);  // counted from 1; 0: not reached
    depth[head] = 1;
    operator_index tail = head;
    for (operator_index op = head + 1; op < graph.operator_count(); ++op) {
        for (const operator_index p : graph.predecessors(op)) {
            if (depth[p] != 0) depth[op] = std::max(depth[op], depth[p] + 1);
        }
        if (roles[op] == part_role::core && depth[op] > depth[tail]) tail = op;
    }
    return tail;
}

/// Takes out of the core what is beside the trunk: what nothing of the trunk needs runs in the first segment
/// that its predecessors allow, everything else as late as its first successor. True if that loses nothing
/// because there was nothing to take out. O(operators + dependencies).
template <class = void>
bool keep_trunk(const tensor_graph& graph, const std::vector<stage>& stages, std::vector<part_role>& roles) {
    const std::size_t count = graph.operator_count();
    std::vector<bool> core(count);
    std::vector<bool> backward(count);
    for (std::size_t op = 0; op < count; ++op) {
        core[op] = roles[op] == part_role::core;
        backward[op] = core[op] && stages[op] == stage::backward;
    }
    const operator_index head = longest_path_head(graph, core);
    if (head == no_operator) return true;
    const operator_index turn = longest_path_head(graph, backward);
    const std::vector<bool> after_head = descendants_of(graph, head);
    const std::vector<bool> before_tail = ancestors_of(graph, longest_path_tail(graph, roles, head));
    std::vector<bool> after_turn(count, true);
    std::vector<bool> before_turn(count, true);
    if (turn != no_operator) {
        after_turn = descendants_of(graph, turn);
        before_turn = ancestors_of(graph, turn);
    }
    bool unchanged = true;
    for (operator_index op = 0; op < count; ++op) {
        if (!core[op]) continue;
        const bool begun = after_head[op] && (!backward[op] || after_turn[op]);
        const bool leads_on = before_tail[op] && (backward[op] || before_turn[op]);
        if (begun && leads_on) continue;
        roles[op] = begun || graph.successors(op).empty() ? part_role::follower : part_role::source;
        unchanged = false;
    }
    return unchanged;
}

}  // namespace stowage::roam::detail
