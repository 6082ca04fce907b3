#pragma once
// The graph room: reading a user's program and the compact form of it.

#include <stowage/graph/buffer_kind.hpp>
#include <stowage/graph/concepts.hpp>
#include <stowage/graph/fwd.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/graph/program.hpp>
#include <stowage/graph/reachability.hpp>
#include <stowage/graph/stage.hpp>
#include <stowage/graph/stages.hpp>
#include <stowage/graph/tensor_graph.hpp>
