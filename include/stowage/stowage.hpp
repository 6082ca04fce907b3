#pragma once
// The main path in one include: programs in, plans out, and what checks them. It needs nothing but the
// standard library, and compiles in two thirds of the time of the rooms that it takes from; the rest of them
// is in <stowage/order.hpp>, <stowage/layout.hpp> (arenas, pools, re-planning), <stowage/roam.hpp> (the
// paper's planner, part by part) and <stowage/verify.hpp> (proofs, memgraphs), files are in
// <stowage/io.hpp>, Boost.Graph in <stowage/interop/boost_graph.hpp>.

#include <stowage/error.hpp>
#include <stowage/graph.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/roam/planner.hpp>
#include <stowage/units.hpp>
#include <stowage/verify/layout.hpp>
#include <stowage/verify/order.hpp>
#include <stowage/verify/plan.hpp>
#include <stowage/version.hpp>
