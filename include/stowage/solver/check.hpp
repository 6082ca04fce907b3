#pragma once
// The contract round every solver: the model is checked before, the answer after, and whatever goes wrong in
// between, the best values known are kept. A solver's word is taken for its bound alone; values are held
// against every bound and row of the model.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/solver/concepts.hpp>
#include <stowage/solver/error.hpp>
#include <stowage/solver/model.hpp>
#include <stowage/solver/options.hpp>
#include <stowage/solver/result.hpp>

namespace stowage::solver {

/// How far values may miss what they should meet, as floating-point solvers do.
struct tolerances {
    double integrality = 1e-5;  ///< distance of an integer variable's value from an integer
    double row = 1e-6;  ///< excess over a bound, times 1 + the largest |coefficient * value| in the row
};

namespace detail {

[[nodiscard]] inline bool crossed(double least, double most) noexcept {
    return std::isnan(least) || std::isnan(most) || least > most || least == infinity || most == -infinity;
}

/// The first rule of models that `program` breaks, or nothing.
[[nodiscard]] inline std::optional<std::string> broken_model_rule(const model& program) {
    const std::size_t variables = program.variable_count();
    const std::size_t rows = program.row_lower.size();
    if (program.upper.size() != variables || program.cost.size() != variables ||
        program.kind.size() != variables) {
        return "lower, upper, cost and kind differ in length";
    }
    if (program.begin.size() != rows + 1 || program.row_upper.size() != rows) {
        return "begin, row_lower and row_upper differ in length";
    }
    if (program.begin.front() != 0 || program.begin.back() != program.entry_count() ||
        program.coefficients.size() != program.entry_count() ||
        !std::is_sorted(program.begin.begin(), program.begin.end())) {
        return "begin, variables and coefficients do not fit together";
    }
    if (!std::isfinite(program.constant)) return "the objective's constant is not finite";
    for (variable_index i = 0; i < variables; ++i) {
        if (crossed(program.lower[i], program.upper[i]))
            return program.describe_variable(i) + ": its bounds are crossed";
        if (!std::isfinite(program.cost[i])) return program.describe_variable(i) + ": its cost is not finite";
    }
    constexpr row_index none = std::numeric_limits<row_index>::max();
    std::vector<row_index> last_row(variables, none);
    for (row_index r = 0; r < rows; ++r) {
        if (crossed(program.row_lower[r], program.row_upper[r]))
            return program.describe_row(r) + ": its bounds are crossed";
        for (std::size_t k = program.begin[r]; k < program.begin[r + 1]; ++k) {
            const variable_index i = program.variables[k];
            if (i >= variables) return program.describe_row(r) + ": names a variable that does not exist";
            if (last_row[i] == r)
                return program.describe_row(r) + ": names " + program.describe_variable(i) + " twice";
            if (!std::isfinite(program.coefficients[k]))
                return program.describe_row(r) + ": a coefficient is not finite";
            last_row[i] = r;
        }
    }
    return std::nullopt;
}

[[nodiscard]] inline std::optional<std::string> broken_option_rule(const model& program, const options& how) {
    if (!(how.relative_gap >= 0) || !(how.absolute_gap >= 0)) return "a gap is negative";
    if (!how.start.empty() && how.start.size() != program.variable_count()) {
        return "the start has " + std::to_string(how.start.size()) + " values, the model has " +
               std::to_string(program.variable_count()) + " variables";
    }
    return std::nullopt;
}

/// Integer variables' values made integers, as far as they are close to one.
inline void snap_integers(const model& program, std::vector<double>& values, double tolerance) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (program.kind[i] != variable_kind::integer) continue;
        const double nearest = std::nearbyint(values[i]);
        if (std::fabs(values[i] - nearest) <= tolerance) values[i] = nearest;
    }
}

}  // namespace detail

