#pragma once
// What a solver is told beside the model.

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace stowage::solver {

/// Called with each better solution as it is found, with its objective, while the solver runs; on a thread of
/// the solver's, never on two at once. What it throws ends the search and reaches the caller of solve() as a
/// solver_error.
using incumbent_callback = std::function<void(std::span<const double> values, double objective)>;

/// Limits and hints of one solve.
struct options {
    std::optional<std::chrono::nanoseconds> time = {};  ///< wall-clock limit; 0: only what costs nothing
    /// Most nodes of the search; a limit that answers do not depend on clocks with.
    std::uint64_t nodes = std::numeric_limits<std::uint64_t>::max();
    double relative_gap = 0;         ///< good enough: objective - bound <= this times |objective|; 0 to 1
    double absolute_gap = 0;         ///< good enough: objective - bound <= this; >= 0
    unsigned threads = 1;            ///< threads that the solver may use; solvers with one thread ignore it
    std::uint64_t seed = 1;          ///< seed of random choices, for solvers that make some
    std::stop_token stop = {};       ///< a request to stop ends the search with the best values so far
    std::vector<double> start = {};  ///< known values to begin from, one a variable; empty: none
    incumbent_callback on_incumbent = {};  ///< told of better solutions; may be empty
};

}  // namespace stowage::solver
