#pragma once
// Names of the graph room, for headers that only mention them.

#include <cstdint>

namespace stowage {

enum class buffer_kind : std::uint8_t;
enum class stage : std::uint8_t;
enum class buffer_id : std::uint32_t;
enum class operator_id : std::uint32_t;

class program;
class tensor_graph;

}  // namespace stowage
