#pragma once
// The cost model: how long an operator runs and a copy takes on a machine. Every device of a machine is
// alike. Source: the machine file of docs/formats.md.

#include <algorithm>
#include <cstdint>
#include <string>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::turnip {

/// Speeds of a machine's devices and links. All rates are per second and positive, all times in seconds and
/// not negative.
struct machine {
    double flops_per_second = 2e13;                   ///< arithmetic of one compute lane
    double bytes_per_second = 1.5e12;                 ///< a device's own memory
    double host_to_device_bytes_per_second = 2.5e10;  ///< of each device's reload lane
    double device_to_host_bytes_per_second = 2.5e10;  ///< of each device's offload lane
    double peer_bytes_per_second = 5e10;              ///< of each ordered pair of devices
    double launch_seconds = 5e-6;                     ///< of an operator whose time the program does not give
    double copy_seconds = 1e-5;                       ///< before a copy's first byte
    std::uint32_t compute_lanes =
        1;  ///< operators that one device runs at once, each at full speed; at least 1
    double jitter =
        0.0;  ///< each time is multiplied by a random factor from 1 - jitter to 1 + jitter; 0 to 1
    friend bool operator==(const machine&, const machine&) = default;
};

/// Throws stowage::error naming the first field that is out of range. O(1).
template <class = void>
void check_machine(const machine& m) {
    const auto rate = [](double value, const char* name) {
        if (!(value > 0)) throw error(std::string("machine: ") + name + " is not positive");
        // what a machine's times are divided by leaves them finite
        if (!(value >= 1e-9 && value <= 1e300))
            throw error(std::string("machine: ") + name + " is not from 1e-9 to 1e300");
    };
    const auto time = [](double value, const char* name) {
        if (!(value >= 0 && value <= 1e9)) {
            throw error(std::string("machine: ") + name + " is not from 0 to 1e9 seconds");
        }
    };
    rate(m.flops_per_second, "flops_per_second");
    rate(m.bytes_per_second, "bytes_per_second");
    rate(m.host_to_device_bytes_per_second, "host_to_device_bytes_per_second");
    rate(m.device_to_host_bytes_per_second, "device_to_host_bytes_per_second");
    rate(m.peer_bytes_per_second, "peer_bytes_per_second");
    time(m.launch_seconds, "launch_seconds");
    time(m.copy_seconds, "copy_seconds");
    if (m.compute_lanes == 0) throw error("machine: compute_lanes is 0");
    if (!(m.jitter >= 0 && m.jitter <= 1)) throw error("machine: jitter is not from 0 to 1");
}

/// Seconds that `op` runs: those that the program gives, else launch + the longer of arithmetic and memory
/// traffic (every read and every write as listed). O(accesses of the operator).
template <class = void>
[[nodiscard]] double operator_seconds(const tensor_graph& program, operator_index op, const machine& m) {
    if (const auto given = program.seconds(op)) return *given;
    double bytes = 0;
    for (const buffer_index b : program.accesses(op))
        bytes += static_cast<double>(program.bytes(b));
    return m.launch_seconds +
           std::max(program.flops(op).value_or(0) / m.flops_per_second, bytes / m.bytes_per_second);
}

/// Seconds that one move of `bytes` takes. A transfer within one device (`same_device`) reads and writes that
/// device's memory; no kind but a transfer can be one. O(1).
[[nodiscard]] constexpr double move_seconds(vertex_kind kind, std::int64_t bytes, const machine& m,
                                            bool same_device = false) noexcept {
    const auto count = static_cast<double>(bytes);
    switch (kind) {
        case vertex_kind::offload: return m.copy_seconds + count / m.device_to_host_bytes_per_second;
        case vertex_kind::reload: return m.copy_seconds + count / m.host_to_device_bytes_per_second;
        case vertex_kind::op:
        case vertex_kind::transfer: break;
    }
    if (same_device) return m.copy_seconds + 2 * count / m.bytes_per_second;
    return m.copy_seconds + count / m.peer_bytes_per_second;
}

/// Seconds that vertex `v` of `graph` takes, without jitter. O(its operands).
template <class = void>
[[nodiscard]] double vertex_seconds(const tensor_graph& program, const memgraph& graph, vertex_index v,
                                    const machine& m) {
    const vertex& at = graph.vertices[v];
    if (at.kind == vertex_kind::op) return operator_seconds(program, at.op, m);
    const bool same_device = at.kind == vertex_kind::transfer && graph.reads(v).front().device == at.device;
    return move_seconds(at.kind, program.bytes(graph.moved(v)), m, same_device);
}

}  // namespace stowage::turnip
