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
        residency_state state(model, capacities);
        insert_by_value(state, gap_values(model, {}));
        price_bound bound(model, capacities[0]);
        bound.improve(state.cost(), 400);
        residency_state priced(model, capacities);
        insert_by_value(priced, gap_values(model, bound.prices()));
        if (priced.cost() < state.cost()) state = priced;
        result.bytes_moved_lower_bound = bound.proven();
        stay_plan plan = make_rectangles(model, state.kept());
        for (memory_index d = 0; d < task.devices; ++d) {
            std::vector<std::uint32_t> owner;
            const layout::problem problem = layout_problem_of(model, task.program, plan, d, owner);
            const auto answer = layout::fit(problem, capacities[d], asked.limits);
            take_addresses(plan, owner, answer.offsets);
        }
        stower sweep(task, model, state, std::move(plan), capacities, false);
        script lines;
        if (!sweep(lines)) return result;
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
        result.reason = "planned " + std::to_string(state.cost());
        return result;
    }
    [[nodiscard]] std::string name() const { return "residency"; }
};

static_assert(compile_policy<residency>);

}  // namespace stowage::turnip
