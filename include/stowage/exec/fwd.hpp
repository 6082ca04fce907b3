#pragma once
// Names of the exec room's values, for headers that only mention them.

#include <cstdint>

namespace stowage::exec {

/// Position of a lane among the lanes of one executor.
using lane_index = std::uint32_t;

enum class lane_kind : std::uint8_t;
struct lane_description;
struct lane_work;
struct completion;
struct fault;
struct run_report;
struct run_options;

}  // namespace stowage::exec
