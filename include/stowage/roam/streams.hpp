#pragma once
// Plans for several streams: operators that follow each other in the order and do not depend on each other
// run in one timestep, as long as all that they touch fits under the order's peak. So the peak is that of one
// stream, with fewer steps. Source: ROAM's and MODeL's multi-streaming, which hold several operators a
// timestep; the integer program over timesteps is order/integer_timesteps.hpp.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/of_timesteps.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/order/timesteps.hpp>
#include <stowage/roam/options.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/status.hpp>

namespace stowage::roam {

/// Cuts an order into timesteps of at most `streams` operators that do not depend on each other and need at
/// most `limit` bytes together; an operator that needs more by itself has a step of its own. The peak is the
/// larger of `limit` and the order's at most. O(accesses + dependencies). Throws program_error if `order` is
/// no permutation.
template <class = void>
[[nodiscard]] order::timesteps in_streams(const tensor_graph& graph, std::span<const operator_index> order,
                                          std::size_t streams, std::int64_t limit) {
    const std::vector<lifespan> lives = lifespans(graph, order);
    const std::vector<std::int64_t> live = live_bytes(graph, order);
    std::vector<std::int64_t> born(order.size(), 0);
    for (const lifespan& life : lives) {
        if (life.planned()) born[life.first] += graph.bytes(static_cast<buffer_index>(&life - lives.data()));
    }
    std::vector<std::uint32_t> step(graph.operator_count(), no_operator);
    order::timesteps result;
    std::int64_t alive = 0;  // what the operators of the step need together
    for (std::size_t t = 0; t < order.size(); ++t) {
        const operator_index op = order[t];
        const auto now = static_cast<std::uint32_t>(result.steps.size());
        const auto before = graph.predecessors(op);
        const std::int64_t together =
            stowage::detail::checked_add(alive, born[t] + graph.workspace(op), "bytes alive in a step");
        const bool joins =
            now > 0 && result.steps.back().size() < streams && together <= limit &&
            std::none_of(before.begin(), before.end(), [&](operator_index p) { return step[p] == now - 1; });
        if (joins) {
            result.steps.back().push_back(op);
            alive = together;
            step[op] = now - 1;
        } else {
            result.steps.push_back({op});
            alive = live[t];
            step[op] = now;
        }
    }
    return result;
}

/// A plan for several streams from a plan for one: its order in timesteps under its own peak, laid out anew
/// by `policy`. One stream gives the plan back. Throws program_error if `streams` is 0.
template <layout::layout_policy Policy>
[[nodiscard]] plan in_streams(const tensor_graph& graph, plan made, std::size_t streams, const Policy& policy,
                              const options& options = {}) {
    if (streams == 0) throw program_error("a plan needs at least one stream", {});
    if (streams == 1) return made;
    const auto start = budget::clock::now();
    order::timesteps timesteps = in_streams(graph, made.order, streams, made.peak.bytes);
    const layout::order_layout items = layout::layout_problem_of(graph, timesteps, made.alignment);
    const layout::solution found = layout::plan(items.problem, policy, options.limits());
    made.peak.bytes = order::peak_bytes(graph, timesteps);
    made.timesteps = std::move(timesteps.steps);
    made.offsets = items.buffer_offsets(found.offsets);
    made.workspace_offsets = items.workspace_offsets(found.offsets);
    made.arena.bytes = found.arena;
    made.status = found.arena <= made.arena.lower_bound ? status::optimal : status::feasible;
    made.layout_by = found.found_by;
    const double seconds = std::chrono::duration<double>(budget::clock::now() - start).count();
    made.seconds.layout += seconds;
    made.seconds.total += seconds;
    return made;
}

}  // namespace stowage::roam
