#pragma once
// Checks steps of several operators each: that every operator stands in one step, that dependencies,
// recomputed from the accesses in program order, and control edges lead to later steps; and recomputes the
// peak, all that a step's operators touch and scratch being alive together.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/timesteps.hpp>
#include <stowage/verify/order.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify {

/// Checks `timesteps`; the verdict's peak is theirs. An operator may not run in a step with one that it
/// depends on. O(accesses + dependencies + steps).
template <class = void>
[[nodiscard]] verdict check_timesteps(const tensor_graph& graph, const order::timesteps& timesteps) {
    const auto step_text = [](std::size_t t) { return "step " + std::to_string(t); };
    std::vector<std::int64_t> step(graph.operator_count(), -1);
    for (std::size_t t = 0; t < timesteps.steps.size(); ++t) {
        if (timesteps.steps[t].empty()) return detail::refuse(step_text(t) + " holds no operator");
        for (const operator_index op : timesteps.steps[t]) {
            if (op >= graph.operator_count()) {
                return detail::refuse(
                    step_text(t) + " runs operator " + std::to_string(op) + ", which does not exist",
                    {subject{op, {}}});
            }
            const subject named = graph.describe_operator(op);
            if (step[op] >= 0)
                return detail::refuse(named.text("operator") + " stands in two steps", {named});
            step[op] = static_cast<std::int64_t>(t);
        }
    }
    for (std::size_t op = 0; op < step.size(); ++op) {
        if (step[op] >= 0) continue;
        const subject missing = graph.describe_operator(op);
        return detail::refuse(missing.text("operator") + " is in no step", {missing});
    }
    if (auto bad = detail::dependencies(graph, step)) return *bad;

    // first and last step of each buffer, then a running sum
    const auto last_step = static_cast<std::int64_t>(timesteps.steps.size()) - 1;
    std::vector<std::int64_t> change(timesteps.steps.size() + 1, 0);
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        const buffer_kind kind = graph.kind(b);
        if (kind != buffer_kind::donated && kind != buffer_kind::intermediate && kind != buffer_kind::output)
            continue;
        std::int64_t first = last_step + 1;
        std::int64_t last = -1;
        for (const operator_index op : graph.users(b)) {
            first = std::min(first, step[op]);
            last = std::max(last, step[op]);
        }
        if (last < 0) continue;
        if (kind == buffer_kind::donated) first = 0;
        if (kind == buffer_kind::output) last = last_step;
        change[static_cast<std::size_t>(first)] += graph.bytes(b);
        change[static_cast<std::size_t>(last) + 1] -= graph.bytes(b);
    }
    verdict good;
    std::int64_t live = 0;
    for (std::size_t t = 0; t < timesteps.steps.size(); ++t) {
        live += change[t];
        std::int64_t now = live;
        for (const operator_index op : timesteps.steps[t])
            now += graph.workspace(op);
        good.peak = std::max(good.peak, now);
    }
    return good;
}

/// Checks steps as above, and that what the solution claims of them agrees: its peak is the recomputed one,
/// the lower bound is not above it, `optimal` is said only where they meet, and there are no more steps than
/// were allowed.
template <class = void>
[[nodiscard]] verdict check_timesteps(const tensor_graph& graph, const order::timesteps_solution& solution) {
    verdict found = check_timesteps(graph, solution.timesteps);
    if (!found) return found;
    if (solution.peak != found.peak)
        return detail::refuse(detail::differs("the peak", solution.peak, found.peak));
    if (solution.timesteps.steps.size() > solution.limit)
        return detail::refuse(std::to_string(solution.timesteps.steps.size()) + " steps, but " +
                              std::to_string(solution.limit) + " are allowed");
    const bool called_optimal = solution.status == status::optimal;
    if (auto bad = detail::claims("peak", found.peak, solution.lower_bound, called_optimal)) return *bad;
    return found;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template verdict check_timesteps(const tensor_graph&, const order::timesteps&);
#endif

}  // namespace stowage::verify
