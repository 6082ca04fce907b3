#pragma once
// The paper's way to compile, kept as a baseline: one simulated execution along the order, with an allocation
// position ahead of the execution position; bytes go to the free range used longest ago, victims are those
// needed last. Source: Turnip (arXiv 2405.16283), as docs/turnip.md restates it. What it adds: operands are
// never victims, reservations can be cancelled, host bytes are planned, and where pinned operands leave no
// hole the device is emptied and packed, so that it does not fail half-way.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/status.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/detail/horizon_run.hpp>
#include <stowage/turnip/detail/host_plan.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/detail/price_bound.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/time_bound.hpp>
#include <stowage/turnip/detail/write_memgraph.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/residency.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

/// Options of horizon.
struct horizon_options {
    /// True: a host copy stays when it is reloaded, so that an unchanged buffer leaves for free the next
    /// time. False, as in the paper: a buffer that the program writes is copied out again.
    bool keep_host_copies = false;
    /// How many operators allocation may run ahead of execution, at least 1. In the paper there is no bound.
    std::size_t lookahead = std::numeric_limits<std::size_t>::max();
};

namespace detail {

/// Bytes that the operands and the workspace of one operator take.
struct operator_bytes {
    std::int64_t side_by_side = 0;  ///< the widest alignments first, and the least rounding: known to do
    std::int64_t least = 0;         ///< by the common alignment alone: proven
};

/// The same order of places as basic_horizon_run::pack. O(operands log operands).
template <class = void>
[[nodiscard]] operator_bytes bytes_of_operator(const tensor_graph& program, operator_index op,
                                               std::int64_t alignment) {
    struct part {
        std::int64_t alignment;
        std::int64_t bytes;
        buffer_index buffer;
    };
    std::vector<part> parts;
    for (const buffer_index b : program.accesses(op)) {
        if (program.bytes(b) > 0)
            parts.push_back({std::lcm(alignment, program.alignment(b)), program.bytes(b), b});
    }
    std::sort(parts.begin(), parts.end(), [](const part& a, const part& b) { return a.buffer < b.buffer; });
    parts.erase(std::unique(parts.begin(), parts.end(),
                            [](const part& a, const part& b) { return a.buffer == b.buffer; }),
                parts.end());
    if (program.workspace(op) > 0) {
        parts.push_back(
            {alignment, program.workspace(op), static_cast<buffer_index>(program.buffer_count())});
    }
    std::sort(parts.begin(), parts.end(), [](const part& a, const part& b) {
        if (a.alignment != b.alignment) return a.alignment > b.alignment;
        const std::int64_t pad =
            stowage::detail::padding(a.bytes, a.alignment) - stowage::detail::padding(b.bytes, b.alignment);
        if (pad != 0) return pad < 0;
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.buffer < b.buffer;
    });
    operator_bytes result;
    std::int64_t most_padding = 0;  // one of them may lie on top, unpadded
    for (const part& p : parts) {
        result.side_by_side = stowage::detail::checked_add(
            stowage::detail::align_up(result.side_by_side, p.alignment), p.bytes, "operands of one operator");
        const std::int64_t pad = stowage::detail::padding(p.bytes, alignment);
        result.least = stowage::detail::checked_add(result.least, stowage::detail::checked_add(p.bytes, pad));
        most_padding = std::max(most_padding, pad);
    }
    result.least -= most_padding;
    return result;
}
template <class = void>
[[nodiscard]] std::int64_t bytes_side_by_side(const tensor_graph& program, operator_index op,
                                              std::int64_t alignment) {
    return bytes_of_operator(program, op, alignment).side_by_side;
}

}  // namespace detail

/// The baseline policy. O(operators x pieces of the arenas) time: for comparisons, not for speed.
struct horizon {
    horizon_options options{};

