#pragma once
// From a script with all addresses to the memgraph.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/turnip/detail/emitter.hpp>
#include <stowage/turnip/detail/script.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// True if every persistent buffer but an input is, at the end, wherever it was at the start. O(buffers).
template <class = void>
[[nodiscard]] bool is_repeatable(const taskgraph& task, const script& script) {
    std::vector<residence> ends = script.final;
    const auto before = [](const residence& a, const residence& b) {
        if (a.buffer != b.buffer) return a.buffer < b.buffer;
        return a.memory != b.memory ? a.memory < b.memory : a.address < b.address;
    };
    std::sort(ends.begin(), ends.end(), before);
    return std::all_of(script.start.begin(), script.start.end(), [&](const residence& r) {
        const buffer_kind kind = task.program.kind(r.buffer);
        if (!is_persistent(kind) || kind == buffer_kind::input || !task.is_written(r.buffer)) return true;
        return std::binary_search(ends.begin(), ends.end(), r, before);
    });
}

/// Derives the dependencies of a script. `fixed_order` chains the operators of each device.
template <class = void>
[[nodiscard]] memgraph write_memgraph(const taskgraph& task, const script& script,
                                      const compile_options& options) {
    emitter out(task.program, task.devices);
    for (const residence& r : script.start)
        out.begin_with(r.buffer, r.memory, r.address);
    std::vector<vertex_index> previous(task.devices, no_vertex);
    for (const script_line& line : script.lines) {
        switch (line.kind) {
            case vertex_kind::op: {
                const auto address_of = [&](buffer_index b) {
                    const auto first = script.operands.begin() + static_cast<std::ptrdiff_t>(line.operands);
                    return std::lower_bound(
                               first, first + static_cast<std::ptrdiff_t>(line.operand_count), b,
                               [](const script::place& p, buffer_index buffer) { return p.buffer < buffer; })
                        ->address;
                };
                const vertex_index v = out.run(line.op, line.device, address_of, line.workspace);
                if (options.fixed_order && previous[line.device] != no_vertex)
                    out.order(previous[line.device], v);
                previous[line.device] = v;
                break;
            }
            case vertex_kind::offload:
                out.offload(line.buffer, line.device, line.address, line.host_address);
                break;
            case vertex_kind::reload:
                out.reload(line.buffer, line.device, line.address, line.host_address);
                break;
            case vertex_kind::transfer:
                out.transfer(line.buffer, line.source, line.from, line.device, line.address);
                break;
        }
    }
    for (const residence& r : script.final)
        out.end_with(r.buffer, r.memory, r.address);
    memgraph result = out.finish();
    result.alignment = options.alignment;
    result.graph = options.name;
    result.repeatable = task.repeatable && is_repeatable(task, script);
    return result;
}

}  // namespace stowage::turnip::detail
