#pragma once
// ROAM's multi-streaming integer program: operators in at most T steps, several at once, with the least peak.
// Source: ROAM, "operator ordering", after MODeL; papers/roam.md, "The two integer programs".

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/spans.hpp>
#include <stowage/order/detail/step_program.hpp>
#include <stowage/order/timesteps.hpp>
#include <stowage/solver/enumerator.hpp>
#include <stowage/solver/within_budget.hpp>

namespace stowage::order {

/// Options of integer_timesteps.
struct integer_timesteps_options {
    std::size_t steps = 0;  ///< T, most steps; 0: 1.01 times the operators on a longest path, rounded down
    std::size_t operators = 500;      ///< larger programs get the warm start only
    bool warm_start = true;           ///< begin from the better of "as soon" and "as late as possible"
    solver::program_limits limits{};  ///< of the solve; by `entries` larger programs are not built, either
};

namespace detail {

/// The number of steps that MODeL allows: a hundredth more than a longest path has operators.
template <class = void>
[[nodiscard]] std::size_t default_steps(const order_problem& problem) {
    const std::size_t path = longest_path(problem);
    return path + path / 100;
}

/// The most bytes alive in a step, by the problem; `steps` is T.
template <class = void>
[[nodiscard]] std::int64_t peak_of_steps(const order_problem& problem,
                                         const std::vector<std::uint32_t>& step) {
    const std::size_t steps = step.empty() ? 0 : std::size_t{*std::max_element(step.begin(), step.end())} + 1;
    std::vector<std::int64_t> change(steps + 1, 0);
    for (tensor_index e = 0; e < problem.tensor_count(); ++e) {
        std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
        std::uint32_t last = 0;
        for (const operator_index user : problem.users[e]) {
            first = std::min(first, step[user]);
            last = std::max(last, step[user]);
        }
        change[problem.starts_alive[e] != 0 ? 0 : first] += problem.bytes[e];
        change[problem.stays_alive[e] != 0 ? steps : std::size_t{last} + 1] -= problem.bytes[e];
    }
    std::vector<std::int64_t> scratch(steps, 0);
    for (operator_index op = 0; op < step.size(); ++op)
        scratch[step[op]] = stowage::detail::checked_add(scratch[step[op]], problem.workspace[op]);
    std::int64_t live = 0;
    std::int64_t peak = 0;
    for (std::size_t t = 0; t < steps; ++t) {
        live += change[t];
        peak = std::max(peak, stowage::detail::checked_add(live, scratch[t], "bytes alive in a step"));
    }
    return peak;
}

/// True if every operator runs in a later step than its predecessors.
template <class = void>
[[nodiscard]] bool respects_steps(const order_problem& problem, const std::vector<std::uint32_t>& step) {
    for (operator_index op = 0; op < step.size(); ++op) {
        for (const operator_index before : problem.predecessors[op]) {
            if (step[before] >= step[op]) return false;
        }
    }
    return true;
}

}  // namespace detail

/// Multi-streaming orders by integer program. Deterministic if the solver is, unless a clock ends it.
template <solver::mip_solver Solver = solver::enumerator>
struct integer_timesteps {
    Solver solver{};
    integer_timesteps_options options{};

    /// The best steps found within the account; without a warm start there may be none (status unknown).
    /// Faults of the solver never cost the warm start. Throws program_error if the options allow fewer steps
    /// than a longest path has operators.
    [[nodiscard]] timesteps_solution operator()(const tensor_graph& graph, budget& account) const {
        const auto started = std::chrono::steady_clock::now();
        const detail::order_problem problem = detail::make_order_problem(graph);
        timesteps_solution answer;
        answer.found_by = "integer program by " + std::string(solver.name());
        answer.limit = options.steps != 0 ? options.steps : detail::default_steps(problem);
        const detail::step_spans spans = detail::spans_by_path(problem, answer.limit);
        if (spans.first.size() != problem.operator_count()) {
            throw program_error(std::to_string(answer.limit) + " steps are fewer than the " +
                                    std::to_string(detail::longest_path(problem)) +
                                    " operators of a longest path",
                                {});
        }
        best_steps best;
        if (options.warm_start || problem.operator_count() == 0) {
            best.offer(problem, spans.first);
            best.offer(problem, spans.last);
        }
        search(problem, spans, account, best, answer);
        answer.timesteps = grouped(best.step);
        if (best.found) {
            answer.peak = best.peak;
            answer.lower_bound = std::min(answer.lower_bound, best.peak);
            answer.status = answer.lower_bound == best.peak ? status::optimal : status::feasible;
        }
        answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        return answer;
    }

private:
    struct best_steps {
        std::vector<std::uint32_t> step;
        std::int64_t peak = std::numeric_limits<std::int64_t>::max();
        bool found = false;
        void offer(const detail::order_problem& problem, std::vector<std::uint32_t> other) {
            if (!detail::respects_steps(problem, other)) return;
            const std::int64_t peak_of_other = detail::peak_of_steps(problem, other);
            if (found && peak_of_other >= peak) return;
            found = true;
            peak = peak_of_other;
            step = std::move(other);
        }
    };

    void search(const detail::order_problem& problem, const detail::step_spans& spans, budget& account,
                best_steps& best, timesteps_solution& answer) const {
        if (problem.operator_count() == 0 || problem.operator_count() > options.operators) return;
        std::int64_t most = best.peak;
        if (!best.found) {  // everything at once
            most = problem.total_bytes();
            for (const std::int64_t size : problem.workspace)
                most = stowage::detail::checked_add(most, size, "all bytes at once");
        }
        const detail::step_program posed(
            problem, spans,
            {.steps = answer.limit, .single = false, .most = most, .entries = options.limits.entries});
        if (!posed.built()) return;
        solver::options how;
        if (best.found) how.start = posed.values_of(best.step);
        const solver::result found =
            solver::solve_within(solver, posed.program(), how, options.limits, account);
        if (found.has_values()) best.offer(problem, posed.steps_of(found.values));
        if (found.bound > 0 && found.status != status::infeasible)
            answer.lower_bound = posed.bytes(found.bound);
    }
};
template <class Solver>
integer_timesteps(Solver) -> integer_timesteps<Solver>;
template <class Solver>
integer_timesteps(Solver, integer_timesteps_options) -> integer_timesteps<Solver>;

}  // namespace stowage::order
