#pragma once
// One call from a graph and a policy to an order, the proof that there is of it, and who found it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/bounds.hpp>
#include <stowage/order/detail/run_policy.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/order/program.hpp>

namespace stowage::order {

/// Orders with a policy of the caller's choice on a running account; the solution's time counts from the
/// account's start. Program order is the first candidate, so that there is an answer at once, and the bounds
/// that need one pass are taken without being asked for. Throws program_error if the policy gives an order
/// that is not legal. Reentrant.
template <detail::portfolio_policy Policy>
[[nodiscard]] solution plan(const tensor_graph& graph, const Policy& policy, budget& account,
                            std::uint64_t seed = 1) {
    context shared{.account = account, .seed = seed};
    detail::workbench bench(graph, shared);
    bench.offer(in_program_order{}.arrange(bench.problem()), in_program_order::name);
    detail::raise_by_plain_bounds(bench);
    detail::run_policy(bench, policy, 0);
    solution result;
    result.order = bench.best();
    result.peak = graph.operator_count() == 0 ? 0 : bench.best_peak();
    result.lower_bound = shared.lower_bound;
    result.witness = shared.witness;
    result.status = bench.proven() ? status::optimal : status::feasible;
    result.found_by = bench.found_by();
    std::vector<detail::candidate> pool(bench.pool().begin(), bench.pool().end());
    std::stable_sort(pool.begin(), pool.end(), [](const auto& a, const auto& b) { return a.peak < b.peak; });
    for (detail::candidate& other : pool) {
        if (other.order != result.order) result.alternatives.push_back(std::move(other.order));
    }
    result.seconds = std::chrono::duration<double>(account.elapsed()).count();
    return result;
}

}  // namespace stowage::order
