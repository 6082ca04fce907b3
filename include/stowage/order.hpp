#pragma once
// The order room: operator orders, lower bounds on what every order needs, searches that bring the two
// together, and portfolios of them.

#include <stowage/order/any_policy.hpp>
#include <stowage/order/bounds.hpp>
#include <stowage/order/branching.hpp>
#include <stowage/order/cut_move.hpp>
#include <stowage/order/depth_first.hpp>
#include <stowage/order/eager_free.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/local_search.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/order/portfolio.hpp>
#include <stowage/order/program.hpp>
#include <stowage/order/proof.hpp>
#include <stowage/order/prove.hpp>
#include <stowage/order/reversed.hpp>
#include <stowage/order/timesteps.hpp>
#include <stowage/order/valley_search.hpp>
#include <stowage/order/xla_list.hpp>
