#pragma once
// The roam room: whole plans, order and layout together, and ROAM's parts: segments, weight updates, the
// subgraph tree. The paper's planner, which needs the solver room, is <stowage/roam/paper.hpp>.

#include <stowage/roam/arena_bound.hpp>
#include <stowage/roam/by_segments.hpp>
#include <stowage/roam/granule.hpp>
#include <stowage/roam/highest_pin.hpp>
#include <stowage/roam/joint.hpp>
#include <stowage/roam/options.hpp>
#include <stowage/roam/paper_order.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/roam/planner.hpp>
#include <stowage/roam/segment_program.hpp>
#include <stowage/roam/segments.hpp>
#include <stowage/roam/streams.hpp>
#include <stowage/roam/subgraph_tree.hpp>
#include <stowage/roam/top_shelf.hpp>
#include <stowage/roam/tree_layout.hpp>
#include <stowage/roam/tree_text.hpp>
#include <stowage/roam/update_branches.hpp>
#include <stowage/roam/update_schedule.hpp>
