#pragma once
// What a solver of mixed-integer programs is: any copyable object with a name and a function from model and
// options to result. solver::solve (check.hpp) puts the common contract round it.

#include <concepts>
#include <cstdint>
#include <string_view>

#include <stowage/solver/model.hpp>
#include <stowage/solver/options.hpp>
#include <stowage/solver/result.hpp>

namespace stowage::solver {

/// `solver.name()` says who it is, for messages and reports.
template <class S>
concept has_solver_name = requires(const S& solver) {
    { solver.name() } -> std::convertible_to<std::string_view>;
};

/// `solver(model, options)` solves. It may throw solver_error; it takes a valid model with variables and
/// integer bounds of integer variables, and a start that satisfies it, for granted.
template <class S>
concept solves_models = requires(const S& solver, const model& program, const options& how) {
    { solver(program, how) } -> std::same_as<result>;
};

/// A solver of mixed-integer programs. Const calls are reentrant.
template <class S>
concept mip_solver = std::copy_constructible<S> && has_solver_name<S> && solves_models<S>;

/// `solver.node_cost(model)`, if a solver has it, is about how many microseconds it takes for a node: with it
/// a limit in states becomes a limit in nodes that is worth as much time.
template <class S>
concept has_node_cost = requires(const S& solver, const model& program) {
    { solver.node_cost(program) } -> std::convertible_to<std::uint64_t>;
};

}  // namespace stowage::solver
