#pragma once
// Bounds of variables, tightened by what the rows leave possible, with an undo trail. Bounds are always
// rounded outwards by more than the arithmetic's error, so that nothing feasible is ever cut off.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <stowage/solver/model.hpp>

namespace stowage::solver::detail {

/// Bounds of all variables under the decisions made so far. Refers to the model.
class propagation {
public:
    explicit propagation(const model& program)
        : program_(&program), lower_(program.lower), upper_(program.upper), queued_(program.row_count(), 0) {
        by_variable_.resize(program.variable_count());
        for (row_index r = 0; r < program.row_count(); ++r) {
            for (const variable_index i : program.row_variables(r))
                by_variable_[i].push_back(r);
        }
        for (variable_index i = 0; i < program.variable_count(); ++i) {
            if (!is_integer(i)) continue;
            lower_[i] = std::ceil(lower_[i]);
            upper_[i] = std::floor(upper_[i]);
            if (lower_[i] > upper_[i]) consistent_ = false;
        }
        for (row_index r = 0; r < program.row_count(); ++r)
            enqueue(r);
    }

    [[nodiscard]] double lower(variable_index i) const noexcept { return lower_[i]; }
    [[nodiscard]] double upper(variable_index i) const noexcept { return upper_[i]; }
    [[nodiscard]] bool fixed(variable_index i) const noexcept { return lower_[i] == upper_[i]; }
    [[nodiscard]] bool is_integer(variable_index i) const noexcept {
        return program_->kind[i] == variable_kind::integer;
    }
    /// The least objective that the bounds leave possible.
    [[nodiscard]] double objective_bound() const noexcept {
        double sum = program_->constant;
        for (std::size_t i = 0; i < lower_.size(); ++i) {
            const double c = program_->cost[i];
            if (c != 0) sum += c * (c > 0 ? lower_[i] : upper_[i]);
        }
        return sum;
    }
    /// A mark to go back to.
    [[nodiscard]] std::size_t mark() const noexcept { return trail_.size(); }
    /// Takes back everything since the mark.
    void undo(std::size_t mark) {
        while (trail_.size() > mark) {
            const change& last = trail_.back();
            (last.is_upper ? upper_ : lower_)[last.variable] = last.before;
            trail_.pop_back();
        }
        clear_queue();
        consistent_ = true;
    }
    /// Raises a lower bound; ignored if it is no tighter.
    void raise(variable_index i, double value) {
        if (is_integer(i)) value = std::ceil(value - 1e-6 - 1e-12 * std::fabs(value));
        if (!tighter(value, lower_[i], upper_[i])) return;
        trail_.push_back({i, false, lower_[i]});
        lower_[i] = value;
        changed(i);
    }
    /// Lowers an upper bound; ignored if it is no tighter.
    void reduce(variable_index i, double value) {
        if (is_integer(i)) value = std::floor(value + 1e-6 + 1e-12 * std::fabs(value));
        if (!tighter(-value, -upper_[i], -lower_[i])) return;
        trail_.push_back({i, true, upper_[i]});
        upper_[i] = value;
        changed(i);
    }
    /// Has a row looked at again, e.g. because its bounds have changed.
    void enqueue(row_index r) {
        if (queued_[r] != 0) return;
        queued_[r] = 1;
        queue_.push_back(r);
    }
    /// Lets the rows tighten the bounds until nothing moves, or for a bounded number of visits; false if no
    /// values are left for some row or variable. `work` grows by the entries looked at.
    bool settle(std::uint64_t& work) {
        std::size_t visits = 0;
        const std::size_t most = 64 * program_->row_count() + 64;
        while (consistent_ && !queue_.empty() && visits++ < most) {
            const row_index row = queue_.front();
            queue_.pop_front();
            queued_[row] = 0;
            visit(row);
            work += program_->begin[row + 1] - program_->begin[row];
        }
        clear_queue();
        return consistent_;
    }

private:
    struct change {
        variable_index variable;
        bool is_upper;
        double before;
    };
    /// A sum with its infinite parts counted apart.
    struct activity {
        double finite = 0;
        std::size_t infinite = 0;
        void add(double value) {
            if (std::isfinite(value)) {
                finite += value;
            } else {
                ++infinite;
            }
        }
        /// True if no part but perhaps this one is infinite.
        [[nodiscard]] bool known_without(double part) const noexcept {
            return infinite == 0 || (infinite == 1 && !std::isfinite(part));
        }
        /// The sum without one of its parts.
        [[nodiscard]] double without(double part) const noexcept {
            return std::isfinite(part) ? finite - part : finite;
        }
    };
    [[nodiscard]] static bool tighter(double value, double lower, double upper) noexcept {
        if (!(value > lower)) return false;
        if (lower == -infinity || value > upper) return true;
        return value - lower > 1e-9 * (1 + std::fabs(lower));  // no endless creeping
    }
    void changed(variable_index i) {
        if (lower_[i] > upper_[i] + slack(i)) {
            consistent_ = false;
            return;
        }
        for (const row_index r : by_variable_[i])
            enqueue(r);
    }
    [[nodiscard]] double slack(variable_index i) const noexcept {
        return is_integer(i) ? 0.5 : 1e-7 * (1 + std::fabs(upper_[i]));
    }
    void clear_queue() {
        for (const row_index r : queue_)
            queued_[r] = 0;
        queue_.clear();
    }
    void visit(row_index row) {
        const auto variables = program_->row_variables(row);
        const auto coefficients = program_->row_coefficients(row);
        activity least;
        activity most;
        double size = 0;
        bool exact = true;  // sums of integers of moderate size have no rounding error
        for (std::size_t k = 0; k < variables.size(); ++k) {
            const auto [low, high] = part(variables[k], coefficients[k]);
            least.add(low);
            most.add(high);
            for (const double end : {low, high}) {
                if (!std::isfinite(end)) continue;
                size = std::max(size, std::fabs(end));
                exact = exact && end == std::nearbyint(end);
            }
        }
        const auto count = static_cast<double>(variables.size() + 1);
        exact = exact && size * count < 0x1p52;
        const double slack = exact ? 0 : 1e-15 * count * size;
        const double tolerance = 1e-9 * (1 + size);
        if ((least.infinite == 0 && least.finite > program_->row_upper[row] + tolerance) ||
            (most.infinite == 0 && most.finite < program_->row_lower[row] - tolerance)) {
            consistent_ = false;
            return;
        }
        for (std::size_t k = 0; k < variables.size() && consistent_; ++k) {
            const variable_index i = variables[k];
            const double a = coefficients[k];
            if (a == 0 || fixed(i)) continue;
            const auto [low, high] = part(i, a);
            const double upper = program_->row_upper[row];
            const double lower = program_->row_lower[row];
            if (upper < infinity && least.known_without(low))
                bound_part(i, a, upper - least.without(low) + slack, true);
            if (lower > -infinity && most.known_without(high))
                bound_part(i, a, lower - most.without(high) - slack, false);
        }
    }
    [[nodiscard]] std::pair<double, double> part(variable_index i, double a) const noexcept {
        if (a == 0) return {0.0, 0.0};  // also where a bound is infinite
        return a > 0 ? std::pair(a * lower_[i], a * upper_[i]) : std::pair(a * upper_[i], a * lower_[i]);
    }
    /// a * x <= value (at_most) or >= value.
    void bound_part(variable_index i, double a, double value, bool at_most) {
        if (at_most == (a > 0)) {
            reduce(i, value / a);
        } else {
            raise(i, value / a);
        }
    }

    const model* program_;
    std::vector<double> lower_;
    std::vector<double> upper_;
    std::vector<std::vector<row_index>> by_variable_;
    std::vector<change> trail_;
    std::deque<row_index> queue_;
    std::vector<std::uint8_t> queued_;
    bool consistent_ = true;
};

}  // namespace stowage::solver::detail
