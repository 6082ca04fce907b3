#pragma once
// Checks a whole plan against its program: the order, every offset, what buffers and workspaces share, and
// each figure that the plan claims.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/timesteps.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/verify/detail/sweep.hpp>
#include <stowage/verify/layout.hpp>
#include <stowage/verify/order.hpp>
#include <stowage/verify/timesteps.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify {

namespace detail {

/// A rectangle's owner: buffers under their index, workspaces behind them.
template <class = void>
[[nodiscard]] bool is_workspace(const tensor_graph& graph, std::size_t owner) noexcept {
    return owner >= graph.buffer_count();
}

template <class = void>
[[nodiscard]] std::string owner_text(const tensor_graph& graph, std::size_t owner) {
    if (!is_workspace(graph, owner)) return graph.describe_buffer(owner).text("buffer");
    return "the workspace of " + graph.describe_operator(owner - graph.buffer_count()).text("operator");
}

/// A no about one or two owners of bytes.
template <class = void>
[[nodiscard]] verdict refuse_owners(const tensor_graph& graph, std::string reason,
                                    std::initializer_list<std::size_t> owners) {
    verdict bad = refuse(std::move(reason));
    for (const std::size_t owner : owners) {
        if (is_workspace(graph, owner)) {
            bad.operators.push_back(graph.describe_operator(owner - graph.buffer_count()));
        } else {
            bad.buffers.push_back(graph.describe_buffer(owner));
        }
    }
    return bad;
}

/// Checks the place of one owner; appends its rectangle.
template <class = void>
[[nodiscard]] std::optional<verdict> place(const tensor_graph& graph, std::size_t owner, rectangle where,
                                           std::int64_t plan_alignment, std::int64_t own_alignment,
                                           std::vector<rectangle>& list) {
    const auto no = [&](const std::string& rule) {
        return refuse_owners(graph, owner_text(graph, owner) + ": " + rule, {owner});
    };
    const std::string at = "offset " + std::to_string(where.offset);
    if (where.offset < 0) return no("it has no offset");
    if (where.size == 0) return std::nullopt;
    if (where.offset % plan_alignment != 0) {
        return no(at + " is no multiple of the plan's alignment " + std::to_string(plan_alignment));
    }
    if (where.offset % own_alignment != 0) {
        return no(at + " is no multiple of its alignment " + std::to_string(own_alignment));
    }
    if (where.offset > std::numeric_limits<std::int64_t>::max() - where.size) {
        return no("its end passes 2^63 - 1");
    }
    where.owner = owner;
    list.push_back(where);
    return std::nullopt;
}

/// The step of each place in the order: with several streams an operator's step is that of its group.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> step_of_place(const plan& plan) {
    std::vector<std::int64_t> step;
    step.reserve(plan.order.size());
    if (plan.timesteps.empty()) {
        for (std::size_t t = 0; t < plan.order.size(); ++t)
            step.push_back(static_cast<std::int64_t>(t));
    }
    for (std::size_t t = 0; t < plan.timesteps.size(); ++t)
        step.insert(step.end(), plan.timesteps[t].size(), static_cast<std::int64_t>(t));
    return step;
}

/// Every buffer and workspace at its place; appends their rectangles.
template <class = void>
[[nodiscard]] std::optional<verdict> places(const tensor_graph& graph, const plan& plan,
                                            std::vector<rectangle>& list) {
    const std::vector<std::int64_t> step = step_of_place(plan);
    std::vector<steps_alive> alive = alive_steps(graph, plan.order);
    for (steps_alive& life : alive) {
        if (life.last < life.first) continue;
        life.first = step[static_cast<std::size_t>(life.first)];
        life.last = step[static_cast<std::size_t>(life.last)];
    }
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        const std::int64_t offset = plan.offsets[b];
        if (alive[b].last < alive[b].first) {
            if (offset == -1) continue;
            return refuse_owners(graph, owner_text(graph, b) + ": it has an offset, but is no part of a plan",
                                 {b});
        }
        if (const auto pin = graph.pinned_offset(b); pin && *pin != offset) {
            return refuse_owners(graph,
                                 owner_text(graph, b) + ": offset " + std::to_string(offset) +
                                     ", but it is pinned at " + std::to_string(*pin),
                                 {b});
        }
        const rectangle where{alive[b].first, alive[b].last + 1, offset, graph.bytes(b)};
        if (auto bad = place(graph, b, where, plan.alignment, graph.alignment(b), list)) return bad;
    }
    for (std::size_t t = 0; t < plan.order.size(); ++t) {
        const operator_index op = plan.order[t];
        const std::int64_t offset = plan.workspace_offsets.empty() ? -1 : plan.workspace_offsets[op];
        const std::size_t owner = graph.buffer_count() + op;
        if (graph.workspace(op) == 0) {
            if (offset == -1) continue;
            return refuse_owners(graph, owner_text(graph, owner) + " has an offset, but no bytes", {owner});
        }
        const std::int64_t now = step[t];
        const rectangle where{now, now + 1, offset, graph.workspace(op)};
        if (auto bad = place(graph, owner, where, plan.alignment, 1, list)) return bad;
    }
    return std::nullopt;
}

