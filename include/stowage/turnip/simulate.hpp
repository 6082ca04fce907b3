#pragma once
// Runs a memgraph in virtual time on a machine: compute lanes, one copy lane each way and one for each pair
// of devices, and on each lane one vertex at a time. What it tells is what an executor that starts whatever
// is ready would see, without a device and in milliseconds.

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/simulator.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/simulation.hpp>

namespace stowage::turnip {

/// Simulates one run of `graph`, a right memgraph of `program`, on `m`. The same arguments give the same
/// answer; two schedules or priorities of one seed meet the same jitter. O((vertices + edges) log vertices).
///
/// Throws stowage::error for a machine that is none, a memgraph of another program, an edge to nowhere and a
/// cycle; overflow_error if the bytes moved pass 2^63 - 1. What else verify::check_memgraph refuses must not
/// be asked about.
template <class = void>
[[nodiscard]] simulation simulate(const tensor_graph& program, const memgraph& graph, const machine& m = {},
                                  const simulate_options& options = {}) {
    return detail::simulator(program, graph, m, options).run();
}

}  // namespace stowage::turnip
