#pragma once
// Depth first from the ends of the program: each operator right after its predecessors, the heaviest subtree
// first (or the lightest), so that what is made is used up soon. The idea is Sethi and Ullman's for
// expression trees (J. ACM 17, 1970); XLA and the PyTorch compilers have rules like it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/order/detail/list_scheduler.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

namespace detail {

/// Of each operator, the bytes that it and all paths to it make, a shared operator once a path; held at a
/// quarter of 2^63.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> subtree_weights(const order_problem& problem) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
    std::vector<std::int64_t> weight(problem.operator_count());
    for (operator_index op = 0; op < weight.size(); ++op) {
        std::int64_t sum = std::min(most, problem.workspace[op]);
        const auto made = problem.backwards ? problem.uses(op) : problem.products(op);
        for (const tensor_index t : made)
            sum = std::min(most, sum + std::min(most, problem.bytes[t]));
        for (const operator_index before : problem.predecessors[op])
            sum = std::min(most, sum + weight[before]);
        weight[op] = sum;
    }
    return weight;
}

}  // namespace detail

/// Which of an operator's predecessors a depth-first order visits first.
enum class first_subtree : std::uint8_t {
    heaviest,  ///< the one whose paths make most bytes
    lightest,  ///< the one whose paths make fewest
};

/// Depth-first order: from each operator that none waits for, in program order, its predecessors first, by
/// weight of their subtrees, then by index. O(n + m log m), m dependencies; no recursion.
struct depth_first {
    static constexpr std::string_view name = "dfs";  ///< for reports
    first_subtree first = first_subtree::heaviest;   ///< which subtree comes first

    /// The order of a program.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph) const {
        return arrange(detail::make_order_problem(graph));
    }
    /// The order of a problem; empty if `account` is exhausted first.
    template <class = void>
    [[nodiscard]] sequence arrange(const detail::order_problem& problem, budget* account = nullptr) const {
        constexpr std::size_t steps_between_looks = 1024;
        const std::size_t count = problem.operator_count();
        const std::vector<std::int64_t> weight = detail::subtree_weights(problem);
        detail::rows children = problem.predecessors;
        for (std::size_t op = 0; op < count; ++op) {
            std::sort(children.values.begin() + children.begin[op],
                      children.values.begin() + children.begin[op + 1],
                      [&](operator_index a, operator_index b) {
                          const bool heavy = first == first_subtree::heaviest;
                          return std::tuple(heavy ? -weight[a] : weight[a], a) <
                                 std::tuple(heavy ? -weight[b] : weight[b], b);
                      });
        }
        sequence order;
        order.reserve(count);
        std::vector<std::uint8_t> seen(count, 0);
        std::vector<std::pair<operator_index, std::uint32_t>> open;  // operator, next child
        const auto enter = [&](operator_index op) {
            if (seen[op] != 0) return;
            seen[op] = 1;
            open.emplace_back(op, children.begin[op]);
        };
        for (operator_index end = 0; end < count; ++end) {
            if (!problem.successors[end].empty()) continue;
            enter(end);
            while (!open.empty()) {
                auto& [op, next] = open.back();
                if (next < children.begin[op + 1]) {
                    enter(children.values[next++]);
                    continue;
                }
                order.push_back(op);
                open.pop_back();
                if (order.size() % steps_between_looks == 0 && stowage::detail::is_over(account)) return {};
            }
        }
        return order;
    }
};
static_assert(simple_order_policy<depth_first> && detail::list_rule<depth_first>);

}  // namespace stowage::order
