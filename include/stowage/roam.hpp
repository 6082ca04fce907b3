#pragma once
// The roam room: whole plans, order and layout together.

#include <stowage/roam/joint.hpp>
#include <stowage/roam/options.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/roam/planner.hpp>
