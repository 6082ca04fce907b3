#pragma once
// What a solver answers.

#include <cstdint>
#include <vector>

#include <stowage/solver/model.hpp>
#include <stowage/status.hpp>

namespace stowage::solver {

/// The answer of one solve.
struct result {
    /// optimal: `values` is as good as any within the gaps asked for. feasible: a limit came first.
    /// infeasible: proven, no values satisfy the model. unknown: a limit came before values were found.
    stowage::status status = status::unknown;
    std::vector<double> values = {};  ///< the incumbent, one a variable; empty where there is none
    double objective = infinity;      ///< of `values`
    double bound = -infinity;  ///< proven: no values have a smaller objective; for floating-point solvers
                               ///< already lowered by their tolerance
    std::uint64_t nodes = 0;   ///< nodes of the search that were looked at
    double seconds = 0;        ///< wall-clock time

    /// True if there are values.
    [[nodiscard]] bool has_values() const noexcept {
        return status == status::optimal || status == status::feasible;
    }
};

}  // namespace stowage::solver
