#pragma once
// Lower bounds on the time of a run by the cost model. Source: papers/offload.md, "the split bound".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/detail/lane_bound.hpp>
#include <stowage/turnip/detail/least_cut_bound.hpp>
#include <stowage/turnip/detail/open_order_bound.hpp>
#include <stowage/turnip/detail/own_bytes.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/turns_bound.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Seconds before each step of one device, and after the last: the sum of its operators' times.
template <class = void>
[[nodiscard]] std::vector<double> step_times(const taskgraph& task, const residency_model& model,
                                             memory_index device, const machine& m) {
    std::vector<double> before(model.steps.size() + 1, 0);
    for (std::size_t s = 0; s < model.steps.size(); ++s) {
        const model_step& step = model.steps[s];
        const bool runs = step.op != no_operator && step.device == device;
        before[s + 1] = before[s] + (runs ? operator_seconds(task.program, step.op, m) : 0);
    }
    return before;
}

/// Seconds of the copies that every run makes, in the direction that takes longer: what is on the host at the
/// start and read there comes in at least once, what is written and ends on the host goes out.
template <class = void>
[[nodiscard]] double sure_copies(const taskgraph& task, std::span<const operator_index> order,
                                 const machine& m) {
    const tensor_graph& program = task.program;
    std::vector<char> seen(program.buffer_count(), 0);  // read or written
    double in = 0;
    double out = 0;
    for (const operator_index op : order) {
        for (const buffer_index b : program.reads(op)) {
            if (seen[b] == 0 && is_alive_at_start(program.kind(b)) && task.start[b] == host &&
                program.bytes(b) > 0) {
                in += move_seconds(vertex_kind::reload, program.bytes(b), m);
            }
            seen[b] = 1;
        }
        for (const buffer_index b : program.writes(op))
            seen[b] = 1;
    }
    for (buffer_index b = 0; b < program.buffer_count(); ++b) {
        if (task.is_written(b) && task.finish[b] == host && program.bytes(b) > 0)
            out += move_seconds(vertex_kind::offload, program.bytes(b), m);
    }
    return std::max(in, out);
}

/// Seconds of the copies that must be done before each step: what is on the host at the start comes in before
/// it is read for the first time.
template <class = void>
[[nodiscard]] std::vector<double> first_loads(const taskgraph& task, const residency_model& model,
                                              const machine& m) {
    const tensor_graph& program = task.program;
    std::vector<double> before(model.steps.size() + 1, 0);
    std::vector<char> seen(program.buffer_count(), 0);
    for (std::size_t s = 0; s < model.steps.size(); ++s) {
        before[s + 1] = before[s];
        const operator_index op = model.steps[s].op;
        if (op == no_operator) continue;
        for (const buffer_index b : program.reads(op)) {
            if (seen[b] == 0 && is_alive_at_start(program.kind(b)) && task.start[b] == host &&
                program.bytes(b) > 0) {
                before[s + 1] += move_seconds(vertex_kind::reload, program.bytes(b), m);
            }
            seen[b] = 1;
        }
        for (const buffer_index b : program.writes(op))
            seen[b] = 1;
    }
    return before;
}

/// Seconds of the copies that cannot begin before each step: what ends on the host goes out after its last
/// write.
template <class = void>
[[nodiscard]] std::vector<double> last_stores(const taskgraph& task, const residency_model& model,
                                              const machine& m) {
    const tensor_graph& program = task.program;
    std::vector<double> after(model.steps.size() + 1, 0);
    std::vector<char> seen(program.buffer_count(), 0);
    for (std::size_t s = model.steps.size(); s-- > 0;) {
        after[s] = after[s + 1];
        const operator_index op = model.steps[s].op;
        if (op == no_operator) continue;
        for (const buffer_index b : program.writes(op)) {
            if (seen[b] == 0 && task.finish[b] == host && program.bytes(b) > 0)
                after[s] += move_seconds(vertex_kind::offload, program.bytes(b), m);
            seen[b] = 1;
        }
    }
    return after;
}

