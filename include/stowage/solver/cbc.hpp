#pragma once
// Cbc, COIN-OR's branch and cut, as a solver of mixed-integer programs: licensed EPL-2.0, for users who can
// take no GPL. The target is stowage::cbc; the library's core never includes this header.

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <stowage/solver/concepts.hpp>
#include <stowage/solver/detail/cbc_session.hpp>
#include <stowage/solver/error.hpp>

namespace stowage::solver {

/// Options of cbc beside those of one solve.
struct cbc_options {
    bool strengthen = true;  ///< cuts and heuristics
    double tolerance =
        1e-6;  ///< bounds are lowered by this times 1 + |bound|: Cbc computes in floating point
};

/// Cbc 2.10: branch and cut on one thread, deterministic unless a clock or a stop request ends it. The limit
/// on time and the stop token are looked at between nodes and within linear programs. Const calls are
/// reentrant.
struct cbc {
    cbc_options options{};

    [[nodiscard]] std::string_view name() const noexcept { return "cbc"; }
    /// A linear program a node: measured on order and layout programs.
    [[nodiscard]] std::uint64_t node_cost(const model& program) const noexcept {
        return 1 + 4 * program.entry_count();
    }
    /// Solves a valid model; throws solver_error (aborted) with Cbc's own message, (bad_model) if the model
    /// has 2^31 or more entries, and whatever on_incumbent throws.
    [[nodiscard]] result operator()(const model& program, const solver::options& how) const {
        if (std::max({program.entry_count(), program.variable_count(), program.row_count()}) >=
            static_cast<std::size_t>(INT_MAX))
            throw solver_error(fault::bad_model, "cbc", "it is too large for Cbc");
        try {
            return run(program, how);
        } catch (const CoinError& error) {
            throw solver_error(fault::aborted, "cbc", error.methodName() + ": " + error.message());
        }
    }

private:
    [[nodiscard]] result run(const model& program, const solver::options& how) const {
        detail::cbc_watch watch(how);
        detail::cbc_events events(watch);
        detail::cbc_linear_events linear_events(watch);
        OsiClpSolverInterface solver;
        solver.messageHandler()->setLogLevel(0);
        solver.getModelPtr()->messageHandler()->setLogLevel(0);
        detail::cbc_load(program, solver);
        solver.getModelPtr()->passInEventHandler(&linear_events);
        solver.setHintParam(OsiDoPresolveInInitial, false);  // a presolved copy has no event handler
        solver.setHintParam(OsiDoPresolveInResolve, false);
        solver.setHintParam(OsiDoDualInInitial, true);
        CbcModel search(solver);
        search.setLogLevel(0);
        search.passInEventHandler(&events);
        if (options.strengthen) detail::cbc_strengthen(search);
        if (how.nodes < static_cast<std::uint64_t>(INT_MAX))
            search.setMaximumNodes(static_cast<int>(how.nodes));
        search.setAllowableFractionGap(how.relative_gap);
        search.setAllowableGap(how.absolute_gap);
        search.setCutoffIncrement(increment(program));
        search.setRandomSeed(static_cast<int>(how.seed % INT_MAX));
        if (!how.start.empty()) {
            search.setBestSolution(how.start.data(), static_cast<int>(how.start.size()),
                                   program.objective(how.start));
        }
        search.initialSolve();
        if (search.solver()->isProvenOptimal()) watch.note_bound(search.solver()->getObjValue());
        if (!watch.stopped()) search.branchAndBound();
        return answer_of(program, search, watch);
    }
    /// What a better solution must be better by. Cbc raises it where it finds the objective's steps larger.
    [[nodiscard]] static double increment(const model& program) noexcept {
        return program.integral_objective ? 0.999 : 1e-9;
    }
    [[nodiscard]] result answer_of(const model& program, CbcModel& search, detail::cbc_watch& watch) const {
        watch.rethrow();
        result answer;
        answer.nodes = static_cast<std::uint64_t>(std::max(0, search.getNodeCount()));
        const bool ended = !watch.stopped() && search.status() == 0;
        if (!watch.stopped() && search.status() == 2)
            throw solver_error(fault::aborted, "cbc", "difficulties with a linear program");
        const double* const values = search.bestSolution();
        double bound = watch.bound();
        if (ended && values != nullptr) {  // nothing is better by more than what nodes were dropped for
            const double objective = program.objective({values, program.variable_count()});
            bound = objective - std::max({increment(program), search.getAllowableGap(),
                                          search.getAllowableFractionGap() * std::fabs(objective)});
        } else if (!watch.stopped()) {
            watch.note_bound(search.getBestPossibleObjValue());
            bound = watch.bound();
        }
        if (bound > -infinity) answer.bound = bound - options.tolerance * (1 + std::fabs(bound));
        if (values != nullptr) {
            answer.values.assign(values, values + program.variable_count());
            answer.objective = program.objective(answer.values);
            answer.status = ended ? status::optimal : status::feasible;
        } else if (ended && search.isProvenInfeasible()) {
            answer.status = status::infeasible;
            answer.bound = infinity;
        }
        return answer;
    }
};

static_assert(mip_solver<cbc> && has_node_cost<cbc>);

}  // namespace stowage::solver