/// The first bound, row or integrality that `values` break beyond the tolerances, in words; nothing if they
/// satisfy the model. O(entries).
[[nodiscard]] inline std::optional<std::string> violation(const model& program,
                                                          std::span<const double> values,
                                                          const tolerances& allowed = {}) {
    if (values.size() != program.variable_count()) {
        return std::to_string(values.size()) + " values for " + std::to_string(program.variable_count()) +
               " variables";
    }
    for (variable_index i = 0; i < values.size(); ++i) {
        const double x = values[i];
        if (!std::isfinite(x)) return program.describe_variable(i) + " has no finite value";
        const double slack = allowed.row * (1 + std::fabs(x));
        if (x < program.lower[i] - slack || x > program.upper[i] + slack)
            return program.describe_variable(i) + " is " + std::to_string(x) + ", outside its bounds";
        if (program.kind[i] == variable_kind::integer &&
            std::fabs(x - std::nearbyint(x)) > allowed.integrality)
            return program.describe_variable(i) + " is " + std::to_string(x) + ", not an integer";
    }
    for (row_index r = 0; r < program.row_count(); ++r) {
        double sum = 0;
        double largest = 0;
        for (std::size_t k = program.begin[r]; k < program.begin[r + 1]; ++k) {
            const double part = program.coefficients[k] * values[program.variables[k]];
            sum += part;
            largest = std::max(largest, std::fabs(part));
        }
        const double slack = allowed.row * (1 + largest);
        if (!(sum >= program.row_lower[r] - slack && sum <= program.row_upper[r] + slack))
            return program.describe_row(r) + " has the value " + std::to_string(sum) + ", outside its bounds";
    }
    return std::nullopt;
}

/// A checked answer, and what went wrong on the way, if anything did.
struct attempt {
    result answer;                      ///< the best known: checked values, or none
    std::optional<solver_error> error;  ///< the fault that ended the search early
};

namespace detail {

/// Keeps the best values that are known to satisfy the model.
class best_known {
public:
    best_known(const model& program, const tolerances& allowed) : program_(&program), allowed_(allowed) {}
    /// Takes values if they satisfy the model; gives the reason if they do not.
    std::optional<std::string> offer(std::vector<double> values) {
        snap_integers(*program_, values, allowed_.integrality);
        if (auto broken = violation(*program_, values, allowed_)) return broken;
        const double objective = program_->objective(values);
        if (values_.empty() || objective < objective_) {
            objective_ = objective;
            values_ = std::move(values);
            known_ = true;
        }
        return std::nullopt;
    }
    [[nodiscard]] bool known() const noexcept { return known_; }
    [[nodiscard]] double objective() const noexcept { return objective_; }
    /// The best values with what is proven of them.
    [[nodiscard]] result as_result(double bound = -infinity) const {
        result answer;
        answer.bound = bound;
        if (!known_) return answer;
        answer.status = status::feasible;
        answer.values = values_;
        answer.objective = objective_;
        return answer;
    }

private:
    const model* program_;
    tolerances allowed_;
    std::vector<double> values_;
    double objective_ = infinity;
    bool known_ = false;
};

/// Holds a solver's answer against the model and the best known; gives what contradicts.
[[nodiscard]] inline std::optional<std::string> contradiction(const model& program, const result& raw,
                                                              best_known& best) {
    if (raw.has_values()) {
        if (auto broken = best.offer(raw.values)) return broken;
    } else if (raw.status == status::infeasible && best.known()) {
        return "called infeasible, but values are known that satisfy it";
    }
    if (!best.known()) return std::nullopt;
    const double slack = 1e-5 * (1 + std::fabs(best.objective()));
    if (raw.bound > best.objective() + slack) {
        return "its bound " + std::to_string(raw.bound) + " is above the objective " +
               std::to_string(best.objective()) + " of values that satisfy the model" +
               (program.integral_objective ? " (integral)" : "");
    }
    return std::nullopt;
}

/// A bound that an integral objective lets round up.
[[nodiscard]] inline double rounded_bound(const model& program, double bound) {
    if (!program.integral_objective || !std::isfinite(bound)) return bound;
    return std::ceil(bound - (1e-9 + 1e-12 * std::fabs(bound)));
}

[[nodiscard]] inline bool within_gap(const options& how, double objective, double bound) {
    const double gap = objective - bound;
    return gap <= std::max({how.absolute_gap, how.relative_gap * std::fabs(objective),
                            1e-9 * (1 + std::fabs(objective))});
}

/// The model with integer bounds of its integer variables, as solvers want them; nothing if it has them.
[[nodiscard]] inline std::optional<model> with_integer_bounds(const model& program) {
    std::optional<model> changed;
    for (variable_index i = 0; i < program.variable_count(); ++i) {
        if (program.kind[i] != variable_kind::integer) continue;
        const double least = std::ceil(program.lower[i]);
        const double most = std::floor(program.upper[i]);
        if (least == program.lower[i] && most == program.upper[i]) continue;
        if (!changed) changed = program;
        changed->lower[i] = least;
        changed->upper[i] = most;
    }
    return changed;
}

/// True if a variable has no value within its bounds.
[[nodiscard]] inline bool without_values(const model& program) {
    for (variable_index i = 0; i < program.variable_count(); ++i) {
        if (program.lower[i] > program.upper[i]) return true;
    }
    return false;
}

/// The answer to a model without variables, which solvers need not take: its rows' values are 0.
[[nodiscard]] inline result answer_without_variables(const model& program) {
    if (violation(program, {}, {.row = 0})) return {.status = status::infeasible, .bound = infinity};
    return {.status = status::optimal, .objective = program.constant, .bound = program.constant};
}

/// A solver's whole answer as the contract has it.
[[nodiscard]] inline attempt settle(const model& program, const options& how, std::string_view solver,
                                    const result& raw, best_known& best) {
    if (auto reason = contradiction(program, raw, best)) {
        return {best.as_result(),
                solver_error(fault::wrong_answer, std::string(solver), *reason, best.as_result())};
    }
    attempt done{best.as_result(rounded_bound(program, raw.bound)), std::nullopt};
    done.answer.nodes = raw.nodes;
    if (!best.known()) {
        done.answer.status = raw.status == status::infeasible ? status::infeasible : status::unknown;
        if (raw.status == status::infeasible) done.answer.bound = infinity;
        return done;
    }
    const double objective = best.objective();
    done.answer.bound =
        std::min(done.answer.bound, program.integral_objective ? std::nearbyint(objective) : objective);
    const bool claimed = raw.status == status::optimal && raw.has_values() &&
                         best.objective() - done.answer.bound <= 1e-5 * (1 + std::fabs(best.objective()));
    if (claimed || within_gap(how, best.objective(), done.answer.bound)) done.answer.status = status::optimal;
    return done;
}

}  // namespace detail

