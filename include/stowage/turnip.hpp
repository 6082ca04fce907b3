#pragma once
// The turnip room: programs that do not fit a device become memgraphs, with the fewest bytes moved.

#include <stowage/turnip/cheapest_order.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/fastest_order.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/place_by_layers.hpp>
#include <stowage/turnip/place_in_parts.hpp>
#include <stowage/turnip/residency.hpp>
#include <stowage/turnip/simulate.hpp>
#include <stowage/turnip/simulation.hpp>
#include <stowage/turnip/streaming.hpp>
#include <stowage/turnip/taskgraph.hpp>
