#pragma once
// Runs one policy of a portfolio on the shared workbench, whatever its shape, and checks what a user's policy
// gives back.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/order/detail/list_scheduler.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order::detail {

/// The policy's own name, or "policy 3" for the third of a portfolio that has none.
template <class Policy>
[[nodiscard]] std::string policy_name(const Policy& policy, std::size_t position) {
    if constexpr (requires { std::string_view(policy.name); }) {
        return std::string(std::string_view(policy.name));
    } else if constexpr (requires { std::string_view(policy.rule.name); }) {
        return "reversed " + std::string(std::string_view(policy.rule.name));
    } else {
        return "policy " + std::to_string(position + 1);
    }
}

/// Throws program_error, naming policy and operator, unless `order` is a legal order of `graph`. O(n + m).
template <class = void>
void require_legal(const tensor_graph& graph, const sequence& order, const std::string& policy) {
    const auto fail = [&](const std::string& what, operator_index op) {
        throw program_error("the order of " + policy + " " + what, graph.describe_operator(op));
    };
    std::vector<std::uint8_t> run(graph.operator_count(), 0);
    for (const operator_index op : order) {
        if (op >= graph.operator_count()) fail("names an operator that does not exist", op);
        if (run[op] != 0) fail("runs it twice", op);
        for (const operator_index before : graph.predecessors(op)) {
            if (run[before] == 0) fail("runs it before operator " + std::to_string(before), op);
        }
        run[op] = 1;
    }
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if (run[op] == 0) fail("leaves it out", op);
    }
}

/// Something that a portfolio can run.
template <class P>
concept portfolio_policy = order_policy<P> || bench_policy<P> || list_rule<P>;

/// Runs a list rule within `account`; its order ends on the bench.
template <list_rule Rule>
void offer_list_order(workbench& bench, const Rule& rule, std::size_t position, budget& account) {
    bench.offer(rule.arrange(bench.problem(), &account), policy_name(rule, position));
}

/// Runs `policy`; its answers end on the bench. Throws program_error if a user's policy gives an order that
/// is not legal.
template <portfolio_policy Policy>
void run_policy(workbench& bench, const Policy& policy, std::size_t position) {
    if constexpr (bench_policy<Policy>) {
        policy.search(bench);
    } else if constexpr (list_rule<Policy>) {
        offer_list_order(bench, policy, position, bench.account());
    } else {
        sequence order = apply(policy, bench.graph(), bench.shared());
        if (order.empty()) return;
        const std::string name = policy_name(policy, position);
        require_legal(bench.graph(), order, name);
        bench.offer(std::move(order), name);
    }
}

}  // namespace stowage::order::detail
