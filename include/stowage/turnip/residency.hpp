#pragma once
// The default way to compile: decide for each buffer in which intervals of the order it is on the device, so
// that live bytes never pass the capacity and the fewest bytes move; lay the intervals out with the library's
// layout engine; derive the dependencies from shared addresses. Source: docs/design.md, "How a memgraph is
// compiled"; papers/offload.md.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/status.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/detail/host_plan.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/detail/price_bound.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_planner.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/detail/stower.hpp>
#include <stowage/turnip/detail/write_memgraph.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

/// Options of residency.
struct residency_options {
    bool search = true;  ///< false: only insertion, without ruin and recreation
};

/// The default policy.
struct residency {
    residency_options options{};

    template <class = void>
    [[nodiscard]] compiled operator()(const taskgraph& task, std::span<const operator_index> order,
                                      const compile_options& asked) const {
        using namespace detail;
        compiled result;
        result.order.assign(order.begin(), order.end());
        result.found_by = name();
        std::vector<std::int64_t> capacities;
        for (const memory_limit& limit : asked.devices)
            capacities.push_back(limit.capacity);
        const residency_model model = make_residency_model(task, order, asked.alignment);
        for (memory_index d = 0; d < task.devices; ++d) {
            const auto top = std::max_element(model.forced[d].begin(), model.forced[d].end());
            if (*top <= capacities[d]) continue;
            result.status = status::infeasible;
            result.least_capacity = *top;
            result.memory = d;
            result.blamed = model.steps[static_cast<std::size_t>(top - model.forced[d].begin())].op;
            return result;
        }
        residency_hints hints;
        hints.values = gap_values(model, {});
        residency_state first(model, capacities);
        insert_by_value(first, hints.values);
        price_bound bound(model, capacities[0]);
        bound.improve(first.cost(), 400);
        result.bytes_moved_lower_bound = bound.proven();
        hints = {gap_values(model, bound.prices()), bound.stay_shares(), result.bytes_moved_lower_bound};
        budget account(asked.limits);
        residency_planner planner(task, model, capacities, asked.limits);
        stowed_plan best;
        if (!planner(hints, false, account, best)) {
            result.reason = "alignments leave no room for an operator";
            return result;
        }
        script& lines = best.lines;
        result.reason =
            "planned " + std::to_string((double)best.planned / (double)result.bytes_moved_lower_bound) +
            (best.laid_out ? " laid out, slack " : " NOT LAID OUT, slack ") + std::to_string(best.slack);
        const host_plan on_host = plan_host(
            lines, task.program, asked.alignment, asked.host.capacity, asked.limits,
            [&](buffer_index b) {
                return is_persistent(task.program.kind(b)) && task.program.kind(b) != buffer_kind::input &&
                       !task.is_written(b);
            },
            [&](buffer_index b) {
                return task.repeatable && is_persistent(task.program.kind(b)) &&
                       task.program.kind(b) != buffer_kind::input;
            });
        if (on_host.bytes > asked.host.capacity) {
            result.memory = host;
            result.reason = "copies on the host take " + std::to_string(on_host.bytes) + " bytes";
            return result;
        }
        result.memgraph = write_memgraph(task, lines, asked);
        result.status = status::feasible;
        result.bytes_moved = lines.bytes_moved;
        return result;
    }
    [[nodiscard]] std::string name() const { return "residency"; }
};

static_assert(compile_policy<residency>);

}  // namespace stowage::turnip