/// Shapes and the figures that need neither order nor layout.
template <class = void>
[[nodiscard]] std::optional<verdict> plan_frame(const tensor_graph& graph, const plan& plan) {
    if (plan.fingerprint != graph.fingerprint()) return refuse("the plan was made for another program");
    if (plan.alignment <= 0) return refuse("the plan's alignment is not positive");
    if (plan.offsets.size() != graph.buffer_count()) {
        return refuse(std::to_string(plan.offsets.size()) + " offsets for " +
                      std::to_string(graph.buffer_count()) + " buffers");
    }
    if (!plan.workspace_offsets.empty() && plan.workspace_offsets.size() != graph.operator_count()) {
        return refuse(std::to_string(plan.workspace_offsets.size()) + " offsets of workspaces for " +
                      std::to_string(graph.operator_count()) + " operators");
    }
    if (plan.status != status::optimal && plan.status != status::feasible) {
        return refuse("a plan is optimal or feasible, this one is called " +
                      std::string(to_string(plan.status)));
    }
    std::int64_t persistent = 0;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        const buffer_kind kind = graph.kind(b);
        if (kind != buffer_kind::donated && kind != buffer_kind::intermediate && kind != buffer_kind::output)
            persistent += graph.bytes(b);
    }
    if (plan.persistent_bytes != persistent) {
        return refuse(differs("the sum of persistent bytes", plan.persistent_bytes, persistent));
    }
    return std::nullopt;
}

}  // namespace detail

/// Checks everything that a plan says: fingerprint, order, timesteps if it has some, offsets of buffers and
/// workspaces, alignments, pins, that no two that are alive together share a byte, peak, arena, persistent
/// bytes, that no bound is above its figure, and that `optimal` is said only where the arena meets its bound.
/// Whether the bounds hold is the business of a proof. O(accesses + dependencies + n log n).
template <class = void>
[[nodiscard]] verdict check_plan(const tensor_graph& graph, const plan& plan) {
    if (auto bad = detail::plan_frame(graph, plan)) return *bad;
    verdict found = check_order(graph, std::span<const operator_index>(plan.order));
    if (!found) return found;
    if (!plan.timesteps.empty()) {
        const order::timesteps timesteps{plan.timesteps};
        if (order::flattened(timesteps) != plan.order)
            return detail::refuse("the order is not that of the timesteps, one after the other");
        found = check_timesteps(graph, timesteps);
        if (!found) return found;
    }
    std::vector<detail::rectangle> list;
    list.reserve(graph.buffer_count());
    if (auto bad = detail::places(graph, plan, list)) return *bad;
    for (const detail::rectangle& r : list)
        found.arena = std::max(found.arena, r.offset + r.size);
    found.arenas = {found.arena};
    std::int64_t load = 0;
    if (const auto bad = detail::sweep(list, {&load, 1})) {
        const detail::rectangle& a = list[bad->first];
        const detail::rectangle& b = list[bad->second];
        const auto step = static_cast<std::size_t>(bad->time);
        const operator_index running =
            plan.timesteps.empty() ? plan.order[step] : plan.timesteps[step].front();
        return detail::refuse_owners(graph,
                                     detail::owner_text(graph, a.owner) + " and " +
                                         detail::owner_text(graph, b.owner) + " share " +
                                         detail::bytes_text(std::max(a.offset, b.offset),
                                                            std::min(a.offset + a.size, b.offset + b.size)) +
                                         " while both are alive at step " + std::to_string(step) + ", " +
                                         graph.describe_operator(running).text("operator"),
                                     {a.owner, b.owner});
    }
    if (plan.peak.bytes != found.peak) {
        return detail::refuse(detail::differs("the peak", plan.peak.bytes, found.peak));
    }
    if (plan.arena.bytes != found.arena) {
        return detail::refuse(detail::differs("the arena", plan.arena.bytes, found.arena));
    }
    if (auto bad = detail::claims("peak", found.peak, plan.peak.lower_bound, false)) return *bad;
    const bool called_optimal = plan.status == status::optimal;
    if (auto bad = detail::claims("arena", found.arena, plan.arena.lower_bound, called_optimal)) return *bad;
    return found;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template verdict check_plan(const tensor_graph&, const plan&);
#endif

}  // namespace stowage::verify
