#pragma once
// Program order: the operators as the program lists them, which is what an eager framework runs. Always
// legal, and the first answer of every portfolio.

#include <numeric>
#include <string_view>

#include <stowage/budget.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/order/detail/list_scheduler.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

/// Program order: 0, 1, 2, ... O(n).
struct in_program_order {
    static constexpr std::string_view name = "program";  ///< for reports
    /// The order.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph) const {
        return stowage::program_order(graph);
    }
    /// The order of a problem.
    template <class = void>
    [[nodiscard]] sequence arrange(const detail::order_problem& problem, budget* = nullptr) const {
        sequence order(problem.operator_count());
        std::iota(order.begin(), order.end(), operator_index{0});
        return order;
    }
};
static_assert(simple_order_policy<in_program_order> && detail::list_rule<in_program_order>);

}  // namespace stowage::order
