#pragma once
// The four things that a planner may honestly say of its answer.

#include <cstdint>
#include <string_view>

namespace stowage {

/// What is known of an answer. A limit that ran out is `feasible` or `unknown`, never `infeasible`.
enum class status : std::uint8_t {
    optimal,     ///< the answer meets a proven lower bound
    feasible,    ///< a valid answer; whether a better one exists is open
    infeasible,  ///< proven: no answer exists within the capacity asked for
    unknown,     ///< neither an answer within the capacity nor a proof that there is none
};

/// "optimal", "feasible", "infeasible" or "unknown".
[[nodiscard]] constexpr std::string_view to_string(status value) noexcept {
    switch (value) {
        case status::optimal: return "optimal";
        case status::feasible: return "feasible";
        case status::infeasible: return "infeasible";
        case status::unknown: break;
    }
    return "unknown";
}

}  // namespace stowage