    template <class = void>
    [[nodiscard]] compiled operator()(const taskgraph& task, std::span<const operator_index> order,
                                      const compile_options& asked) const {
        budget clock = budget(asked.limits).without_states();
        compiled made = guided(task, order, asked, {});
        if (!made.ok() && made.memory != host && made.least_capacity > 0)
            made.least_capacity = capacity_that_does(task, order, asked, made, clock);
        return made;
    }
    /// The same, where `leaves` says after which uses buffers leave (see detail/horizon_uses.hpp); empty: the
    /// policy decides.
    template <class = void>
    [[nodiscard]] compiled guided(const taskgraph& task, std::span<const operator_index> order,
                                  const compile_options& asked, std::span<const char> leaves) const {
        budget clock = budget(asked.limits).without_states();
        compiled result;
        result.order.assign(order.begin(), order.end());
        result.found_by = "horizon";
        if (blame_large_operator(task, asked, result)) {
            // Own alignments may leave room between operands that stand side by side here.
            if (result.status == status::infeasible || !leaves.empty()) return result;
            const compiled other = by_residency(task, order, asked);
            return other.status == status::unknown ? result : other;
        }
        const detail::residency_model model = detail::make_residency_model(task, order, asked.alignment);
        if (blame_ends(model, asked, result)) return result;
        std::vector<std::int64_t> capacities;
        capacities.reserve(asked.devices.size());
        for (const memory_limit& limit : asked.devices)
            capacities.push_back(limit.capacity);
        const detail::horizon_rules rules{.keep_host_copies = options.keep_host_copies,
                                          .lookahead = std::max<std::size_t>(options.lookahead, 1),
                                          .alignment = asked.alignment,
                                          .leaves = leaves};
        detail::script lines;
        if (!detail::horizon_run(task, order, capacities, rules, lines).run()) {
            if (leaves.empty()) return by_residency(task, order, asked);
            result.reason = "what starts or ends on a device found no place there";
            return result;
        }
        const auto comes_back = [&](buffer_index b) {
            return is_persistent(task.program.kind(b)) && task.program.kind(b) != buffer_kind::input;
        };
        const detail::host_plan on_host = detail::plan_host(
            lines, task.program, asked.alignment, asked.host.capacity, asked.limits,
            [&](buffer_index b) { return comes_back(b) && !task.is_written(b); },
            [&](buffer_index b) { return task.repeatable && comes_back(b); });
        if (on_host.bytes > asked.host.capacity) {
            result.memory = host;
            result.least_capacity = on_host.bytes;
            result.reason = "copies on the host take " + std::to_string(on_host.bytes) + " bytes";
            return result;
        }
        result.memgraph = detail::write_memgraph(task, lines, asked);
        result.status = status::feasible;
        count_moves(task.program, result);
        add_bounds(task, order, model, asked, clock, result);
        return result;
    }
    /// "horizon".
    [[nodiscard]] std::string name() const { return "horizon"; }

private:
    /// A refusal names what one rule asks for: it is asked again at that capacity, until none asks for more
    /// or the clock has run out.
    template <class = void>
    [[nodiscard]] std::int64_t capacity_that_does(const taskgraph& task,
                                                  std::span<const operator_index> order,
                                                  const compile_options& asked, const compiled& refused,
                                                  budget& clock) const {
        constexpr int most_tries = 8;
        compile_options roomier = asked;
        roomier.devices.assign(asked.devices.size(), {});
        roomier.host = {};
        std::int64_t least = refused.least_capacity;
        for (int k = 0; k < most_tries && !clock.exhausted(); ++k) {
            roomier.limits = clock.rest_of(asked.limits);
            roomier.devices[refused.memory].capacity = least;
            const compiled answer = guided(task, order, roomier, {});
            if (answer.ok() || answer.least_capacity <= least) break;
            least = answer.least_capacity;
        }
        return least;
    }
    /// Where what starts or ends on a device found no place there by the rules of this policy: the default
    /// policy's plan for least bytes, or its reason why there is none.
    template <class = void>
    [[nodiscard]] static compiled by_residency(const taskgraph& task, std::span<const operator_index> order,
                                               const compile_options& asked) {
        compile_options least = asked;
        least.goal = goal::bytes;
        compiled result = residency{}(task, order, least);
        if (result.ok()) result.found_by = "residency, where horizon found no place";
        return result;
    }
    [[nodiscard]] static bool blame_large_operator(const taskgraph& task, const compile_options& asked,
                                                   compiled& result) {
        for (operator_index op = 0; op < task.program.operator_count(); ++op) {
            const memory_index device = task.placement[op];
            const detail::operator_bytes needs = detail::bytes_of_operator(task.program, op, asked.alignment);
            const std::int64_t bytes = needs.side_by_side;
            const std::int64_t capacity = asked.devices[device].capacity;
            if (bytes <= capacity) continue;
            if (needs.least > capacity) result.status = status::infeasible;
            if (bytes <= result.least_capacity) continue;
            result.least_capacity = bytes;
            result.memory = device;
            result.blamed = op;
            result.reason = task.program.describe_operator(op).text("operator") + " needs " +
                            std::to_string(bytes) + " bytes of device " + std::to_string(device);
        }
        return result.blamed != no_operator;
    }
    /// What starts or ends on a device must fit beside what else must be there.
    [[nodiscard]] static bool blame_ends(const detail::residency_model& model, const compile_options& asked,
                                         compiled& result) {
        for (memory_index d = 0; d < model.devices; ++d) {
            const detail::forced_demand top = detail::most_forced(model, d);
            if (top.bytes <= asked.devices[d].capacity || top.bytes <= result.least_capacity) continue;
            result.status = status::infeasible;
            result.least_capacity = top.bytes;
            result.memory = d;
            result.blamed = detail::operator_at(model, top.step);
            result.reason = "what starts or ends on device " + std::to_string(d) + " needs at least " +
                            std::to_string(top.bytes) + " bytes";
        }
        return result.least_capacity > 0;
    }
    /// What no memgraph for this order can beat: bytes by prices, with all devices as one pool, and time.
    static void add_bounds(const taskgraph& task, std::span<const operator_index> order,
                           const detail::residency_model& model, const compile_options& asked, budget& clock,
                           compiled& result) {
        constexpr std::size_t evaluations = 400;
        std::int64_t pool = 0;
        for (const memory_limit& limit : asked.devices) {
            constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
            pool = limit.capacity > most - pool ? most : pool + limit.capacity;
        }
        const bool merged = task.devices > 1;  // bytes may wait on another device
        std::optional<detail::residency_model> pooled;
        if (merged) pooled = detail::make_residency_model(task, order, asked.alignment, merged);
        const detail::residency_model& asks = pooled ? *pooled : model;
        detail::price_bound bound(asks, pool);
        bound.improve(result.bytes_moved, evaluations, 0, &clock);
        result.bytes_moved_lower_bound = bound.proven();
        result.prices = bound.prices();
        if (result.bytes_moved <= result.bytes_moved_lower_bound) result.status = status::optimal;
        detail::bound_makespan(task, model,
                               {.model = &asks, .capacity = pool, .prices = bound.prices(), .clock = &clock},
                               order, asked, result);
    }
    static void count_moves(const tensor_graph& program, compiled& result) {
        for (vertex_index v = 0; v < result.memgraph.vertices.size(); ++v) {
            const vertex_kind kind = result.memgraph.vertices[v].kind;
            if (kind == vertex_kind::op) continue;
            std::int64_t& sum = kind == vertex_kind::offload  ? result.bytes_offloaded
                                : kind == vertex_kind::reload ? result.bytes_reloaded
                                                              : result.bytes_transferred;
            sum = stowage::detail::checked_add(sum, program.bytes(result.memgraph.moved(v)), "bytes moved");
        }
        result.bytes_moved =
            stowage::detail::checked_add(result.bytes_offloaded, result.bytes_reloaded, "bytes moved");
    }
};

static_assert(compile_policy<horizon>);

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template compiled horizon::guided(const taskgraph&, std::span<const operator_index>,
                                                    const compile_options&, std::span<const char>) const;
#endif

}  // namespace stowage::turnip
