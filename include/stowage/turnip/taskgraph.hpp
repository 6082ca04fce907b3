#pragma once
// A taskgraph: a program whose operators are placed on devices, with the memories where its persistent
// buffers are at the start and where buffers must be at the end. Transfers between devices are the
// compiler's: they follow from the placement.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/fwd.hpp>

namespace stowage::turnip {

/// Where persistent and donated buffers are at the start, and outputs and written persistent buffers at the
/// end.
enum class start_rule : std::uint8_t {
    on_host,    ///< all on the host, at the start and at the end
    on_device,  ///< on the device of their first reader; outputs stay where they are written
    steady,  ///< the compiler chooses for each, the same at start and end: a step that is run again and again
};

/// How a program becomes a taskgraph.
struct taskgraph_options {
    std::uint32_t devices = 1;                 ///< number of devices, at least 1
    start_rule start = start_rule::on_host;    ///< where buffers are before and after the run
    std::vector<memory_index> placement = {};  ///< by operator: its device; empty: as the program says
    bool once =
        false;  ///< true: persistent buffers need not end where they began, only outputs and written ones
};

/// A program placed on devices.
struct taskgraph {
    tensor_graph program = {};                 ///< the program
    std::uint32_t devices = 1;                 ///< number of devices
    std::vector<memory_index> placement = {};  ///< by operator: the device that runs it
    std::vector<memory_index> start =
        {};  ///< by buffer, for persistent and donated ones: where it is at the start
    std::vector<memory_index> finish =
        {};                  ///< by buffer, for outputs and written persistent ones: where it must end
    bool repeatable = true;  ///< each persistent buffer but an input ends where it began

    /// True if some operator writes `buffer`. O(1) after make_taskgraph.
    [[nodiscard]] bool is_written(buffer_index buffer) const noexcept { return written[buffer] != 0; }
    std::vector<std::uint8_t> written = {};  ///< by buffer: 1 if some operator writes it
};

/// Places `program`. Throws program_error, naming the operator, for a device that does not exist, and
/// stowage::error for a placement of another length or no device at all. O(operators + accesses).
template <class = void>
[[nodiscard]] taskgraph make_taskgraph(tensor_graph program, const taskgraph_options& options = {}) {
    if (options.devices == 0 || options.devices >= anywhere)
        throw error("a taskgraph has at least one device, and less than 2^32 - 2");
    const std::size_t operators = program.operator_count();
    if (!options.placement.empty() && options.placement.size() != operators) {
        throw error("the placement has " + std::to_string(options.placement.size()) +
                    " entries, the program " + std::to_string(operators) + " operators");
    }
    taskgraph result;
    result.devices = options.devices;
    result.repeatable = !options.once;
    result.placement.resize(operators);
    const std::size_t buffers = program.buffer_count();
    result.written.assign(buffers, 0);
    result.start.assign(buffers, anywhere);
    result.finish.assign(buffers, anywhere);
    for (operator_index op = 0; op < operators; ++op) {
        const memory_index device = options.placement.empty() ? program.device(op) : options.placement[op];
        if (device >= options.devices)
            throw program_error("it is placed on a device that does not exist",
                                program.describe_operator(op));
        result.placement[op] = device;
        for (const buffer_index b : program.writes(op)) {
            result.written[b] = 1;
            if (options.start == start_rule::on_device) result.finish[b] = device;
        }
        if (options.start != start_rule::on_device) continue;
        for (const buffer_index b : program.accesses(op)) {
            if (is_alive_at_start(program.kind(b)) && result.start[b] == anywhere) result.start[b] = device;
        }
    }
    for (buffer_index b = 0; b < buffers; ++b) {
        const buffer_kind kind = program.kind(b);
        const bool used = !program.users(b).empty();
        const bool ends = kind == buffer_kind::output || (is_persistent(kind) && result.written[b] != 0);
        if (options.start == start_rule::on_host) {
            if (is_alive_at_start(kind) && used) result.start[b] = host;
            if (ends) result.finish[b] = host;
        } else if (options.start == start_rule::on_device && result.repeatable && is_persistent(kind) &&
                   kind != buffer_kind::input && ends) {
            result.finish[b] = result.start[b];
        }
        if (!ends) result.finish[b] = anywhere;
    }
    result.program = std::move(program);
    return result;
}

}  // namespace stowage::turnip
