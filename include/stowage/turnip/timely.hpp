#pragma once
// A policy for least time, beside residency with goal::time: what leaves when comes from residency, for least
// bytes, at the capacity and at somewhat less (room for copies to hide in), but addresses are given in one
// pass that runs ahead of execution, brings buffers back as early as there is room, takes the bytes that were
// used longest ago, and moves what is in the way within the device rather than out of it. All variants, and
// residency's own answer, run in virtual time; the fastest is kept. Source: docs/turnip.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/status.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/detail/horizon_uses.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/residency.hpp>
#include <stowage/turnip/simulate.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

/// Options of timely.
struct timely_options {
    /// Shares of the capacities for which what leaves is decided, each over 0 and at most 1.
    std::vector<double> shares = {1.0, 0.97, 0.94, 0.9};
    /// A plan for least bytes with more vertices than this is only placed anew, not decided at other shares.
    std::size_t large = 30'000;
};

namespace detail {

/// After which uses buffers leave in `graph`, a memgraph whose operators stand in `order`: by use, as
/// horizon_uses counts them. O((vertices + operands) log).
template <class = void>
[[nodiscard]] std::vector<char> leaving_uses(const taskgraph& task, std::span<const operator_index> order,
                                             const memgraph& graph) {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const horizon_uses uses(task, order);
    std::vector<char> leaves(uses.size(), 0);
    std::vector<std::size_t> last(task.program.buffer_count(), none);  // the use before
    for (vertex_index v = 0; v < graph.vertices.size(); ++v) {
        const vertex& at = graph.vertices[v];
        if (at.kind == vertex_kind::op) {
            const auto step = static_cast<std::size_t>(uses.step_of(at.op));
            for (const buffer_index b : task.program.accesses(at.op))
                last[b] = uses.index(step, b);
            continue;
        }
        const buffer_index b = graph.moved(v);
        if (last[b] == none) continue;
        const memory_index device = task.placement[order[uses.step(last[b])]];
        // It has left if it comes back to where it was used; what goes out for good may go at once.
        if (at.kind == vertex_kind::reload && at.device == device) leaves[last[b]] = 1;
        if (at.kind == vertex_kind::offload && uses.is_last(last[b], b) && task.finish[b] == host) {
            leaves[last[b]] = 1;
        }
    }
    return leaves;
}

}  // namespace detail

/// The policy. Takes as long as residency with goal::time, and a compilation for least bytes, a pass of the
/// horizon policy and a simulation for each share.
struct timely {
    timely_options options{};

    template <class = void>
    [[nodiscard]] compiled operator()(const taskgraph& task, std::span<const operator_index> order,
                                      const compile_options& asked) const {
        turnip::machine m = asked.machine;
        m.jitter = 0;
        const auto time = [&](compiled& made) {
            if (made.ok()) made.makespan = simulate(task.program, made.memgraph, m).makespan;
        };
        compiled best = residency{}(task, order, asked);
        if (!best.ok()) return best;
        time(best);
        compile_options least = asked;
        least.goal = goal::bytes;
        const compiled first = residency{}(task, order, least);
        const auto offer = [&](compiled made, const std::string& name) {
            time(made);
            if (!made.ok() || made.makespan >= best.makespan) return;
            made.found_by = name;
            made.makespan_lower_bound = best.makespan_lower_bound;
            made.makespan_lower_bound_in_order = best.makespan_lower_bound_in_order;
            best = std::move(made);
        };
        if (first.ok()) offer(first, first.found_by);
        const horizon anew{{.keep_host_copies = true}};
        const auto place = [&](const compiled& plan) {
            offer(anew.guided(task, order, asked, detail::leaving_uses(task, order, plan.memgraph)),
                  "timely, " + plan.found_by);
        };
        for (const double share : options.shares) {
            if (share >= 1) {
                if (first.ok()) place(first);
                continue;
            }
            if (first.memgraph.vertices.size() > options.large) continue;
            for (std::size_t d = 0; d < least.devices.size(); ++d) {
                least.devices[d].capacity =
                    static_cast<std::int64_t>(share * static_cast<double>(asked.devices[d].capacity));
            }
            const compiled plan = residency{}(task, order, least);
            if (plan.ok()) place(plan);
        }
        offer(anew(task, order, asked), "horizon, host copies kept");
        best.bytes_moved_lower_bound = std::max(best.bytes_moved_lower_bound, first.bytes_moved_lower_bound);
        best.status = best.bytes_moved <= best.bytes_moved_lower_bound ? status::optimal : status::feasible;
        return best;
    }
    /// "timely".
    [[nodiscard]] std::string name() const { return "timely"; }
};

static_assert(compile_policy<timely>);

}  // namespace stowage::turnip
