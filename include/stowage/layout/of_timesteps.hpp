#pragma once
// From a multi-streaming order to the layout problem that it poses: time is the step, whatever the operators
// of one step touch or scratch is alive together.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/order/timesteps.hpp>

namespace stowage::layout {

/// The layout problem of `timesteps`, with items, alignments and pins as layout_problem_of has them for an
/// order. O(accesses). Throws program_error unless each operator stands in one step, layout_error if
/// `alignment` is not positive.
template <class = void>
[[nodiscard]] order_layout layout_problem_of(const tensor_graph& graph, const order::timesteps& timesteps,
                                             std::int64_t alignment = 1) {
    order_layout made = layout_problem_of(graph, order::flattened(timesteps), alignment);
    const std::vector<lifespan> lives = order::lifespans(graph, timesteps);
    for (buffer_index b = 0; b < made.buffer_count; ++b) {
        if (!lives[b].planned()) continue;
        made.problem.buffers[b].lower = lives[b].first;
        made.problem.buffers[b].upper = std::int64_t{lives[b].last} + 1;
    }
    for (std::size_t t = 0; t < timesteps.steps.size(); ++t) {
        for (const operator_index op : timesteps.steps[t]) {
            const std::uint32_t item = made.item_of_workspace(op);
            if (item == no_item) continue;
            made.problem.buffers[item].lower = static_cast<std::int64_t>(t);
            made.problem.buffers[item].upper = static_cast<std::int64_t>(t) + 1;
        }
    }
    return made;
}

}  // namespace stowage::layout
