#pragma once
// Liveness under an order: from when to when each buffer holds bytes, the live bytes at each step, and their
// peak, by the memory model of docs/design.md: a buffer is alive from its birth (first write; the start for a
// donated one) to its last access (the end for an output), both steps included; a workspace at its operator's
// step.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage {

/// First and last step, both included, at which a buffer is alive. A buffer outside the plan has last <
/// first.
struct lifespan {
    std::uint32_t first = 1;
    std::uint32_t last = 0;
    /// True if it is alive at some step.
    [[nodiscard]] bool planned() const noexcept { return first <= last; }
    friend bool operator==(const lifespan&, const lifespan&) = default;
};

/// The step of each operator under `order`, its inverse. Throws program_error if `order` is no permutation of
/// the graph's operators. Whether it respects dependencies is verify::check_order's business. O(n).
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> steps_of(const tensor_graph& graph,
                                                  std::span<const operator_index> order) {
    const std::size_t count = graph.operator_count();
    if (order.size() != count) {
        throw program_error("the order has " + std::to_string(order.size()) + " operators, the program has " +
                                std::to_string(count),
                            {});
    }
    std::vector<std::uint32_t> step(count, no_operator);
    for (std::size_t t = 0; t < count; ++t) {
        if (order[t] >= count)
            throw program_error("the order names an operator that does not exist", {order[t], {}});
        if (step[order[t]] != no_operator) {
            throw program_error("it stands twice in the order", graph.describe_operator(order[t]));
        }
        step[order[t]] = static_cast<std::uint32_t>(t);
    }
    return step;
}

/// From when to when each buffer is alive under `order`. O(accesses). Throws as steps_of does.
template <class = void>
[[nodiscard]] std::vector<lifespan> lifespans(const tensor_graph& graph,
                                              std::span<const operator_index> order) {
    const std::vector<std::uint32_t> step = steps_of(graph, order);
    std::vector<lifespan> result(graph.buffer_count());
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b)) continue;
        lifespan life{std::numeric_limits<std::uint32_t>::max(), 0};
        for (const operator_index op : graph.users(b)) {
            life.first = std::min(life.first, step[op]);
            life.last = std::max(life.last, step[op]);
        }
        if (graph.kind(b) == buffer_kind::donated) life.first = 0;
        if (graph.kind(b) == buffer_kind::output) life.last = static_cast<std::uint32_t>(order.size() - 1);
        result[b] = life;
    }
    return result;
}

/// Live bytes while each step of `order` runs, workspace included. O(accesses). Throws as steps_of does.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> live_bytes(const tensor_graph& graph,
                                                   std::span<const operator_index> order) {
    const std::vector<lifespan> lives = lifespans(graph, order);
    std::vector<std::int64_t> live(order.size() + 1, 0);
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!lives[b].planned()) continue;
        live[lives[b].first] += graph.bytes(b);
        live[lives[b].last + 1] -= graph.bytes(b);
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    live.pop_back();
    for (std::size_t t = 0; t < order.size(); ++t)
        live[t] += graph.workspace(order[t]);
    return live;
}

/// The largest live bytes of a step under `order`; 0 for an empty program. O(accesses). Throws as steps_of
/// does.
template <class = void>
[[nodiscard]] std::int64_t peak_bytes(const tensor_graph& graph, std::span<const operator_index> order) {
    const std::vector<std::int64_t> live = live_bytes(graph, order);
    return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

/// Program order: 0, 1, 2, ... O(n).
template <class = void>
[[nodiscard]] std::vector<operator_index> program_order(const tensor_graph& graph) {
    std::vector<operator_index> order(graph.operator_count());
    std::iota(order.begin(), order.end(), operator_index{0});
    return order;
}

/// The sum of persistent buffers: what the program needs beside its plan. O(buffers).
template <class = void>
[[nodiscard]] std::int64_t persistent_bytes(const tensor_graph& graph) {
    std::int64_t sum = 0;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (is_persistent(graph.kind(b))) sum += graph.bytes(b);
    }
    return sum;
}

}  // namespace stowage
