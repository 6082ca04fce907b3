#pragma once
// The bound on the arena that pins make.

#include <cstdint>
#include <optional>

#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage::roam {

/// Where a pinned buffer ends.
struct pinned_end {
    std::int64_t bytes = 0;   ///< no arena is smaller; 0: nothing that has bytes in the plan is pinned
    buffer_index buffer = 0;  ///< the buffer, if there is one
};

/// The pinned buffer of a plan that ends highest, the first of several. O(buffers). Throws overflow_error if
/// one would end past 2^63 - 1.
template <class = void>
[[nodiscard]] pinned_end highest_pin(const tensor_graph& graph) {
    pinned_end highest;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        const std::optional<std::int64_t> pin = graph.pinned_offset(b);
        if (!pin || !graph.is_planned(b) || graph.bytes(b) == 0) continue;
        const std::int64_t end = stowage::detail::checked_add(*pin, graph.bytes(b), "end of a pinned buffer");
        if (end > highest.bytes) highest = {end, b};
    }
    return highest;
}

}  // namespace stowage::roam
