#pragma once
// The core of stowage in one include: reading programs, orders, layouts, plans and their verification. It
// needs nothing but the standard library; files are in <stowage/io.hpp>, Boost.Graph in
// <stowage/interop/boost_graph.hpp>.

#include <stowage/error.hpp>
#include <stowage/graph.hpp>
#include <stowage/layout.hpp>
#include <stowage/order.hpp>
#include <stowage/roam.hpp>
#include <stowage/units.hpp>
#include <stowage/verify.hpp>
#include <stowage/version.hpp>
