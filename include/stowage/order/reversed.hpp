#pragma once
// A list rule run from the end of the program: the reverse of an order problem is one again
// (papers/order.md, rule 4), and a rule that does badly from one end may do well from the other. Functional
// optimizers are such a case.

#include <algorithm>
#include <cstddef>
#include <string>

#include <stowage/budget.hpp>
#include <stowage/order/detail/list_scheduler.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

/// Runs `rule` on the program backwards and turns its order round. Costs what the rule costs.
template <detail::list_rule Rule>
struct reversed {
    Rule rule{};  ///< what orders the reversed program

    /// The order of a program.
    [[nodiscard]] sequence operator()(const tensor_graph& graph) const {
        return arrange(detail::make_order_problem(graph));
    }
    /// The order of a problem; empty if `account` is exhausted first.
    [[nodiscard]] sequence arrange(const detail::order_problem& problem, budget* account = nullptr) const {
        sequence order = rule.arrange(detail::reverse(problem), account);
        std::reverse(order.begin(), order.end());
        for (operator_index& op : order)
            op = static_cast<operator_index>(order.size() - 1 - op);
        return order;
    }
};
template <class Rule>
reversed(Rule) -> reversed<Rule>;

}  // namespace stowage::order
