#pragma once
// Boost.Graph both ways: any of its directed graphs becomes a program (program_from_edges,
// program_from_vertices), and any tensor_graph may be given to its algorithms (dependency_graph, flow_graph).
// Needs the target stowage::boost_graph.

#include <stowage/interop/from_boost_graph.hpp>
#include <stowage/interop/to_boost_graph.hpp>
