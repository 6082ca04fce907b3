#pragma once
// The time of a run that streams layer after layer, the way to run models that do not fit before Turnip: the
// next layer's weights come in while one computes, and a barrier ends each layer. What it cannot do is look
// further ahead, keep a weight, or start what is ready. Sources: ZeRO-Inference (DeepSpeed), FlexGen (arXiv
// 2303.06865).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

/// How layers are streamed.
struct streaming_options {
    std::vector<std::uint32_t> layer =
        {};  ///< by operator: its layer; they run in the order of their numbers
    /// True, as FlexGen: what a layer leaves goes out while the next one computes. False, as ZeRO-Inference:
    /// it goes out before the next one starts.
    bool overlap_stores = true;
};

/// A streamed run.
struct streamed {
    double makespan = 0;               ///< seconds
    std::int64_t bytes_offloaded = 0;  ///< copied to the host
    std::int64_t bytes_reloaded = 0;   ///< copied from the host
    std::vector<std::int64_t>
        peak_bytes;  ///< by device: a layer with its operands, its results and the next layer's
};

/// Streams the layers of `tasks`: all that is there at the start is on the host; each layer's operands but
/// the previous layer's results come in before it; results that a later layer than the next reads, outputs
/// and written persistent buffers go out after it. O(operators + accesses + layers * devices). Throws
/// stowage::error for a list of layers of another length, or an operator that reads what a later layer
/// writes.
template <class = void>
[[nodiscard]] streamed simulate_streaming(const taskgraph& tasks, const machine& m,
                                          const streaming_options& options) {
    check_machine(m);
    const tensor_graph& program = tasks.program;
    if (options.layer.size() != program.operator_count()) throw error("there is not one layer an operator");
    std::size_t layers = 0;
    for (const std::uint32_t l : options.layer)
        layers = std::max(layers, std::size_t{l} + 1);
    const std::size_t devices = tasks.devices;
    struct cell {
        double compute = 0;
        double load = 0;
        double store = 0;
        std::int64_t bytes = 0;  // that must be there for it
    };
    std::vector<cell> table(layers * devices);
    const auto at = [&](std::size_t layer, memory_index d) -> cell& { return table[layer * devices + d]; };
    streamed result;
    constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> made(program.buffer_count(),
                                    never);  // by buffer: the layer that wrote it last
    std::vector<std::uint32_t> present(program.buffer_count() * devices,
                                       never);  // the layer that has it there
    std::vector<std::uint32_t> last_read(program.buffer_count(), 0);
    for (operator_index op = 0; op < program.operator_count(); ++op) {
        for (const buffer_index b : program.reads(op))
            last_read[b] = std::max(last_read[b], options.layer[op]);
    }
    for (operator_index op = 0; op < program.operator_count(); ++op) {
        const std::uint32_t layer = options.layer[op];
        const memory_index d = tasks.placement[op];
        cell& here = at(layer, d);
        here.compute += operator_seconds(program, op, m) / m.compute_lanes;
        here.bytes = stowage::detail::checked_add(here.bytes, program.workspace(op));
        for (const buffer_index b : program.reads(op)) {
            std::uint32_t& there = present[b * devices + d];
            if (there == layer || program.bytes(b) == 0) continue;
            there = layer;
            here.bytes = stowage::detail::checked_add(here.bytes, program.bytes(b));
            if (made[b] != never && made[b] > layer) throw error("a layer reads what a later one writes");
            const bool resident = made[b] != never && made[b] + 1 >= layer;
            if (resident) continue;
            here.load += move_seconds(vertex_kind::reload, program.bytes(b), m);
            result.bytes_reloaded = stowage::detail::checked_add(result.bytes_reloaded, program.bytes(b));
        }
        for (const buffer_index b : program.writes(op)) {
            if (program.bytes(b) == 0) continue;
            std::uint32_t& there = present[b * devices + d];
            if (there != layer) here.bytes = stowage::detail::checked_add(here.bytes, program.bytes(b));
            there = layer;
            if (made[b] == layer) continue;
            made[b] = layer;
            const bool ends = program.kind(b) == buffer_kind::output || is_persistent(program.kind(b));
            if (!ends && last_read[b] <= layer + 1) continue;
            here.store += move_seconds(vertex_kind::offload, program.bytes(b), m);
            result.bytes_offloaded = stowage::detail::checked_add(result.bytes_offloaded, program.bytes(b));
        }
    }
    const auto longest = [&](auto part) {
        double seconds = 0;
        for (memory_index d = 0; d < devices; ++d)
            seconds = std::max(seconds, part(d));
        return seconds;
    };
    if (layers > 0) result.makespan = longest([&](memory_index d) { return at(0, d).load; });
    for (std::size_t l = 0; l < layers; ++l) {
        result.makespan += longest([&](memory_index d) {
            const double next = l + 1 < layers ? at(l + 1, d).load : 0;
            const double before = options.overlap_stores && l > 0 ? at(l - 1, d).store : 0;
            return std::max({at(l, d).compute, next, before}) + (options.overlap_stores ? 0 : at(l, d).store);
        });
    }
    if (layers > 0 && options.overlap_stores) {
        result.makespan += longest([&](memory_index d) { return at(layers - 1, d).store; });
    }
    result.peak_bytes.assign(devices, 0);
    for (std::size_t l = 0; l < layers; ++l) {
        for (memory_index d = 0; d < devices; ++d) {
            const std::int64_t next = l + 1 < layers ? at(l + 1, d).bytes : 0;
            result.peak_bytes[d] =
                std::max(result.peak_bytes[d], stowage::detail::checked_add(at(l, d).bytes, next));
        }
    }
    return result;
}

}  // namespace stowage::turnip