/// Solves `program` and never throws for a solver's fault: the answer is the best of the start, of what the
/// solver reported on its way and of what it returned, each checked against every row, with status optimal
/// only where the objective meets the bound within the gaps asked for or the solver's tolerance (1e-5 at
/// most). A model or start that breaks a rule is the fault bad_model, a contradiction in the answer
/// wrong_answer. O(entries) beside the solver.
template <mip_solver Solver>
[[nodiscard]] attempt try_solve(const Solver& solver, const model& program, const options& how = {},
                                const tolerances& allowed = {}) {
    const auto started = std::chrono::steady_clock::now();
    const std::string name(solver.name());
    const auto bad = [&](const std::string& rule) {
        return attempt{{}, solver_error(fault::bad_model, name, rule)};
    };
    if (const auto rule = detail::broken_model_rule(program)) return bad(*rule);
    if (const auto rule = detail::broken_option_rule(program, how)) return bad(*rule);
    if (program.variable_count() == 0) return {detail::answer_without_variables(program), {}};
    const std::optional<model> changed = detail::with_integer_bounds(program);
    if (changed && detail::without_values(*changed))
        return {{.status = status::infeasible, .bound = infinity}, {}};
    detail::best_known best(program, allowed);
    if (!how.start.empty()) {
        if (const auto rule = best.offer(how.start)) return bad("the start does not satisfy it: " + *rule);
    }
    if (how.stop.stop_requested() || (how.time && how.time->count() <= 0)) return {best.as_result(), {}};
    options guarded = how;
    const auto fail = [&](fault kind, const std::string& rule) {
        return attempt{best.as_result(), solver_error(kind, name, rule, best.as_result())};
    };
    std::exception_ptr thrown;
    guarded.on_incumbent = [&](std::span<const double> values, double) {
        const double before = best.objective();
        if (best.offer({values.begin(), values.end()}) || !(best.objective() < before)) return;
        if (!how.on_incumbent) return;
        try {
            how.on_incumbent(values, best.objective());
        } catch (...) {
            thrown = std::current_exception();
            throw;
        }
    };
    attempt done;
    try {
        done = detail::settle(program, how, name, solver(changed ? *changed : program, guarded), best);
    } catch (const solver_error& error) {
        done = fail(error.kind(), error.rule());
    } catch (const std::exception& error) {
        done = fail(thrown ? fault::callback : fault::aborted, error.what());
    } catch (...) {
        done = fail(thrown ? fault::callback : fault::aborted, "it threw something that is no exception");
    }
    done.answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return done;
}

/// Solves `program` as try_solve does; throws its solver_error, which still carries the best answer known.
template <mip_solver Solver>
[[nodiscard]] result solve(const Solver& solver, const model& program, const options& how = {},
                           const tolerances& allowed = {}) {
    attempt done = try_solve(solver, program, how, allowed);
    if (done.error) throw std::move(*done.error);
    return std::move(done.answer);
}

}  // namespace stowage::solver
