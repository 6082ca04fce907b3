#pragma once
// A mixed-integer linear program as plain arrays: minimise cost * x + constant over lower <= x <= upper and
// row_lower <= A x <= row_upper, some x being integers. What every solver of this room reads, and nothing of
// any solver's own. Names are made on demand, for messages only.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>

namespace stowage::solver {

/// Position of a variable in its model.
using variable_index = std::uint32_t;
/// Position of a row in its model.
using row_index = std::uint32_t;
/// Bound of a variable or row that is not bounded on that side.
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// What values a variable may have.
enum class variable_kind : std::uint8_t {
    continuous,  ///< every number within its bounds
    integer,     ///< every integer within its bounds; a binary is an integer in [0, 1]
};

/// One entry of a row: coefficient times variable.
struct term {
    variable_index variable = 0;  ///< which variable
    double coefficient = 0;       ///< times this; finite
};

/// A mixed-integer linear program to be minimised. Plain arrays, filled by the add functions or directly.
/// Constant while it is solved.
struct model {
    std::vector<double> lower;              ///< least value of each variable, or -infinity
    std::vector<double> upper;              ///< largest value of each variable, or infinity
    std::vector<double> cost;               ///< objective's coefficient of each variable
    std::vector<variable_kind> kind;        ///< of each variable
    std::vector<std::size_t> begin = {0};   ///< row r is the entries [begin[r], begin[r + 1])
    std::vector<variable_index> variables;  ///< variable of each entry; distinct within a row
    std::vector<double> coefficients;       ///< coefficient of each entry
    std::vector<double> row_lower;          ///< least value of each row, or -infinity
    std::vector<double> row_upper;          ///< largest value of each row, or infinity
    double constant = 0;                    ///< added to the objective
    /// True if every solution's objective that is worth having is an integer: a bound may be rounded up.
    bool integral_objective = false;
    std::function<std::string(variable_index)> variable_name = {};  ///< for messages; may be empty
    std::function<std::string(row_index)> row_name = {};            ///< for messages; may be empty

    /// Number of variables.
    [[nodiscard]] std::size_t variable_count() const noexcept { return lower.size(); }
    /// Number of rows.
    [[nodiscard]] std::size_t row_count() const noexcept { return begin.size() - 1; }
    /// Number of entries of all rows.
    [[nodiscard]] std::size_t entry_count() const noexcept { return variables.size(); }
    /// Variables of a row's entries.
    [[nodiscard]] std::span<const variable_index> row_variables(row_index row) const noexcept {
        return std::span(variables).subspan(begin[row], begin[row + 1] - begin[row]);
    }
    /// Coefficients of a row's entries.
    [[nodiscard]] std::span<const double> row_coefficients(row_index row) const noexcept {
        return std::span(coefficients).subspan(begin[row], begin[row + 1] - begin[row]);
    }

    /// Adds a variable; returns its position. Amortised O(1).
    variable_index add_variable(variable_kind what, double least, double most, double costs = 0) {
        lower.push_back(least);
        upper.push_back(most);
        cost.push_back(costs);
        kind.push_back(what);
        return static_cast<variable_index>(lower.size() - 1);
    }
    /// Adds a variable that is 0 or 1.
    variable_index add_binary(double costs = 0) { return add_variable(variable_kind::integer, 0, 1, costs); }
    /// Adds a row; entries with coefficient 0 are left out. Amortised O(entries).
    row_index add_row(double least, std::span<const term> entries, double most) {
        for (const term& entry : entries) {
            if (entry.coefficient == 0) continue;
            variables.push_back(entry.variable);
            coefficients.push_back(entry.coefficient);
        }
        begin.push_back(variables.size());
        row_lower.push_back(least);
        row_upper.push_back(most);
        return static_cast<row_index>(row_lower.size() - 1);
    }
    /// Adds a row from a list.
    row_index add_row(double least, std::initializer_list<term> entries, double most) {
        return add_row(least, std::span(entries.begin(), entries.size()), most);
    }
    /// "variable 3 (C[conv1, 2])".
    [[nodiscard]] std::string describe_variable(variable_index variable) const {
        return subject{variable, variable_name ? variable_name(variable) : std::string{}}.text("variable");
    }
    /// "row 7 (bytes at 2)".
    [[nodiscard]] std::string describe_row(row_index row) const {
        return subject{row, row_name ? row_name(row) : std::string{}}.text("row");
    }
    /// The objective of `values`, one a variable. O(variables).
    [[nodiscard]] double objective(std::span<const double> values) const noexcept {
        double sum = constant;
        for (std::size_t i = 0; i < values.size(); ++i)
            sum += cost[i] * values[i];
        return sum;
    }
};

}  // namespace stowage::solver
