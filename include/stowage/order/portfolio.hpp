#pragma once
// Several policies, one after the other, on one program: the best order, the best lower bound, and who found
// what. It stops as soon as they meet.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <stowage/budget.hpp>
#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/order/bounds.hpp>
#include <stowage/order/detail/run_policy.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/local_search.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

/// Runs policies in the order given until one of their orders is proven to be best or the budget is spent.
///
/// Program order is the first candidate, whatever the policies, so that there is an answer at once; a later
/// order replaces it only if its peak is smaller. Policies see the best order and bound so far. A policy is
/// anything that models order_policy, a lambda too; an order that it gives is checked. The bounds that need
/// one pass are taken without being asked for. Only one thread works; different portfolios may be used at the
/// same time. `portfolio{}` has the policies that together do best within the default budget.
template <detail::portfolio_policy... Policies>
class portfolio {
public:
    /// The policies with their default options.
    portfolio() = default;
    /// Takes over the policies.
    explicit portfolio(Policies... policies) requires(sizeof...(Policies) > 0)
        : policies_(std::move(policies)...) {}

    /// The best order of `graph`, with its bound. Throws program_error if a policy gives an order that is not
    /// legal, and what make_tensor_graph and the policies throw.
    template <plannable Graph>
    [[nodiscard]] solution operator()(const Graph& graph, const search_limits& limits = {}) const {
        budget account(limits);
        return plan(make_tensor_graph(graph), *this, account, limits.seed);
    }
    /// As a policy within another's composition: a better order than the incumbent; empty if there is none.
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of another portfolio.
    void search(detail::workbench& bench) const {
        bench.offer(in_program_order{}.arrange(bench.problem()), in_program_order::name);
        detail::raise_by_plain_bounds(bench);
        std::size_t position = 0;
        std::apply(
            [&](const Policies&... policy) {
                (..., (bench.finished() ? void() : detail::run_policy(bench, policy, position++)));
            },
            policies_);
    }

private:
    std::tuple<Policies...> policies_;
};

template <class... Policies>
portfolio(Policies...) -> portfolio<Policies...>;
/// The default: list rules, bounds, cut moves, local search and every exact method, in the order in which
/// they pay.
portfolio()->portfolio<exact>;

// The default is instantiated once a program where that asks for it: docs/cookbook.md, "Pay for the planner
// once".
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template solution plan(const tensor_graph&, const decltype(portfolio{}) &, budget&,
                                         std::uint64_t);
#endif

}  // namespace stowage::order
