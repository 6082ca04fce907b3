#pragma once
// The layout room: where each buffer lies. Problems, policies, bounds, and plan(), which runs them.

#include <stowage/layout/any_policy.hpp>
#include <stowage/layout/best_fit.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/caching_allocator.hpp>
#include <stowage/layout/caching_arena.hpp>
#include <stowage/layout/fallback.hpp>
#include <stowage/layout/first_fit.hpp>
#include <stowage/layout/fwd.hpp>
#include <stowage/layout/key.hpp>
#include <stowage/layout/llfb.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/layout/placement_order.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/planned_arena.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/portfolio.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/replay.hpp>
#include <stowage/layout/replay_arena.hpp>
#include <stowage/layout/skyline.hpp>
#include <stowage/layout/skylines.hpp>
