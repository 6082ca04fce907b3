#pragma once
// The answer to the question whether a layout exists within a capacity.

#include <cstdint>

#include <stowage/layout/policy.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

/// An answer to "within this capacity?": yes with the layout, no with certainty, or neither.
struct decision {
    stowage::status status = stowage::status::unknown;  ///< feasible, infeasible (proved) or unknown
    offset_list offsets;                                ///< one a buffer if feasible, else empty
    std::uint64_t nodes = 0;                            ///< nodes of the search
};

}  // namespace stowage::layout
