#pragma once
// The paper's integer program for orders (ROAM, "operator ordering", after MODeL; papers/roam.md), over steps
// that hold one operator each (single-streaming) or several (multi-streaming):
//   C[x, t] = 1: operator x runs, and creates its tensors, at step t, within its span ASAP to ALAP;
//   P[e, t] = 1: tensor e is preserved at step t, having been created before.
// Beside the paper's rows there are those that the memory model needs: donated tensors are preserved from the
// start, outputs to the end, workspace counts where its operator runs, and dependencies that no tensor
// carries (control edges, in-place updates, persistent buffers) are rows between what has run of both
// operators, in place of the paper's zero-size tensors:
//   R[x, t] = C[x, first] + ... + C[x, t]: operator x has run by step t; R[x, t] <= R[y, t - 1] for y before
//   x.
// P and R are continuous: with C integral they are integral by themselves.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/spans.hpp>
#include <stowage/solver/model.hpp>

namespace stowage::order::detail {

/// What a step_program is about.
struct step_program_settings {
    std::size_t steps = 0;    ///< T
    bool single = true;       ///< one operator a step
    std::int64_t least = 0;   ///< peaks below this are known to be impossible
    std::int64_t most = 0;    ///< peaks above this are not worth having
    std::size_t entries = 0;  ///< a program with more entries is not built
};

/// The integer program of one problem (run forwards). Refers to the problem.
template <class = void>
class basic_step_program {
public:
    basic_step_program(const order_problem& problem, step_spans spans, const step_program_settings& settings)
        : problem_(&problem), spans_(std::move(spans)), settings_(settings) {
        choose_unit();
        build();
    }
    /// False if it was not built: too large, or no operator order fits into so few steps.
    [[nodiscard]] bool built() const noexcept { return built_; }
    /// The program; its objective is the peak in units.
    [[nodiscard]] const solver::model& program() const noexcept { return program_; }
    /// A peak in bytes from an objective or bound of the program; 0 for a bound that says nothing (minus
    /// infinity where the solver had no time).
    [[nodiscard]] std::int64_t bytes(double units) const noexcept {
        if (!(units > 0)) return 0;
        const std::int64_t most = std::numeric_limits<std::int64_t>::max() / unit_;
        return units >= static_cast<double>(most) ? std::numeric_limits<std::int64_t>::max()
                                                  : static_cast<std::int64_t>(units) * unit_;
    }
    /// The step at which each operator runs by `values`. O(variables).
    [[nodiscard]] std::vector<std::uint32_t> steps_of(std::span<const double> values) const {
        std::vector<std::uint32_t> step(problem_->operator_count(), 0);
        for (operator_index op = 0; op < step.size(); ++op) {
            double best = -1;
            for (std::uint32_t t = spans_.first[op]; t <= spans_.last[op]; ++t) {
                if (values[created(op, t)] <= best) continue;
                best = values[created(op, t)];
                step[op] = t;
            }
        }
        return step;
    }
    /// The values that say that each operator runs at `step`. O(variables + entries).
    [[nodiscard]] std::vector<double> values_of(std::span<const std::uint32_t> step) const {
        std::vector<double> values(program_.variable_count(), 0.0);
        for (operator_index op = 0; op < step.size(); ++op)
            values[created(op, step[op])] = 1;
        for (tensor_index e = 0; e < problem_->tensor_count(); ++e) {
            const std::int64_t from =
                problem_->producer[e] == no_operator ? 0 : std::int64_t{step[problem_->producer[e]]} + 1;
            std::int64_t to = problem_->stays_alive[e] != 0 ? last_step() : -1;
            for (const operator_index user : problem_->consumers(e))
                to = std::max(to, std::int64_t{step[user]});
            for (std::int64_t t = from; t <= to; ++t)
                values[preserved(e, t)] = 1;
        }
        for (operator_index op = 0; op < step.size(); ++op) {
            if (run_[op] == 0) continue;
            for (std::uint32_t t = std::max(step[op], spans_.first[op] + 1); t < spans_.last[op]; ++t)
                values[has_run(op, t)] = 1;
        }
        double peak = static_cast<double>(least_);
        for (const solver::row_index row : byte_rows_) {
            double sum = 0;
            for (std::size_t k = program_.begin[row]; k < program_.begin[row + 1]; ++k) {
                if (program_.variables[k] != peak_)
                    sum += program_.coefficients[k] * values[program_.variables[k]];
            }
            peak = std::max(peak, sum);
        }
        values[peak_] = peak;
        return values;
    }

private:
    [[nodiscard]] std::int64_t last_step() const noexcept {
        return static_cast<std::int64_t>(settings_.steps) - 1;
    }
    [[nodiscard]] solver::variable_index created(operator_index op, std::int64_t t) const noexcept {
        return static_cast<solver::variable_index>(created_[op] +
                                                   static_cast<std::size_t>(t - spans_.first[op]));
    }
    /// R[op, t] for t before the last step of the span, at which it is 1.
    [[nodiscard]] solver::variable_index has_run(operator_index op, std::int64_t t) const noexcept {
        if (t == spans_.first[op]) return created(op, t);
        return static_cast<solver::variable_index>(run_[op] +
                                                   static_cast<std::size_t>(t - spans_.first[op] - 1));
    }
    [[nodiscard]] bool may_run(operator_index op, std::int64_t t) const noexcept {
        return t >= spans_.first[op] && t <= spans_.last[op];
    }
    [[nodiscard]] solver::variable_index preserved(tensor_index e, std::int64_t t) const noexcept {
        return static_cast<solver::variable_index>(preserved_[e] + static_cast<std::size_t>(t - from_[e]));
    }
    [[nodiscard]] bool may_live(tensor_index e, std::int64_t t) const noexcept {
        return t >= from_[e] && t <= to_[e];
    }