/// By step: 1 if every run of a memgraph has just the operators of the earlier steps before the step's own,
/// and those of the later steps after it. That is so if it reads, by way of others, what all before it make,
/// and all after it read so what it makes: if of those before it each that no other one reads from is its
/// direct neighbour, and so are those after it that read from none. Who only overwrites what others read need
/// not wait: the contents may lie in two places. O(steps + accesses).
template <class = void>
[[nodiscard]] std::vector<char> forced_steps(const tensor_graph& program, const residency_model& model) {
    const std::size_t steps = model.steps.size();
    std::vector<std::vector<operator_index>> makers(program.operator_count());
    std::vector<std::vector<operator_index>> readers(program.operator_count());
    std::vector<operator_index> writer(program.buffer_count(), no_operator);
    for (const model_step& step : model.steps) {
        if (step.op == no_operator) continue;
        for (const buffer_index b : program.reads(step.op)) {
            if (writer[b] == no_operator) continue;
            makers[step.op].push_back(writer[b]);
            readers[writer[b]].push_back(step.op);
        }
        for (const buffer_index b : program.writes(step.op))
            writer[b] = step.op;
    }
    std::vector<char> forced(steps, 0);
    std::vector<char> open(program.operator_count(), 0);  // met, and no neighbour further on is
    std::size_t open_count = 0;
    // True if all that is open is next to `op`; closes that and opens `op`.
    const auto meet = [&](operator_index op, const std::vector<operator_index>& neighbours) {
        std::size_t closed = 0;
        for (const operator_index other : neighbours) {
            closed += open[other] != 0 ? 1U : 0U;
            open[other] = 0;
        }
        const bool all = closed == open_count;
        open_count = open_count - closed + 1;
        open[op] = 1;
        return all;
    };
    for (std::size_t s = 0; s < steps; ++s) {
        const operator_index op = model.steps[s].op;
        if (op != no_operator && meet(op, makers[op])) forced[s] = 1;
    }
    std::fill(open.begin(), open.end(), 0);
    open_count = 0;
    for (std::size_t s = steps; s-- > 0;) {
        const operator_index op = model.steps[s].op;
        if (op != no_operator && !meet(op, readers[op])) forced[s] = 0;
    }
    return forced;
}

