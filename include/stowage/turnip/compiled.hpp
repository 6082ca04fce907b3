#pragma once
// What Turnip's compiler answers: a memgraph with its figures and their proven bounds, or the reason why
// there is none.

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/status.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

/// A compiled program. A plain value.
struct compiled {
    /// `optimal`: proven that no memgraph for this order moves fewer bytes; `feasible`: there is a memgraph;
    /// `infeasible`: proven that there is none within the capacities; `unknown`: none was found.
    stowage::status status = stowage::status::unknown;
    turnip::memgraph memgraph = {};          ///< empty unless there is one
    std::vector<operator_index> order = {};  ///< the order in which it was compiled
    std::int64_t bytes_offloaded = 0;        ///< device to host
    std::int64_t bytes_reloaded = 0;         ///< host to device
    std::int64_t bytes_transferred = 0;      ///< device to device, moves inside one included
    std::int64_t bytes_moved = 0;            ///< offloaded + reloaded
    /// Proven: no memgraph for this order moves fewer bytes between the devices and the host.
    std::int64_t bytes_moved_lower_bound = 0;
    /// Proven, in seconds of the cost model: no run of any memgraph for this order is shorter, in whatever
    /// order it starts its vertices; with compile_options::fixed_order, none that keeps the order.
    double makespan_lower_bound = 0;
    /// The same for runs in which the operators of a device keep the order of compilation: no smaller, and
    /// sharper where programs branch.
    double makespan_lower_bound_in_order = 0;
    double makespan = 0;  ///< seconds by simulation; 0: not asked for
    /// If there is no memgraph: the least capacity of the memory concerned that is known to do; 0: none is.
    std::int64_t least_capacity = 0;
    memory_index memory = 0;  ///< if there is no memgraph: the memory concerned, device or `host`
    /// If infeasible: the operator that needs it; where the start, the end or the host demands it, the
    /// operator next to that moment.
    operator_index blamed = no_operator;
    std::string reason = {};          ///< if there is no memgraph: why, in words
    std::string found_by = {};        ///< the policy, and the variant of it that won
    std::vector<double> prices = {};  ///< witness of the bound: see detail/price_bound.hpp
    double seconds = 0;               ///< wall-clock time of the compilation
    /// True if there is a memgraph.
    [[nodiscard]] bool ok() const noexcept {
        return status == stowage::status::optimal || status == stowage::status::feasible;
    }
};

/// A way to compile: callable with a taskgraph, a legal order of its operators and options.
template <class P>
concept compile_policy = std::copy_constructible<P> &&
    requires(const P& policy, const taskgraph& task, std::span<const operator_index> order,
             const compile_options& options) {
    { policy(task, order, options) } -> std::convertible_to<compiled>;
};

}  // namespace stowage::turnip
