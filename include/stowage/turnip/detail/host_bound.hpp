#pragma once
// A proven least capacity of the host: what is alive at a step and cannot be on the devices must be there.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// True for a persistent buffer whose copy on the host, if it starts there, must stay intact: nobody writes
/// it, and it is no input.
template <class = void>
[[nodiscard]] bool stays_intact(const taskgraph& task, buffer_index b) {
    const buffer_kind kind = task.program.kind(b);
    return is_persistent(kind) && kind != buffer_kind::input && !task.is_written(b);
}

/// Bytes that the host needs at least, in this order, whatever is decided. `at` receives the step at which it
/// does. O(accesses + gaps + steps x devices).
template <class = void>
[[nodiscard]] std::int64_t least_host_bytes(const taskgraph& task, const residency_model& model,
                                            std::span<const std::int64_t> capacities, std::size_t& at) {
    const tensor_graph& program = task.program;
    std::int64_t at_start = 0;
    std::int64_t at_end = 0;
    std::int64_t fixed = 0;  // on the host from start to end
    std::vector<char> is_fixed(program.buffer_count(), 0);
    for (buffer_index b = 0; b < program.buffer_count(); ++b) {
        if (model.final_version[b] == residency_model::no_version) continue;
        const std::int64_t bytes = program.bytes(b);
        const bool starts = is_alive_at_start(program.kind(b)) && task.start[b] == host;
        if (starts) at_start = stowage::detail::checked_add(at_start, bytes);
        if (task.finish[b] == host || (starts && stays_intact(task, b))) {
            at_end = stowage::detail::checked_add(at_end, bytes);
        }
        if (!starts || !stays_intact(task, b)) continue;
        is_fixed[b] = 1;
        fixed += bytes;
    }
    // Bytes alive at each step beside the fixed ones, once for each buffer: on one device or on the host.
    std::vector<std::int64_t> alive(model.steps.size() + 1, 0);
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> room(model.steps.size(), 0);
    for (std::size_t s = 0; s < room.size(); ++s) {
        for (memory_index d = 0; d < model.devices; ++d)
            room[s] = capacities[d] > most - room[s] ? most : room[s] + capacities[d];
    }
    for (const model_access& a : model.accesses) {
        const buffer_index b = model.instances[a.instance].buffer;
        if (is_fixed[b] != 0) {
            room[a.step] -= program.bytes(b);
        } else if (!(model.steps[a.step].is_transfer && a.writes)) {
            alive[a.step] += program.bytes(b);
            alive[a.step + 1] -= program.bytes(b);
        }
    }
    if (model.devices == 1) {
        // With more devices the gaps of one buffer overlap, and would count twice.
        for (const model_gap& gap : model.gaps) {
            const buffer_index b = model.instances[gap.instance].buffer;
            if (is_fixed[b] != 0 || gap.wrapped || !gap.needs_copy || gap.bytes_in == 0) continue;
            alive[gap.lower] += program.bytes(b);
            alive[gap.upper + 1] -= program.bytes(b);
        }
    }
    std::int64_t least = std::max(at_start, at_end);
    at = at_start >= at_end ? 0 : model.last_step();
    std::int64_t now = 0;
    for (std::size_t s = 0; s < room.size(); ++s) {
        now += alive[s];
        const std::int64_t here = fixed + std::max<std::int64_t>(0, now - room[s]);
        if (here <= least) continue;
        least = here;
        at = s;
    }
    return least;
}

}  // namespace stowage::turnip::detail
