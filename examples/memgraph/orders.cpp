#include "orders.hpp"

#include <stowage/graph.hpp>
#include <stowage/order.hpp>

#include "../plan/policies.hpp"

namespace memgraph_program {

std::vector<std::string> order_names() {
    std::vector<std::string> names;
    for (const auto& [name, policy] : plan_program::order_policies())
        names.push_back(name);
    return names;
}

std::vector<stowage::operator_index> order_of(const stowage::tensor_graph& graph, const std::string& name,
                                              const stowage::search_limits& limits) {
    if (name == "program") return stowage::program_order(graph);
    stowage::budget account(limits);
    return stowage::order::plan(graph, plan_program::order_policies().at(name), account, limits.seed).order;
}

}  // namespace memgraph_program