    void choose_unit() {
        for (const std::int64_t size : problem_->bytes)
            unit_ = std::gcd(unit_, size);
        for (const std::int64_t size : problem_->workspace)
            unit_ = std::gcd(unit_, size);
        unit_ = std::max<std::int64_t>(1, unit_);
        most_ = settings_.most / unit_;
        least_ = std::min(settings_.least / unit_ + (settings_.least % unit_ != 0 ? 1 : 0), most_);
    }
    [[nodiscard]] bool too_large() const noexcept {
        return program_.entry_count() + program_.variable_count() > settings_.entries;
    }
    void build() {
        constexpr std::int64_t exact_limit = std::int64_t{1} << 50;
        if (spans_.first.size() != problem_->operator_count() || most_ > exact_limit) return;
        if (!add_created() || !add_preserved() || !add_run()) return;
        peak_ = program_.add_variable(solver::variable_kind::continuous, static_cast<double>(least_),
                                      static_cast<double>(most_), 1);
        program_.integral_objective = true;
        built_ = add_operator_rows() && add_tensor_rows() && add_use_rows() && add_precedence_rows() &&
                 add_byte_rows();
    }
    /// C, and that each operator runs once.
    bool add_created() {
        for (operator_index op = 0; op < problem_->operator_count(); ++op) {
            created_.push_back(program_.variable_count());
            const bool fixed = spans_.first[op] == spans_.last[op];
            for (std::uint32_t t = spans_.first[op]; t <= spans_.last[op]; ++t)
                program_.add_variable(solver::variable_kind::integer, fixed ? 1 : 0, 1);
            if (too_large()) return false;
        }
        return true;
    }
    /// P, where it may differ from 0; 1 where the tensor is surely alive.
    bool add_preserved() {
        for (tensor_index e = 0; e < problem_->tensor_count(); ++e) {
            const operator_index producer = problem_->producer[e];
            const bool from_start = producer == no_operator;
            const bool to_end = problem_->stays_alive[e] != 0;
            std::int64_t sure_to = to_end ? last_step() : -1;
            from_.push_back(from_start ? 0 : std::int64_t{spans_.first[producer]} + 1);
            to_.push_back(to_end ? last_step() : -1);
            for (const operator_index user : problem_->consumers(e)) {
                to_[e] = std::max(to_[e], std::int64_t{spans_.last[user]});
                sure_to = std::max(sure_to, std::int64_t{spans_.first[user]});
            }
            const std::int64_t sure_from = from_start ? 0 : std::int64_t{spans_.last[producer]} + 1;
            preserved_.push_back(program_.variable_count());
            for (std::int64_t t = from_[e]; t <= to_[e]; ++t) {
                const bool sure = t >= sure_from && t <= sure_to;
                program_.add_variable(solver::variable_kind::continuous, sure ? 1 : 0, 1);
            }
            if (too_large()) return false;
        }
        return true;
    }
    bool add_operator_rows() {
        std::vector<std::vector<solver::term>> at_step(settings_.single ? settings_.steps : 0);
        for (operator_index op = 0; op < problem_->operator_count(); ++op) {
            row_.clear();
            for (std::uint32_t t = spans_.first[op]; t <= spans_.last[op]; ++t) {
                row_.push_back({created(op, t), 1});
                if (settings_.single) at_step[t].push_back(row_.back());
            }
            program_.add_row(1, row_, 1);
            if (too_large()) return false;
        }
        for (const auto& terms : at_step)
            program_.add_row(1, terms, 1);
        return true;
    }
    /// P[e, t] <= P[e, t - 1] + C[e, t - 1]; C[e, t] + P[e, t] <= 1; an output is alive at the end.
    bool add_tensor_rows() {
        for (tensor_index e = 0; e < problem_->tensor_count(); ++e) {
            const operator_index producer = problem_->producer[e];
            const auto add_birth = [&](std::int64_t t, double coefficient) {
                if (producer != no_operator && may_run(producer, t))
                    row_.push_back({created(producer, t), coefficient});
            };
            for (std::int64_t t = from_[e]; t <= to_[e]; ++t) {
                if (t == 0) continue;  // alive from the start
                row_.assign(1, {preserved(e, t), 1});
                if (may_live(e, t - 1)) row_.push_back({preserved(e, t - 1), -1});
                add_birth(t - 1, -1);
                program_.add_row(-solver::infinity, row_, 0);
                row_.assign(1, {preserved(e, t), 1});
                add_birth(t, 1);
                if (row_.size() > 1) program_.add_row(-solver::infinity, row_, 1);
            }
            if (problem_->stays_alive[e] != 0) {
                row_.clear();
                if (may_live(e, last_step())) row_.push_back({preserved(e, last_step()), 1});
                add_birth(last_step(), 1);
                program_.add_row(1, row_, solver::infinity);
            }
            if (too_large()) return false;
        }
        return true;
    }
    /// C[x, t] <= P[e, t] for what x uses.
    bool add_use_rows() {
        for (operator_index op = 0; op < problem_->operator_count(); ++op) {
            for (const tensor_index e : problem_->uses(op)) {
                for (std::uint32_t t = spans_.first[op]; t <= spans_.last[op]; ++t)
                    program_.add_row(-solver::infinity, {{created(op, t), 1}, {preserved(e, t), -1}}, 0);
            }
            if (too_large()) return false;
        }
        return true;
    }
    /// Whether `before` makes a tensor that `op` uses, so that rows of P keep them in order.
    [[nodiscard]] bool carried(operator_index before, operator_index op) const {
        const auto uses = problem_->uses(op);
        return std::any_of(uses.begin(), uses.end(),
                           [&](tensor_index e) { return problem_->producer[e] == before; });
    }
    /// Finds the dependencies that no tensor's P carries, and makes the R of both their operators.
    bool add_run() {
        run_.assign(problem_->operator_count(), 0);
        std::vector<bool> needed(problem_->operator_count(), false);
        for (operator_index op = 0; op < problem_->operator_count(); ++op) {
            for (const operator_index before : problem_->predecessors[op]) {
                if (spans_.first[op] > spans_.last[before] || carried(before, op)) continue;
                bare_.emplace_back(before, op);
                needed[before] = needed[op] = true;
            }
        }
        for (operator_index op = 0; op < problem_->operator_count(); ++op) {
            if (!needed[op]) continue;
            run_[op] = program_.variable_count();
            for (std::uint32_t t = spans_.first[op] + 1; t < spans_.last[op]; ++t)
                program_.add_variable(solver::variable_kind::continuous, 0, 1);
            if (too_large()) return false;
        }
        return true;
    }
    /// R of both, and that the one has run before the other.
    bool add_precedence_rows() {
        for (operator_index op = 0; op < problem_->operator_count(); ++op) {
            if (run_[op] == 0) continue;
            for (std::uint32_t t = spans_.first[op] + 1; t < spans_.last[op]; ++t) {
                program_.add_row(0, {{has_run(op, t), 1}, {has_run(op, t - 1), -1}, {created(op, t), -1}}, 0);
            }
            if (too_large()) return false;
        }
        for (const auto& [before, op] : bare_) {
            for (std::uint32_t t = spans_.first[op]; t <= spans_.last[before]; ++t)
                program_.add_row(-solver::infinity, {{has_run(op, t), 1}, {has_run(before, t - 1), -1}}, 0);
            if (too_large()) return false;
        }
        return true;
    }
    /// The bytes alive at each step, at most the peak.
    bool add_byte_rows() {
        std::vector<std::vector<solver::term>> at_step(settings_.steps);
        for (operator_index op = 0; op < problem_->operator_count(); ++op) {
            const double size = units(problem_->born_bytes[op] + problem_->workspace[op]);
            for (std::uint32_t t = spans_.first[op]; t <= spans_.last[op]; ++t)
                at_step[t].push_back({created(op, t), size});
        }
        for (tensor_index e = 0; e < problem_->tensor_count(); ++e) {
            for (std::int64_t t = from_[e]; t <= to_[e]; ++t)
                at_step[static_cast<std::size_t>(t)].push_back({preserved(e, t), units(problem_->bytes[e])});
        }
        for (auto& terms : at_step) {
            terms.push_back({peak_, -1});
            byte_rows_.push_back(program_.add_row(-solver::infinity, terms, 0));
            if (too_large()) return false;
        }
        return true;
    }
    [[nodiscard]] double units(std::int64_t bytes) const noexcept {
        const std::int64_t whole = bytes / unit_;
        return static_cast<double>(whole);
    }

    const order_problem* problem_;
    step_spans spans_;
    step_program_settings settings_;
    std::int64_t unit_ = 0;
    std::int64_t least_ = 0;  // peaks, in units
    std::int64_t most_ = 0;
    std::vector<std::size_t> created_;    // of each operator: its first C
    std::vector<std::size_t> preserved_;  // of each tensor: its first P
    std::vector<std::int64_t> from_;      // of each tensor: the steps that it has a P for
    std::vector<std::int64_t> to_;
    std::vector<std::size_t>
        run_;  // of each operator: its first R, which is that of its second step; 0: none
    std::vector<std::pair<operator_index, operator_index>> bare_;  // dependencies that no tensor carries
    std::vector<solver::row_index> byte_rows_;
    solver::variable_index peak_ = 0;
    solver::model program_;
    std::vector<solver::term> row_;
    bool built_ = false;
};
using step_program = basic_step_program<>;

}  // namespace stowage::order::detail
