#pragma once
// A small exact solver without dependencies, for tests, for tiny leaves of a plan, and as the oracle of the
// others: depth-first enumeration of the integer variables with bounds propagation on the rows. It solves no
// linear programs: continuous variables are put, one by one, at the end of their range that the objective
// prefers, and only where that end is both feasible and as good as the bounds allow is the leaf closed; so it
// is exact where bounds propagation settles the continuous part (sums, maxima, differences), and says
// "feasible" where it does not.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/solver/check.hpp>
#include <stowage/solver/concepts.hpp>
#include <stowage/solver/detail/propagation.hpp>

namespace stowage::solver {

namespace detail {

/// The model with its objective as a last row, for pruning.
[[nodiscard]] inline model with_objective_row(model program) {
    std::vector<term> entries;
    for (variable_index i = 0; i < program.variable_count(); ++i)
        entries.push_back({i, program.cost[i]});
    program.add_row(-infinity, entries, infinity);
    return program;
}

/// One enumeration. Refers to the options.
class enumeration {
public:
    enumeration(const model& program, const options& how)
        : program_(with_objective_row(program)), how_(how), space_(program_),
          objective_row_(static_cast<row_index>(program_.row_count() - 1)) {
        if (how.time) deadline_ = std::chrono::steady_clock::now() + *how.time;
        for (variable_index i = 0; i < program.variable_count(); ++i) {
            if (space_.is_integer(i) && space_.lower(i) == -infinity) {
                throw solver_error(fault::bad_model, "enumerator",
                                   program.describe_variable(i) + " is an integer without a lower bound");
            }
        }
        if (!how.start.empty()) keep(how.start);
    }
    enumeration(const enumeration&) = delete;
    enumeration& operator=(const enumeration&) = delete;

    [[nodiscard]] result run() {
        const bool possible = space_.settle(work_);
        const double root = possible ? space_.objective_bound() : infinity;
        const bool ended = !possible || search();
        result answer;
        answer.nodes = nodes_;
        answer.values = best_;
        answer.objective = objective_;
        answer.bound = ended ? std::min(objective_, open_bound_) : root;
        if (!best_.empty()) {
            const bool proven = ended && open_bound_ >= objective_;
            answer.status = proven ? status::optimal : status::feasible;
        } else if (ended && open_bound_ == infinity) {
            answer.status = status::infeasible;
        }
        return answer;
    }

private:
    /// A choice: variable <= value first, then variable >= value + 1.
    struct choice {
        variable_index variable;
        double value;
        std::size_t mark;
        bool second;
    };

    /// True if it came to its end, false if a limit came first.
    bool search() {
        std::vector<choice> open;
        bool alive = true;  // the node at hand may hold something better
        while (true) {
            ++nodes_;
            if (limit_reached()) return false;
            if (alive) alive = promising();
            const std::optional<variable_index> next = alive ? first_open(open) : std::nullopt;
            if (next) {
                open.push_back({*next, space_.lower(*next), space_.mark(), false});
                space_.reduce(*next, open.back().value);
                space_.enqueue(objective_row_);
                alive = space_.settle(work_);
                continue;
            }
            if (alive) close_leaf();
            while (!open.empty() && open.back().second) {
                space_.undo(open.back().mark);
                open.pop_back();
            }
            if (open.empty()) return true;
            choice& last = open.back();
            last.second = true;
            space_.undo(last.mark);
            space_.raise(last.variable, last.value + 1);
            space_.enqueue(objective_row_);
            alive = space_.settle(work_);
        }
    }
    [[nodiscard]] bool limit_reached() {
        if (nodes_ > how_.nodes || how_.stop.stop_requested()) return true;
        if (!deadline_ || work_ < next_look_) return false;
        next_look_ = work_ + 10'000;
        return std::chrono::steady_clock::now() >= *deadline_;
    }
    /// Objective that the next solution must not pass.
    [[nodiscard]] double cutoff() const noexcept {
        const double slack = 1e-9 * (1 + std::fabs(objective_));
        const double step = program_.integral_objective ? 1 : 0;
        const double gap = std::max({step, how_.absolute_gap, how_.relative_gap * std::fabs(objective_)});
        return gap > 0 ? objective_ - gap + slack : objective_ - slack;
    }
    [[nodiscard]] bool promising() const noexcept {
        return best_.empty() || space_.objective_bound() <= cutoff();
    }
    /// The integer variable of least index that has two values left. Variables below the last choice are all
    /// decided, but its second branch may leave it open itself.
    [[nodiscard]] std::optional<variable_index> first_open(const std::vector<choice>& open) const {
        for (variable_index i = open.empty() ? 0 : open.back().variable; i < program_.variable_count(); ++i) {
            if (space_.is_integer(i) && !space_.fixed(i)) return i;
        }
        return std::nullopt;
    }
    void keep(std::vector<double> values) {
        best_ = std::move(values);
        objective_ = program_.objective(best_);
        program_.row_upper[objective_row_] = cutoff() - program_.constant;
    }
    /// All integers are decided: the continuous variables follow.
    void close_leaf() {
        const double bound = space_.objective_bound();
        const std::size_t mark = space_.mark();
        std::vector<double> values(program_.variable_count());
        bool possible = true;
        bool forced = true;  // no variable had any choice
        for (variable_index i = 0; i < values.size() && possible; ++i) {
            if (!space_.fixed(i)) {
                forced = false;
                const double at = preferred(i);
                space_.reduce(i, at);
                space_.raise(i, at);
                possible = space_.settle(work_);
            }
            values[i] = preferred(i);
        }
        space_.undo(mark);
        if (!possible || violation(program_, values, {.integrality = 0, .row = 1e-8})) {
            if (!forced) open_bound_ = std::min(open_bound_, bound);
            return;
        }
        const double objective = program_.objective(values);
        if (objective > bound + 1e-9 * (1 + std::fabs(bound))) open_bound_ = std::min(open_bound_, bound);
        if (objective >= objective_) return;
        keep(std::move(values));
        if (how_.on_incumbent) how_.on_incumbent(best_, objective_);
    }
    /// The end of a variable's range that the objective prefers; the lower one if it does not care.
    [[nodiscard]] double preferred(variable_index i) const noexcept {
        const double low = space_.lower(i);
        const double high = space_.upper(i);
        const bool want_low = program_.cost[i] >= 0;
        if (want_low && std::isfinite(low)) return low;
        if (!want_low && std::isfinite(high)) return high;
        return std::isfinite(low) ? low : (std::isfinite(high) ? high : 0.0);
    }

    model program_;
    const options& how_;
    propagation space_;
    row_index objective_row_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    std::vector<double> best_;
    double objective_ = infinity;
    double open_bound_ = infinity;  // least bound of the leaves that could not be closed
    std::uint64_t nodes_ = 0;
    std::uint64_t work_ = 0;
    std::uint64_t next_look_ = 0;
};

}  // namespace detail

/// Exhaustive search with bounds propagation, deterministic, on the caller's thread. For models of some tens
/// of binaries; integers should have bounds. A node costs the entries of the rows that it touches. The
/// relative and absolute gaps prune. Const calls are reentrant. What on_incumbent throws passes through.
struct enumerator {
    [[nodiscard]] std::string_view name() const noexcept { return "enumerator"; }
    /// Solves a valid model.
    [[nodiscard]] result operator()(const model& program, const options& how) const {
        return detail::enumeration(program, how).run();
    }
};

static_assert(mip_solver<enumerator>);

}  // namespace stowage::solver
