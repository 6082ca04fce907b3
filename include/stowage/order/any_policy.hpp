#pragma once
// An order policy chosen at run time, e.g. by a name on a command line: one type for all of them.

#include <concepts>
#include <functional>
#include <string>
#include <utility>

#include <stowage/order/detail/run_policy.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

/// Holds any order policy, the library's or a user's, and is one. A copy costs what a copy of the policy
/// costs.
///
/// Example: `order::any_policy chosen = fast ? order::any_policy(order::lescea{}) :
/// order::any_policy(order::portfolio{});`
class any_policy {
public:
    /// Takes over a policy.
    template <class Policy>
        requires(!std::same_as<Policy, any_policy> && detail::portfolio_policy<Policy>)
    explicit any_policy(Policy policy)
        : name(detail::policy_name(policy, 0)), search_([held = std::move(policy)](detail::workbench& bench) {
              detail::run_policy(bench, held, 0);
          }) {}

    /// A better order than the incumbent; empty if it found none.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    void search(detail::workbench& bench) const { search_(bench); }

    std::string name;  ///< the policy's own, for reports

private:
    std::function<void(detail::workbench&)> search_;
};
static_assert(searching_order_policy<any_policy> && detail::bench_policy<any_policy>);

}  // namespace stowage::order
