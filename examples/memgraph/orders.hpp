#pragma once
// The orders that the program `memgraph` knows by name. A source of their own: they take long to compile.

#include <string>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace memgraph_program {

/// The names of docs/formats.md.
[[nodiscard]] std::vector<std::string> order_names();

/// The order of that name, one of order_names() but `cheapest`.
[[nodiscard]] std::vector<stowage::operator_index> order_of(const stowage::tensor_graph& graph,
                                                            const std::string& name,
                                                            const stowage::search_limits& limits);

/// The name of the order that is chosen for moving few bytes under the capacities.
inline constexpr const char* cheapest = "cheapest";

/// Orders that may be cheap to move, program order first.
[[nodiscard]] std::vector<std::vector<stowage::operator_index>> cheap_orders(
    const stowage::tensor_graph& graph, const stowage::search_limits& limits);

}  // namespace memgraph_program
