#pragma once
// What a verifier answers: yes, or the first rule broken with the operators and buffers concerned. A verifier
// recomputes every figure from the program or problem itself and shares no code with the planners, so that
// one mistake cannot hide on both sides.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>

namespace stowage::verify {

/// A yes with the figures recomputed, or a no with its reason. Converts to bool explicitly.
struct verdict {
    bool ok = true;                       ///< true: every rule holds
    std::string reason = {};              ///< the broken rule with the names of whom it concerns; empty if ok
    std::vector<subject> operators = {};  ///< operators concerned
    std::vector<subject> buffers = {};    ///< buffers concerned
    std::int64_t peak = 0;                ///< recomputed: most bytes alive at one moment in one pool
    std::int64_t arena = 0;               ///< recomputed: largest offset + size, of the fullest pool
    std::vector<std::int64_t> arenas = {};  ///< recomputed, one a pool; empty where no layout was checked
    /// True if every rule holds.
    [[nodiscard]] explicit operator bool() const noexcept { return ok; }
};

namespace detail {

/// A no. Figures that were recomputed before stay at 0.
template <class = void>
[[nodiscard]] verdict refuse(std::string reason, std::vector<subject> operators = {},
                             std::vector<subject> buffers = {}) {
    return {.ok = false,
            .reason = std::move(reason),
            .operators = std::move(operators),
            .buffers = std::move(buffers)};
}

/// "says 5, it is 7": a claimed figure that differs from the recomputed one.
template <class = void>
[[nodiscard]] std::string differs(const std::string& what, std::int64_t claimed, std::int64_t found) {
    return what + " is said to be " + std::to_string(claimed) + ", it is " + std::to_string(found);
}

}  // namespace detail

}  // namespace stowage::verify
