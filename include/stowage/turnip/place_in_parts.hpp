#pragma once
// A placement for a program that names no devices: its order is cut into as many consecutive parts as there
// are devices, of nearly equal time, each cut where few bytes cross (what is called pipeline parallelism, for
// a program that has one pass; for a training step see place_by_layers.hpp).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/even_parts.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/machine.hpp>

namespace stowage::turnip {

/// By operator: its device. A cut may move by a tenth of a part's time from the even place, to where the
/// fewest bytes are alive that the program itself makes; ties end in the earlier one. `order` is legal.
/// Throws stowage::error for no device. O(operators + accesses).
template <class = void>
[[nodiscard]] std::vector<memory_index> place_in_parts(const tensor_graph& program,
                                                       std::span<const operator_index> order,
                                                       std::uint32_t devices, const machine& m = {}) {
    if (devices == 0) throw error("a placement needs at least one device");
    std::vector<double> seconds;
    for (const operator_index op : order)
        seconds.push_back(operator_seconds(program, op, m));
    const std::vector<memory_index> parts = detail::even_parts(program, order, seconds, devices);
    std::vector<memory_index> placement(order.size(), 0);
    for (std::size_t k = 0; k < order.size(); ++k)
        placement[order[k]] = parts[k];
    return placement;
}

}  // namespace stowage::turnip
