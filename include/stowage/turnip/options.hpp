#pragma once
// What a user asks of Turnip's compiler: how much memory there is, what to make small, and how long to look
// for it.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/machine.hpp>

namespace stowage::turnip {

/// What a memgraph should have least of.
enum class goal : std::uint8_t {
    bytes,  ///< bytes copied between the devices and the host
    time,   ///< seconds from the first vertex to the last, by the cost model
};

/// A memory of a device, or the host's.
struct memory_limit {
    std::int64_t capacity = std::numeric_limits<std::int64_t>::max();  ///< bytes that may be used
};

/// How far a search for less time is: told after each plan that was tried.
struct compile_progress {
    double makespan = 0;              ///< seconds of the best plan so far
    double makespan_lower_bound = 0;  ///< no plan for this order takes fewer
};

/// Options of compile().
struct compile_options {
    std::vector<memory_limit> devices = {};  ///< one a device of the taskgraph
    memory_limit host = {};                  ///< what copies on the host may take; by default what they need
    turnip::goal goal = goal::bytes;         ///< what should be small
    bool fixed_order = false;      ///< true: the operators of a device run in the order given (an ablation)
    std::int64_t alignment = 1;    ///< every address is a multiple of it, beside a buffer's own alignment
    std::string name = {};         ///< the program's name, for the memgraph
    search_limits limits = {};     ///< how long to look for fewer bytes or less time
    turnip::machine machine = {};  ///< the cost model of goal::time, and of the bound on time
    /// Called by the compiling thread where time is the goal; what it throws ends the compilation.
    std::function<void(const compile_progress&)> on_progress = {};
};

}  // namespace stowage::turnip
