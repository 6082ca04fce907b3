#pragma once
// Runs a solver on a policy's account: the limits of stowage::budget become limits of the solve, the nodes
// that it took are booked, and a fault is told to whom it concerns instead of ending the search.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <stowage/budget.hpp>
#include <stowage/solver/check.hpp>
#include <stowage/solver/concepts.hpp>
#include <stowage/solver/error.hpp>

namespace stowage::solver {

/// What an integer program of a policy may be and take.
struct program_limits {
    std::size_t entries = 50'000;  ///< most entries of the rows; a larger program is refused
    /// Wall-clock limit of one program, beside the account's; none: the account's alone.
    std::optional<std::chrono::nanoseconds> time = {};
    double relative_gap = 0;  ///< good enough: objective - bound <= this times |objective|
    unsigned threads = 1;     ///< threads that the solver may use
    /// Told of a solver's fault; the best answer known is used all the same. May be empty.
    std::function<void(const solver_error&)> on_fault = {};
};

/// What a node is booked as: what the solver says, else 1 + entries / 16.
template <mip_solver Solver>
[[nodiscard]] std::uint64_t cost_of_node(const Solver& solver, const model& program) {
    if constexpr (has_node_cost<Solver>) {
        return std::max<std::uint64_t>(1, solver.node_cost(program));
    } else {
        return 1 + program.entry_count() / 16;
    }
}

/// Solves within `limits` and what `account` has left: its clock, its stop token, or its states, of which a
/// node takes cost_of_node (a unit is about a microsecond); one node there always is. Books the nodes. Never
/// throws for a solver's fault: the best values known are the answer, and limits.on_fault is told.
template <mip_solver Solver>
[[nodiscard]] result solve_within(const Solver& solver, const model& program, options how,
                                  const program_limits& limits, budget& account) {
    const std::uint64_t node_cost = cost_of_node(solver, program);
    how.stop = account.stop_token();
    how.time = account.time_left();
    if (limits.time) how.time = how.time ? std::min(*how.time, *limits.time) : *limits.time;
    if (!account.timed())
        how.nodes = std::min(how.nodes, std::max<std::uint64_t>(1, account.left() / node_cost));
    how.relative_gap = limits.relative_gap;
    how.threads = limits.threads;
    attempt done = try_solve(solver, program, how);
    if (done.error && limits.on_fault) limits.on_fault(*done.error);
    account.spend(std::max<std::uint64_t>(1, done.answer.nodes) * node_cost);
    return std::move(done.answer);
}

}  // namespace stowage::solver
