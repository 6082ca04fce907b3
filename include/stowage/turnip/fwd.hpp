#pragma once
// Names of the Turnip room's values, for headers that only mention them.

#include <cstdint>
#include <limits>

namespace stowage::turnip {

/// Index of a device's memory, from 0; `host` is the memory of the host.
using memory_index = std::uint32_t;
/// The host's RAM, where a memory_index is expected.
inline constexpr memory_index host = std::numeric_limits<memory_index>::max();
/// "The compiler chooses", where a memory_index is expected.
inline constexpr memory_index anywhere = host - 1;

/// Position of a vertex in its memgraph.
using vertex_index = std::uint32_t;

struct memgraph;
struct taskgraph;

}  // namespace stowage::turnip
