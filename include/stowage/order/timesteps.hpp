#pragma once
// Multi-streaming orders: operators that run in steps, several at once, with dependencies leading to later
// steps only. While a step runs, the operands, results and workspaces of all its operators are alive together
// (docs/formats.md, plan/1 "timesteps"). Source: ROAM and MODeL, multi-streaming.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/status.hpp>

namespace stowage::order {

/// Operators by step, each once; no step is empty; within a step by index.
struct timesteps {
    std::vector<std::vector<operator_index>> steps = {};  ///< operators of each step, in running order
    friend bool operator==(const timesteps&, const timesteps&) = default;
};

/// Steps, what is proven of them, and who found them.
struct timesteps_solution {
    order::timesteps timesteps = {};  ///< legal steps; none where none were found
    std::int64_t peak = 0;            ///< most bytes alive in a step, workspaces included
    std::int64_t lower_bound = 0;     ///< proven: no legal steps, so many at most, have a smaller peak
    std::size_t limit = 0;            ///< most steps that were allowed
    stowage::status status = status::unknown;  ///< optimal if peak == lower_bound
    std::string found_by = {};                 ///< name of the policy
    double seconds = 0;                        ///< wall-clock time
};

/// One step an operator. O(n).
template <class = void>
[[nodiscard]] timesteps one_by_one(std::span<const operator_index> order) {
    timesteps result;
    for (const operator_index op : order)
        result.steps.push_back({op});
    return result;
}

/// The steps in which `step[op]` says when each operator runs; empty steps are left out. O(n + steps).
template <class = void>
[[nodiscard]] timesteps grouped(std::span<const std::uint32_t> step) {
    timesteps result;
    for (const std::uint32_t t : step)
        result.steps.resize(std::max(result.steps.size(), std::size_t{t} + 1));
    for (operator_index op = 0; op < step.size(); ++op)
        result.steps[step[op]].push_back(op);
    std::erase_if(result.steps, [](const auto& operators) { return operators.empty(); });
    return result;
}

/// The operators one after the other: a legal order, whose peak is never higher than that of the steps. O(n).
template <class = void>
[[nodiscard]] sequence flattened(const timesteps& timesteps) {
    sequence order;
    for (const auto& operators : timesteps.steps)
        order.insert(order.end(), operators.begin(), operators.end());
    return order;
}

/// From which to which step each buffer is alive, as stowage::lifespans has it for orders. O(accesses).
/// Throws program_error unless each operator stands in one step.
template <class = void>
[[nodiscard]] std::vector<lifespan> lifespans(const tensor_graph& graph, const timesteps& timesteps) {
    const sequence order = flattened(timesteps);
    std::vector<std::uint32_t> step = steps_of(graph, order);  // checks that it is a permutation
    for (std::uint32_t t = 0; t < timesteps.steps.size(); ++t) {
        for (const operator_index op : timesteps.steps[t])
            step[op] = t;
    }
    std::vector<lifespan> result(graph.buffer_count());
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b)) continue;
        lifespan life{no_operator, 0};
        for (const operator_index op : graph.users(b)) {
            life.first = std::min(life.first, step[op]);
            life.last = std::max(life.last, step[op]);
        }
        if (graph.kind(b) == buffer_kind::donated) life.first = 0;
        if (graph.kind(b) == buffer_kind::output)
            life.last = static_cast<std::uint32_t>(timesteps.steps.size() - 1);
        result[b] = life;
    }
    return result;
}

/// Bytes alive in each step, workspaces included. O(accesses). Throws as lifespans does.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> live_bytes(const tensor_graph& graph, const timesteps& timesteps) {
    const std::vector<lifespan> lives = lifespans(graph, timesteps);
    std::vector<std::int64_t> live(timesteps.steps.size() + 1, 0);
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!lives[b].planned()) continue;
        live[lives[b].first] += graph.bytes(b);
        live[lives[b].last + 1] -= graph.bytes(b);
    }
    for (std::size_t t = 1; t < live.size(); ++t)
        live[t] += live[t - 1];
    live.pop_back();
    for (std::size_t t = 0; t < live.size(); ++t) {
        for (const operator_index op : timesteps.steps[t])
            live[t] = stowage::detail::checked_add(live[t], graph.workspace(op), "bytes alive in a step");
    }
    return live;
}

/// The most bytes alive in a step; 0 for no steps. O(accesses). Throws as lifespans does.
template <class = void>
[[nodiscard]] std::int64_t peak_bytes(const tensor_graph& graph, const timesteps& timesteps) {
    const std::vector<std::int64_t> live = live_bytes(graph, timesteps);
    return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

}  // namespace stowage::order
