#pragma once
// What an order policy is: a function object from a tensor graph to an operator order. Any callable of the
// right shape is one, so a user's own lambda composes with the library's policies in order::portfolio.

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/status.hpp>

namespace stowage::order {

/// Operators in running order.
using sequence = std::vector<operator_index>;

/// Why no order can need less: which bound, and where it is met.
struct bound_witness {
    /// Name of the bound: "working set", "outputs", "surely alive", "min cut", "search"; empty: none.
    std::string rule;
    /// The operator at which it is met; `no_operator` where the bound is of the whole program.
    operator_index at = no_operator;
};

/// What a search is given beside the graph, and what it tells back. One thread at a time.
struct context {
    budget& account;  ///< what may be spent
    std::int64_t lower_bound =
        0;  ///< proven least peak of all legal orders; a policy may raise it, and stops when met
    bound_witness witness = {};                      ///< why lower_bound holds; set by whoever raises it
    std::span<const operator_index> incumbent = {};  ///< the best order so far, to improve; empty: none
    std::int64_t incumbent_peak =
        std::numeric_limits<std::int64_t>::max();  ///< its peak; max where there is none
    std::uint64_t seed = 1;                        ///< seed of every random choice
};

/// An order, what is proven of it, and who found it.
struct solution {
    sequence order;                             ///< a legal order
    std::int64_t peak = 0;                      ///< its peak in bytes, workspace included
    std::int64_t lower_bound = 0;               ///< proven: no legal order has a smaller peak
    bound_witness witness;                      ///< why lower_bound holds
    stowage::status status = status::feasible;  ///< optimal if peak == lower_bound
    std::string found_by;                       ///< name of the policy
    double seconds = 0;                         ///< wall-clock time
    std::vector<sequence> alternatives = {};    ///< other good orders that were found, lowest peak first
};

/// A policy that needs nothing but the graph.
template <class P>
concept simple_order_policy = std::copy_constructible<P> &&
    requires(const P& policy, const tensor_graph& graph) {
    { policy(graph) } -> std::convertible_to<sequence>;
};

/// A policy that searches: it is given a context with its budget, the incumbent and the proven bound.
template <class P>
concept searching_order_policy = std::copy_constructible<P> &&
    requires(const P& policy, const tensor_graph& graph, context& context) {
    { policy(graph, context) } -> std::convertible_to<sequence>;
};

/// Something that orders: callable as `sequence(const tensor_graph&)` or `sequence(const tensor_graph&,
/// context&)`. A searching policy may return an empty sequence where it found nothing better than the
/// incumbent.
template <class P>
concept order_policy = simple_order_policy<P> || searching_order_policy<P>;

/// Calls a policy of either shape.
template <order_policy P>
[[nodiscard]] sequence apply(const P& policy, const tensor_graph& graph, context& context) {
    if constexpr (searching_order_policy<P>) {
        return policy(graph, context);
    } else {
        return policy(graph);
    }
}

}  // namespace stowage::order
