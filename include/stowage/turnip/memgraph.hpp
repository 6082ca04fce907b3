#pragma once
// The memgraph of Turnip (arXiv 2405.16283): operators and moves between memories with fixed addresses, and
// every dependency that makes all of its legal orders give the same result. It is what `compile` returns,
// what a file of format memgraph/1 holds and what an executor runs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/fwd.hpp>

namespace stowage::turnip {

/// What a vertex does.
enum class vertex_kind : std::uint8_t {
    op,        ///< runs an operator of the program
    offload,   ///< copies one buffer from a device to the host
    reload,    ///< copies one buffer from the host to a device
    transfer,  ///< copies one buffer from a device to another, or to another address of the same one
};

/// "op", "offload", "reload" or "transfer".
[[nodiscard]] constexpr std::string_view to_string(vertex_kind kind) noexcept {
    switch (kind) {
        case vertex_kind::op: return "op";
        case vertex_kind::offload: return "offload";
        case vertex_kind::reload: return "reload";
        case vertex_kind::transfer: break;
    }
    return "transfer";
}

/// Why an edge's second vertex waits for its first.
enum class edge_kind : std::uint8_t {
    data,     ///< the first makes contents that the second reads
    memory,   ///< both touch a common byte, and one of them writes it
    control,  ///< the compiler wants it
};

/// "data", "memory" or "control".
[[nodiscard]] constexpr std::string_view to_string(edge_kind kind) noexcept {
    switch (kind) {
        case edge_kind::data: return "data";
        case edge_kind::memory: return "memory";
        case edge_kind::control: break;
    }
    return "control";
}

/// An address that is not there: of a buffer without bytes, of a workspace that is none.
inline constexpr std::int64_t no_address = -1;

/// One buffer at one place in a device's arena.
struct operand {
    buffer_index buffer = 0;            ///< the buffer, by its index in the program
    memory_index device = 0;            ///< the device in whose arena it is
    std::int64_t address = no_address;  ///< bytes from the start of that arena
    friend bool operator==(const operand&, const operand&) = default;
};

/// One buffer at one place in any memory: where it is at the start, or must be at the end.
struct residence {
    buffer_index buffer = 0;            ///< the buffer, by its index in the program
    memory_index memory = host;         ///< a device, or `host`
    std::int64_t address = no_address;  ///< bytes from the start of that memory's arena
    friend bool operator==(const residence&, const residence&) = default;
};

/// One vertex, beside its operands. A move reads one operand (but a reload, which reads the host) and writes
/// one (but an offload, which writes the host).
struct vertex {
    vertex_kind kind = vertex_kind::op;      ///< what it does
    operator_index op = no_operator;         ///< the operator that it runs; `no_operator` for a move
    memory_index device = 0;                 ///< the device that runs it; of a transfer: the destination
    std::int64_t host_address = no_address;  ///< of an offload or reload: bytes from the host arena's start
    std::int64_t workspace_address = no_address;  ///< of an operator with workspace: where it is on `device`
    friend bool operator==(const vertex&, const vertex&) = default;
};

/// `to` may not start before `from` has finished.
struct edge {
    vertex_index from = 0;             ///< runs first
    vertex_index to = 0;               ///< waits
    edge_kind kind = edge_kind::data;  ///< why
    friend bool operator==(const edge&, const edge&) = default;
};

/// A dependency graph with fixed addresses. A plain value: whoever changes it answers for it, and
/// verify::check_memgraph says whether it still is what a program asks for. Reading it is safe from any
/// number of threads at once.
struct memgraph {
    std::string graph = {};                      ///< the program's name, for people
    std::uint64_t fingerprint = 0;               ///< of the program (tensor_graph::fingerprint)
    std::int64_t alignment = 1;                  ///< every address is a multiple of it
    std::vector<std::int64_t> arena_bytes = {};  ///< by device: bytes used
    std::int64_t host_bytes = 0;                 ///< bytes used of the host's arena
    std::vector<vertex> vertices = {};           ///< in an order that is legal
    std::vector<edge> edges = {};                ///< none twice
    std::vector<residence> start = {};           ///< where persistent and donated buffers are at the start
    std::vector<residence> final = {};           ///< where buffers must be at the end
    bool repeatable = false;  ///< at the end every persistent buffer but an input is where it began

    std::vector<operand> operands = {};           ///< of all vertices: reads, then writes, vertex by vertex
    std::vector<std::uint32_t> first_read = {0};  ///< by vertex, and one more: where its operands begin
    std::vector<std::uint32_t> first_write = {};  ///< by vertex: where its writes begin

    /// Appends a vertex with its operands. Amortised O(number of operands).
    template <class = void>
    vertex_index add(const vertex& added, std::span<const operand> reads, std::span<const operand> writes) {
        vertices.push_back(added);
        operands.insert(operands.end(), reads.begin(), reads.end());
        first_write.push_back(static_cast<std::uint32_t>(operands.size()));
        operands.insert(operands.end(), writes.begin(), writes.end());
        first_read.push_back(static_cast<std::uint32_t>(operands.size()));
        return static_cast<vertex_index>(vertices.size() - 1);
    }
    /// Device operands that `v` reads; each buffer once. O(1).
    [[nodiscard]] std::span<const operand> reads(vertex_index v) const noexcept {
        return {operands.data() + first_read[v], operands.data() + first_write[v]};
    }
    /// Device operands that `v` writes; each buffer once, at the address at which `v` reads it if it does.
    /// O(1).
    [[nodiscard]] std::span<const operand> writes(vertex_index v) const noexcept {
        return {operands.data() + first_write[v], operands.data() + first_read[v + 1]};
    }
    /// The buffer that the move `v` copies. O(1). `v` is not an operator.
    [[nodiscard]] buffer_index moved(vertex_index v) const noexcept { return operands[first_read[v]].buffer; }
    friend bool operator==(const memgraph&, const memgraph&) = default;
};

}  // namespace stowage::turnip
