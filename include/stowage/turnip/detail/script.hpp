#pragma once
// What happens in which order, with addresses on the devices; the host's addresses are still open. Between
// the stower, which writes it, and the emitter, which derives the dependencies.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::turnip::detail {

/// One vertex to be.
struct script_line {
    vertex_kind kind = vertex_kind::op;
    operator_index op = no_operator;
    buffer_index buffer = 0;   ///< of a move
    memory_index device = 0;   ///< of a transfer: the destination
    memory_index source = 0;   ///< of a transfer: where it comes from
    std::int64_t address = 0;  ///< on `device`
    std::int64_t from = 0;     ///< of a transfer: on `source`
    std::int64_t workspace = no_address;
    std::int64_t host_address = no_address;
    std::uint32_t operands = 0;       ///< of an operator: its first operand in script::operands
    std::uint32_t operand_count = 0;  ///< of an operator: how many it has there
};

/// The vertices in one total order, and what is where before and after them.
struct script {
    struct place {
        buffer_index buffer;
        std::int64_t address;
    };
    std::vector<script_line> lines;
    std::vector<place> operands;  ///< of all operators; each one's sorted by buffer
    std::vector<residence> start;
    std::vector<residence> final;
    std::int64_t bytes_moved = 0;         ///< out and in
    std::int64_t bytes_moved_within = 0;  ///< from one place of a device to another, to make room
};

}  // namespace stowage::turnip::detail