/// The largest of: what a device computes on its lanes; the longest path, with several devices also where
/// operators of one take turns (turns_bound); what must be copied over the lanes to and from the hosts
/// (`lanes`: seconds that they are busy at least; sure_copies); and, for one device
/// with one compute lane, the split bound: at a moment between two operators, the longer of computing and
/// copying out, or in for the first time, before it, and of computing and copying in, or out for the last
/// time, after it. It is taken only at moments that every legal order has (forced_steps), or at all of them
/// where the operators keep the order, so the bound holds for every run; where the order is open, also at the
/// starts of some hundred operators, and up to twice `moments` of them sharper (open_order_bound).
/// O(steps + accesses + gaps) each.
template <class = void>
[[nodiscard]] double time_bound(const taskgraph& task, const residency_model& model,
                                std::span<const operator_index> order, std::int64_t capacity, double lanes,
                                const machine& m, bool fixed_order = false, std::size_t moments = 0) {
    const tensor_graph& program = task.program;
    const turns_bound turns(task, order, m);
    const std::size_t looks = task.devices == 1 ? 0 : moments > 0 ? 4'000'000 : 400'000;
    double bound = std::max(fixed_order ? turns.in_order() : turns.any_order(looks), lanes);
    std::vector<double> compute(task.devices, 0);
    for (const operator_index op : order)
        compute[task.placement[op]] += operator_seconds(program, op, m);
    for (const double seconds : compute)
        bound = std::max(bound, seconds / m.compute_lanes);
    bound = std::max(bound, sure_copies(task, order, m) / task.devices);
    if (task.devices > 1 || m.compute_lanes > 1) return bound;

    // What was made or changed before a moment and is wanted after it, beyond the capacity, is out by then;
    // what is read after it, beyond the capacity, comes in.
    const std::size_t steps = model.steps.size();
    std::vector<double> out(steps + 1, 0);
    std::vector<double> in(steps + 1, 0);
    const auto cover = [](std::vector<double>& sums, std::size_t from, std::size_t to, double bytes) {
        if (from > to) return;
        sums[from] += bytes;
        if (to + 1 < sums.size()) sums[to + 1] -= bytes;
    };
    for (const model_instance& instance : model.instances) {
        const auto bytes = static_cast<double>(program.bytes(instance.buffer));
        for (std::uint32_t a = instance.first; a < instance.last; ++a) {
            const model_access& access = model.accesses[a];
            const bool at_end = a + 1 == instance.last;
            const bool ends = at_end && (instance.tail != link_kind::dead);
            const model_access* next = at_end ? nullptr : &model.accesses[a + 1];
            // From this access to the next one that reads it, the contents are wanted.
            const bool wanted = next != nullptr ? next->reads : ends;
            const std::size_t until = next != nullptr ? next->step : steps - 1;
            const model_version& version = model.versions[access.after];
            const bool shared =
                model.copy_of[access.after] != access.after;  // the last run may have saved it
            const bool dirty = !version.on_host_at_start && !(version.initial && shared);
            if (wanted && dirty && until > access.step) cover(out, access.step + 1, until, bytes);
            if (next != nullptr && next->reads) cover(in, access.step + 1, next->step, bytes);
            // Before its first access, what comes from the host is still to come.
            if (a == instance.first && access.reads && access.step > 0) cover(in, 1, access.step, bytes);
        }
    }
    const std::vector<double> before = step_times(task, model, 0, m);
    const std::vector<double> first_in = first_loads(task, model, m);
    const std::vector<double> last_out = last_stores(task, model, m);
    const std::vector<char> forced = forced_steps(program, model);
    double outs = 0;
    double ins = 0;
    std::vector<open_moment> open;  // those that not every order has
    const auto limited_by = [](double side, double computing, double crossing) {
        if (side <= computing) return side_count::compute;
        return side <= crossing ? side_count::crossing : side_count::sure_copies;
    };
    for (std::size_t s = 0; s < steps; ++s) {
        outs += out[s];
        ins += in[s];
        const bool after_forced = s == 0 || forced[s - 1] != 0;
        const operator_index op = model.steps[s].op;
        // Which operator starts just then, if that is known: what it writes is there, what it reads has come.
        const bool any_next = !fixed_order && forced[s] == 0 && after_forced;
        const bool starts = op != no_operator && !any_next;
        const auto room = static_cast<double>(capacity - (starts ? own_bytes(program, op) : 0));
        const double out_seconds = (outs - room) / m.device_to_host_bytes_per_second;
        const double in_seconds = (ins - room) / m.host_to_device_bytes_per_second;
        const double earlier = std::max({before[s], out_seconds, first_in[starts ? s + 1 : s]});
        const double later = std::max({before.back() - before[s], in_seconds, last_out[s]});
        if (fixed_order || forced[s] != 0 || after_forced) {
            bound = std::max(bound, earlier + later);
        } else if (op != no_operator) {
            open.push_back({earlier + later, op, limited_by(earlier, before[s], out_seconds),
                            limited_by(later, before.back() - before[s], in_seconds)});
        }
    }
    return fixed_order ? bound : open_order_bound(task, model, order, capacity, m, open, moments, bound);
}

/// Sets what the result says of the least makespan: for any run of any memgraph for this order, and for those
/// whose operators keep it.
template <class = void>
void bound_makespan(const taskgraph& task, const residency_model& model, const memory_pool& pool,
                    std::span<const operator_index> order, const compile_options& asked, compiled& result) {
    // Each costs some milliseconds at 10,000 accesses; fewer in long programs.
    const std::size_t sharper_moments = std::min<std::size_t>(16, 3'000'000 / (1 + model.accesses.size()));
    const double lanes = lane_bound(pool, task.devices, asked.machine);
    const auto bound = [&](bool fixed_order) {
        const bool sharper = asked.goal == goal::time && !stowage::detail::is_over(pool.clock);
        return time_bound(task, model, order, asked.devices[0].capacity, lanes, asked.machine, fixed_order,
                          sharper ? sharper_moments : 0);
    };
    result.makespan_lower_bound = bound(asked.fixed_order);
    result.makespan_lower_bound_in_order =
        asked.fixed_order ? result.makespan_lower_bound : std::max(result.makespan_lower_bound, bound(true));
}

}  // namespace stowage::turnip::detail
