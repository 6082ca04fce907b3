#pragma once
// From when to when an operator may run: ASAP and ALAP of the integer programs (ROAM; papers/roam.md). With
// one operator a step, all ancestors come before and all descendants after; with several, a longest path of
// each does.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// First and last step at which each operator may run; empty if `steps` are too few.
struct step_spans {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> last;
};

/// Longest paths of dependencies, in edges, that end at each operator. O(n + m).
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> levels_before(const order_problem& problem) {
    std::vector<std::uint32_t> level(problem.operator_count(), 0);
    for (operator_index op = 0; op < level.size(); ++op) {
        for (const operator_index before : problem.predecessors[op])
            level[op] = std::max(level[op], level[before] + 1);
    }
    return level;
}

/// Longest paths of dependencies, in edges, that begin at each operator. O(n + m).
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> levels_after(const order_problem& problem) {
    std::vector<std::uint32_t> level(problem.operator_count(), 0);
    for (operator_index op = static_cast<operator_index>(level.size()); op-- > 0;) {
        for (const operator_index after : problem.successors[op])
            level[op] = std::max(level[op], level[after] + 1);
    }
    return level;
}

/// Operators on a longest path.
template <class = void>
[[nodiscard]] std::size_t longest_path(const order_problem& problem) {
    const std::vector<std::uint32_t> level = levels_before(problem);
    return level.empty() ? 0 : std::size_t{*std::max_element(level.begin(), level.end())} + 1;
}

/// Spans of `steps` steps that hold several operators each. O(n + m).
template <class = void>
[[nodiscard]] step_spans spans_by_path(const order_problem& problem, std::size_t steps) {
    step_spans spans;
    if (longest_path(problem) > steps) return spans;
    spans.first = levels_before(problem);
    spans.last = levels_after(problem);
    for (std::uint32_t& after : spans.last)
        after = static_cast<std::uint32_t>(steps - 1) - after;
    return spans;
}

/// Spans of steps that hold one operator each, as many steps as operators: numbers of ancestors and of
/// descendants, counted in blocks of 64 operators. O(n m / 64) time, O(n) memory.
template <class = void>
[[nodiscard]] step_spans spans_by_count(const order_problem& problem) {
    const std::size_t count = problem.operator_count();
    step_spans spans;
    spans.first.assign(count, 0);
    spans.last.assign(count, static_cast<std::uint32_t>(count == 0 ? 0 : count - 1));
    std::vector<std::uint64_t> reach(count);
    for (std::size_t block = 0; block < count; block += 64) {
        const auto own = [&](std::size_t op) {
            return op >= block && op < block + 64 ? std::uint64_t{1} << (op - block) : 0;
        };
        std::fill(reach.begin(), reach.end(), 0);
        for (operator_index op = 0; op < count; ++op) {
            for (const operator_index before : problem.predecessors[op])
                reach[op] |= reach[before] | own(before);
            spans.first[op] += static_cast<std::uint32_t>(std::popcount(reach[op]));
        }
        std::fill(reach.begin(), reach.end(), 0);
        for (auto op = static_cast<operator_index>(count); op-- > 0;) {
            for (const operator_index after : problem.successors[op])
                reach[op] |= reach[after] | own(after);
            spans.last[op] -= static_cast<std::uint32_t>(std::popcount(reach[op]));
        }
    }
    return spans;
}

}  // namespace stowage::order::detail
