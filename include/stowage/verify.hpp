#pragma once
// The room of verifiers: of orders, layouts, whole plans and memgraphs. They share no code with the planners.

#include <stowage/verify/arena_proof.hpp>
#include <stowage/verify/layout.hpp>
#include <stowage/verify/memgraph.hpp>
#include <stowage/verify/order.hpp>
#include <stowage/verify/order_proof.hpp>
#include <stowage/verify/plan.hpp>
#include <stowage/verify/proof.hpp>
#include <stowage/verify/timesteps.hpp>
#include <stowage/verify/verdict.hpp>
