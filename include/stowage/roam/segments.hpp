#pragma once
// Memory-insensitive operators and the independent segments between them. An operator is memory-insensitive
// if it is an ancestor or a descendant of every other one: it has the same timestep in every order, so that
// what stands before it and what stands after it can be ordered apart, and the peak of the whole is the
// largest of the peaks of the parts. Source: ROAM, "operators order optimization based on IS", equations 1
// to 3; docs/from-the-paper-to-the-code.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage::roam {

/// The operators of `core` (one flag an operator) that are memory-insensitive among those of `core`:
/// ancestors or descendants of every other one of them, by paths that may lead through operators outside.
/// Ascending. O(operators + dependencies). Throws program_error if there is not one flag an operator.
template <class = void>
[[nodiscard]] std::vector<operator_index> memory_insensitive_operators(const tensor_graph& graph,
                                                                       const std::vector<bool>& core) {
    if (core.size() != graph.operator_count()) throw program_error("there is to be one flag an operator", {});
    // In a legal order, one is insensitive if and only if every other before it has a successor at or before
    // it, and every one after it a predecessor at or after it (by induction from it outwards). Operators
    // outside pass on what their neighbours say.
    const auto count = static_cast<operator_index>(graph.operator_count());
    constexpr operator_index none = no_operator;
    std::vector<operator_index> next(count, none);  // nearest successor in the core; itself where it is core
    std::vector<bool> result(count, false);
    for (operator_index op = count; op-- > 0;) {
        for (const operator_index s : graph.successors(op))
            next[op] = std::min(next[op], core[s] ? s : next[s]);
    }
    operator_index latest = 0;  // the largest `next` of the core operators so far
    for (operator_index op = 0; op < count; ++op) {
        if (!core[op]) continue;
        result[op] = latest <= op;
        latest = std::max(latest, next[op]);
    }
    std::vector<std::int64_t> previous(count, -1);
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (operator_index op = 0; op < count; ++op) {
        for (const operator_index p : graph.predecessors(op))
            previous[op] = std::max(previous[op], core[p] ? std::int64_t{p} : previous[p]);
    }
    for (operator_index op = count; op-- > 0;) {
        if (!core[op]) continue;
        if (earliest < op) result[op] = false;
        earliest = std::min(earliest, previous[op]);
    }
    std::vector<operator_index> found;
    for (operator_index op = 0; op < count; ++op) {
        if (result[op]) found.push_back(op);
    }
    return found;
}

/// The memory-insensitive operators of the whole program, ascending. O(operators + dependencies).
template <class = void>
[[nodiscard]] std::vector<operator_index> memory_insensitive_operators(const tensor_graph& graph) {
    return memory_insensitive_operators(graph, std::vector<bool>(graph.operator_count(), true));
}

/// Operators that are ordered by themselves.
struct segment {
    std::vector<operator_index> operators = {};  ///< ascending
    bool boundary = false;                       ///< it is one memory-insensitive operator
};

/// A program in segments that run one after the other: dependencies never lead back to an earlier one.
struct segmentation {
    std::vector<segment> segments = {};  ///< in running order; each operator stands in one of them
    /// True if every legal order can be brought into this form without a higher peak: then the best orders
    /// of the segments make the best order of the whole. False once operators that could run in several
    /// segments were given to one.
    bool independent = true;

    /// The segment of each operator. O(operators).
    template <class = void>
    [[nodiscard]] std::vector<std::uint32_t> segment_of() const {
        std::size_t count = 0;
        for (const segment& part : segments)
            count += part.operators.size();
        std::vector<std::uint32_t> result(count, 0);
        for (std::uint32_t i = 0; i < segments.size(); ++i) {
            for (const operator_index op : segments[i].operators)
                result[op] = i;
        }
        return result;
    }
    /// Operators of the longest segment. O(segments).
    template <class = void>
    [[nodiscard]] std::size_t longest() const noexcept {
        std::size_t longest = 0;
        for (const segment& part : segments)
            longest = std::max(longest, part.operators.size());
        return longest;
    }
};

/// True if the operator touches no byte of the plan and has no workspace: where it runs changes no peak.
template <class = void>
[[nodiscard]] bool is_weightless(const tensor_graph& graph, operator_index op) {
    if (graph.workspace(op) > 0) return false;
    const auto accesses = graph.accesses(op);
    return std::none_of(accesses.begin(), accesses.end(),
                        [&](buffer_index b) { return graph.is_planned(b) && graph.bytes(b) > 0; });
}

