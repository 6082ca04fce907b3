#pragma once
// What a planner is told beside the program.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

#include <stowage/budget.hpp>

namespace stowage::roam {

/// A message from a running planner.
struct progress {
    std::string_view phase;        ///< "order" or "layout"
    std::int64_t best_bytes = 0;   ///< peak or arena of the best answer so far; 0 while there is none
    std::int64_t bound_bytes = 0;  ///< proven least so far
    double done = 0;               ///< share of the phase that is done, 0 to 1, where it is known; else 0
};

/// Options of one planning run.
struct options {
    std::int64_t alignment = 1;  ///< every offset is a multiple of this beside a buffer's own; 256 suits CUDA
    std::optional<std::chrono::nanoseconds> budget = {};  ///< wall-clock limit; if set it replaces `states`
    /// Limit of each search in units of work, about 1 us each; the order search may take twice as many.
    std::uint64_t states = 500'000;
    /// If a layout is left above what is proven, lay out other orders too; roam::best does so whatever this
    /// says.
    bool try_other_orders = false;
    std::stop_token stop = {};  ///< a request to stop ends planning with the best plan so far
    std::uint64_t seed = 1;     ///< seed of every random choice
    unsigned threads = 1;       ///< threads that may be used; the plan does not depend on it
    std::function<void(const progress&)> on_progress =
        {};  ///< called on the planning thread as answers improve

    /// The limits of one search that starts now.
    [[nodiscard]] search_limits limits() const {
        return {.states = states, .time = budget, .stop = stop, .seed = seed, .threads = threads};
    }
};

}  // namespace stowage::roam
