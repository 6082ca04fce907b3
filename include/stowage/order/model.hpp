#pragma once
// MODeL (Steiner et al., "MODeL: memory optimizations for deep learning", ICML 2023; first called OLLA), the
// integer program that ROAM is compared with: over the whole program at once, with spans by longest paths and
// no known order to begin from. MODeL-MS is the original, several operators a step in about 1.01 times a
// longest path's steps; MODeL-SS is ROAM's adaptation, one operator a step in as many steps as operators.
// Addresses follow with the order fixed: layout/model.hpp. Being rivals, they are as strong as their solver
// and no stronger: beyond some tens of operators expect little, and often nothing within the limit.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/spans.hpp>
#include <stowage/order/detail/step_program.hpp>
#include <stowage/order/integer_program.hpp>
#include <stowage/order/integer_timesteps.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/order/timesteps.hpp>
#include <stowage/solver/concepts.hpp>
#include <stowage/solver/within_budget.hpp>

namespace stowage::order {

/// Options of model_ss and model_ms.
struct model_options {
    std::size_t steps = 0;         ///< T of MODeL-MS; 0: 1.01 times the operators on a longest path
    std::size_t operators = 5000;  ///< larger programs are refused
    bool warm_start = false;       ///< begin from a known order, as the original does not
    solver::program_limits limits = {.entries = 5'000'000,
                                     .time = std::chrono::seconds(60)};  ///< of the solve
};

/// MODeL-SS: one operator a step. An order policy: an empty sequence where the program is larger than the
/// options allow or the solver found nothing better than the incumbent. Raises the context's lower bound to
/// what the solver proves.
template <solver::mip_solver Solver>
struct model_ss {
    static constexpr std::string_view name = "model-ss";  ///< for reports
    Solver solver{};
    model_options options{};

    /// A better order; empty if there is none.
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        const std::size_t count = graph.operator_count();
        if (count == 0 || count > options.operators) return {};
        const detail::order_problem problem = detail::make_order_problem(graph);
        std::int64_t most = problem.total_bytes();
        if (graph.has_workspace()) {
            most = stowage::detail::checked_add(
                most, *std::max_element(problem.workspace.begin(), problem.workspace.end()));
        }
        most = std::min(most, shared.incumbent_peak);
        const detail::step_program posed(
            problem, detail::spans_by_path(problem, count),
            {.steps = count, .least = shared.lower_bound, .most = most, .entries = options.limits.entries});
        if (!posed.built()) return {};
        solver::options how{.seed = shared.seed};
        if (options.warm_start && !shared.incumbent.empty())
            how.start = posed.values_of(detail::steps_in(shared.incumbent));
        const solver::result answer =
            solver::solve_within(solver, posed.program(), how, options.limits, shared.account);
        const std::int64_t proven = std::min(posed.bytes(answer.bound), most);
        if (answer.bound > 0 && answer.status != status::infeasible && proven > shared.lower_bound) {
            shared.lower_bound = proven;
            shared.witness = {"integer program", no_operator};
        }
        if (!answer.has_values()) return {};
        sequence order = detail::order_by_step(posed.steps_of(answer.values));
        if (!detail::respects(problem, order)) return {};
        if (detail::peak_of(problem, order) >= shared.incumbent_peak) return {};
        return order;
    }
};
template <class Solver>
model_ss(Solver) -> model_ss<Solver>;
template <class Solver>
model_ss(Solver, model_options) -> model_ss<Solver>;

/// MODeL-MS: several operators a step.
template <solver::mip_solver Solver>
struct model_ms {
    static constexpr std::string_view name = "model-ms";  ///< for reports
    Solver solver{};
    model_options options{};

    /// The steps that the solver found, or none (status unknown), with the bound that it proved. Throws
    /// program_error if the options allow fewer steps than a longest path has operators.
    [[nodiscard]] timesteps_solution operator()(const tensor_graph& graph, budget& account) const {
        const integer_timesteps<Solver> program{.solver = solver,
                                                .options = {.steps = options.steps,
                                                            .operators = options.operators,
                                                            .warm_start = options.warm_start,
                                                            .limits = options.limits}};
        timesteps_solution answer = program(graph, account);
        answer.found_by = name;
        return answer;
    }
};
template <class Solver>
model_ms(Solver) -> model_ms<Solver>;
template <class Solver>
model_ms(Solver, model_options) -> model_ms<Solver>;

static_assert(searching_order_policy<model_ss<solver::enumerator>>);

}  // namespace stowage::order