namespace detail {

/// What an operator is to the search for boundaries.
enum class part_role : std::uint8_t {
    core,      ///< boundaries are looked for among these
    follower,  ///< runs in the first segment that its predecessors allow
    source,    ///< runs as late as the segment of its first successor
};

/// True if the operator uses no tensor of the plan that it does not make itself, has no workspace, and all
/// that it makes lives on: delaying it to its first successor raises no live sum.
template <class = void>
[[nodiscard]] bool frees_nothing(const tensor_graph& graph, operator_index op) {
    if (graph.workspace(op) > 0 || graph.successors(op).empty()) return false;
    const auto accesses = graph.accesses(op);
    return std::all_of(accesses.begin(), accesses.end(), [&](buffer_index b) {
        if (!graph.is_planned(b) || graph.bytes(b) == 0) return true;
        return graph.producer(b) == op && (graph.kind(b) == buffer_kind::output || graph.users(b).size() > 1);
    });
}

/// True if the operator makes no tensor of the plan and has no workspace: running it early raises no live
/// sum.
template <class = void>
[[nodiscard]] bool allocates_nothing(const tensor_graph& graph, operator_index op) {
    if (graph.workspace(op) > 0) return false;
    const auto writes = graph.writes(op);
    return std::none_of(writes.begin(), writes.end(), [&](buffer_index b) {
        return graph.is_planned(b) && graph.bytes(b) > 0 && graph.producer(b) == op;
    });
}

/// Which slot each operator is in: the memory-insensitive operators of the core stand in odd slots, what is
/// between them in even ones.
struct slots {
    std::vector<std::uint32_t> of;             ///< of each operator
    std::uint32_t count = 1;                   ///< 2 m + 1 for m boundaries
    std::vector<operator_index> boundaries{};  ///< ascending
};

/// The earliest even slot of a follower. O(its predecessors).
template <class = void>
[[nodiscard]] std::uint32_t earliest_slot(const tensor_graph& graph, const std::vector<std::uint32_t>& of,
                                          operator_index op) {
    std::uint32_t slot = 0;
    for (const operator_index p : graph.predecessors(op))
        slot = std::max(slot, of[p]);
    return slot + slot % 2;
}

/// Gives each source the even slot at or before its first successor's. O(operators + dependencies).
template <class = void>
void place_sources(const tensor_graph& graph, const std::vector<part_role>& roles,
                   std::vector<std::uint32_t>& of) {
    for (auto op = static_cast<operator_index>(graph.operator_count()); op-- > 0;) {
        if (roles[op] != part_role::source) continue;
        std::uint32_t slot = std::numeric_limits<std::uint32_t>::max();
        for (const operator_index s : graph.successors(op))
            slot = std::min(slot, of[s]);
        of[op] = slot - slot % 2;
    }
}

/// Slots as early as can be: sources too, until place_sources moves them.
template <class = void>
[[nodiscard]] slots make_slots(const tensor_graph& graph, const std::vector<part_role>& roles) {
    std::vector<bool> core(roles.size());
    for (std::size_t op = 0; op < roles.size(); ++op)
        core[op] = roles[op] == part_role::core;
    slots result;
    result.boundaries = memory_insensitive_operators(graph, core);
    result.count = static_cast<std::uint32_t>(2 * result.boundaries.size() + 1);
    result.of.assign(graph.operator_count(), 0);
    std::uint32_t passed = 0;
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if (roles[op] != part_role::core) {
            result.of[op] = earliest_slot(graph, result.of, op);
        } else if (passed < result.boundaries.size() && result.boundaries[passed] == op) {
            result.of[op] = 2 * passed++ + 1;
        } else {
            result.of[op] = 2 * passed;
        }
    }
    return result;
}

}  // namespace detail

/// The independent segments of a program: between neighbouring memory-insensitive operators, and these
/// themselves. Operators that touch nothing of the plan are no obstacle: they run in the first segment that
/// their predecessors allow. O(operators + dependencies).
template <class = void>
[[nodiscard]] segmentation independent_segments(const tensor_graph& graph) {
    std::vector<detail::part_role> roles(graph.operator_count(), detail::part_role::core);
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if (is_weightless(graph, op)) roles[op] = detail::part_role::follower;
    }
    segmentation result;
    const detail::slots slots = detail::make_slots(graph, roles);
    std::vector<segment> all(slots.count);
    for (operator_index op = 0; op < slots.of.size(); ++op)
        all[slots.of[op]].operators.push_back(op);
    for (std::size_t slot = 0; slot < all.size(); ++slot) {
        if (all[slot].operators.empty()) continue;
        all[slot].boundary = slot % 2 == 1;
        result.segments.push_back(std::move(all[slot]));
    }
    return result;
}

}  // namespace stowage::roam
