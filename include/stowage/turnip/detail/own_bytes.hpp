#pragma once
// What an operator takes of a device beside what was there before it.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <stowage/graph/tensor_graph.hpp>

namespace stowage::turnip::detail {

/// Bytes that are on the device when `op` starts and hold no contents that were made before: its workspace,
/// and what it writes without reading it. O(the square of its operands).
template <class = void>
[[nodiscard]] std::int64_t own_bytes(const tensor_graph& program, operator_index op) {
    std::int64_t own = program.workspace(op);
    const auto reads = program.reads(op);
    const auto writes = program.writes(op);
    for (std::size_t k = 0; k < writes.size(); ++k) {
        const auto listed = writes.begin() + static_cast<std::ptrdiff_t>(k);
        const bool counted = std::find(reads.begin(), reads.end(), *listed) != reads.end() ||
                             std::find(writes.begin(), listed, *listed) != listed;
        own += counted ? 0 : program.bytes(*listed);
    }
    return own;
}

}  // namespace stowage::turnip::detail
