#include "orders.hpp"

#include <stowage/graph.hpp>
#include <stowage/order.hpp>
#include <stowage/order/model.hpp>
#include <stowage/order/timesteps.hpp>

#include "../plan/policies.hpp"

namespace memgraph_program {

/// Its steps hold several operators: here they run one after the other.
static constexpr const char* steps_order = "model-ms";

std::vector<std::string> order_names() {
    std::vector<std::string> names;
    for (const auto& [name, policy] : plan_program::order_policies())
        names.push_back(name);
    names.emplace_back(steps_order);
    names.emplace_back(cheapest);
    return names;
}

std::vector<stowage::operator_index> order_of(const stowage::tensor_graph& graph, const std::string& name,
                                              const stowage::search_limits& limits) {
    if (name == "program") return stowage::program_order(graph);
    stowage::budget account(limits);
    if (name == steps_order) {
        using solver = plan_program::whole_program_solver;
        const stowage::order::model_ms<solver> model{
            .options = {
                .limits = {.entries = plan_program::program_entries, .time = plan_program::program_seconds}}};
        const auto found = model(graph, account);
        return found.timesteps.steps.empty() ? stowage::program_order(graph)
                                             : stowage::order::flattened(found.timesteps);
    }
    return stowage::order::plan(graph, plan_program::order_policies().at(name), account, limits.seed).order;
}

std::vector<std::vector<stowage::operator_index>> cheap_orders(const stowage::tensor_graph& graph,
                                                               const stowage::search_limits& limits) {
    const stowage::budget clock(limits);
    std::vector<std::vector<stowage::operator_index>> orders;
    for (const char* name : {"program", "dfs", "lescea", "eager-free", "roam-best"})
        orders.push_back(order_of(graph, name, clock.rest_of(limits)));
    return orders;
}

}  // namespace memgraph_program
