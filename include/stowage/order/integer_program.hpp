#pragma once
// ROAM's single-streaming integer program for orders as a policy, with any solver of the solver room: exact
// for small programs and segments; the exact searches of this room (exact, valley_search) are what scales.
// Source: ROAM, "operator ordering"; papers/roam.md, "The two integer programs".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/spans.hpp>
#include <stowage/order/detail/step_program.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/order/program.hpp>
#include <stowage/solver/enumerator.hpp>
#include <stowage/solver/within_budget.hpp>

namespace stowage::order {

/// Options of integer_program.
struct integer_program_options {
    std::size_t operators = 500;  ///< larger programs are refused before anything is built
    bool warm_start = true;       ///< begin from the best order so far; LESCEA's and program order at first
    solver::program_limits limits{};  ///< of the solve; by `entries` larger programs are refused, too
};

namespace detail {

/// Operators by step, ties by index.
template <class = void>
[[nodiscard]] sequence order_by_step(std::span<const std::uint32_t> step) {
    sequence order(step.size());
    std::iota(order.begin(), order.end(), operator_index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](operator_index a, operator_index b) { return step[a] < step[b]; });
    return order;
}

/// True if every operator runs after its predecessors. O(n + m).
template <class = void>
[[nodiscard]] bool respects(const order_problem& problem, std::span<const operator_index> order) {
    std::vector<std::uint8_t> run(problem.operator_count(), 0);
    for (const operator_index op : order) {
        for (const operator_index before : problem.predecessors[op]) {
            if (run[before] == 0) return false;
        }
        run[op] = 1;
    }
    return true;
}

/// The step of each operator in an order of one operator a step.
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> steps_in(std::span<const operator_index> order) {
    std::vector<std::uint32_t> step(order.size());
    for (std::uint32_t t = 0; t < order.size(); ++t)
        step[order[t]] = t;
    return step;
}

}  // namespace detail

/// Orders by integer program. An empty sequence where the program is larger than the options allow, its sizes
/// are more than 2^50 units apart, or nothing better than the incumbent was found; raises the context's lower
/// bound to what the solver proves. Faults of the solver never cost the incumbent. The solver's answer is
/// taken as an order and evaluated in whole bytes. Deterministic if the solver is, unless a clock ends it.
template <solver::mip_solver Solver = solver::enumerator>
struct integer_program {
    static constexpr std::string_view name = "ilp";  ///< for reports
    Solver solver{};
    integer_program_options options{};

    /// A better order; empty if there is none.
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        if (graph.operator_count() > options.operators) return {};
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio, or on a part of a program.
    void search(detail::workbench& bench) const {
        const detail::order_problem& problem = bench.problem();
        if (problem.operator_count() == 0 || problem.operator_count() > options.operators ||
            problem.backwards)
            return;
        if (bench.best().empty()) {
            bench.offer(in_program_order{}.arrange(problem), in_program_order::name);
            if (options.warm_start) bench.offer(lescea{}.arrange(problem), lescea::name);
        }
        if (bench.finished()) return;
        const detail::step_program posed(problem, detail::spans_by_count(problem),
                                         {.steps = problem.operator_count(),
                                          .least = bench.lower_bound(),
                                          .most = bench.best_peak(),
                                          .entries = options.limits.entries});
        if (!posed.built()) return;
        solver::options how{.seed = bench.shared().seed};
        if (options.warm_start) how.start = posed.values_of(detail::steps_in(bench.best()));
        const solver::result answer =
            solver::solve_within(solver, posed.program(), how, options.limits, bench.account());
        if (answer.has_values()) {
            sequence order = detail::order_by_step(posed.steps_of(answer.values));
            if (detail::respects(problem, order)) bench.offer(std::move(order), name);
        }
        if (answer.bound > 0 && answer.status != status::infeasible)
            bench.raise(std::min(posed.bytes(answer.bound), bench.best_peak()), "integer program",
                        no_operator);
    }
};
template <class Solver>
integer_program(Solver) -> integer_program<Solver>;
template <class Solver>
integer_program(Solver, integer_program_options) -> integer_program<Solver>;

static_assert(searching_order_policy<integer_program<>> && detail::bench_policy<integer_program<>>);

}  // namespace stowage::order
