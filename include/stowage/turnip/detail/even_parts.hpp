#pragma once
// Cuts a sequence of operators into consecutive parts of nearly equal weight, each cut where few bytes cross.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/fwd.hpp>

namespace stowage::turnip::detail {

/// By position in `sequence`: its part of `parts` (at least 1). A cut may move by a tenth of a part's weight
/// from the even place, to where the fewest bytes are alive that operators of the sequence make and use; ties
/// end in the earlier one. `weights`: by position. O(operators + accesses).
template <class = void>
[[nodiscard]] std::vector<memory_index> even_parts(const tensor_graph& program,
                                                   std::span<const operator_index> sequence,
                                                   std::span<const double> weights, std::uint32_t parts) {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const std::size_t count = sequence.size();
    std::vector<std::size_t> position(program.operator_count(), none);
    std::vector<double> until(count + 1, 0);
    for (std::size_t k = 0; k < count; ++k) {
        position[sequence[k]] = k;
        until[k + 1] = until[k] + weights[k];
    }
    std::vector<double> crossing(count + 1,
                                 0);  // bytes that pass from before a position to it or a later one
    for (buffer_index b = 0; b < program.buffer_count(); ++b) {
        if (is_alive_at_start(program.kind(b))) continue;
        std::size_t first = none;
        std::size_t last = 0;
        for (const operator_index op : program.users(b)) {
            if (position[op] == none) continue;
            first = std::min(first, position[op]);
            last = std::max(last, position[op]);
        }
        if (first == none) continue;
        crossing[first + 1] += static_cast<double>(program.bytes(b));
        crossing[last + 1] -= static_cast<double>(program.bytes(b));
    }
    for (std::size_t k = 0; k < count; ++k)
        crossing[k + 1] += crossing[k];
    const double part = until[count] / parts;
    std::vector<memory_index> result(count, 0);
    std::size_t from = 0;
    for (std::uint32_t p = 0; p < parts; ++p) {
        const double even = part * (p + 1.0);
        std::size_t cut = count;
        if (p + 1 < parts) {
            const auto at = [&](double weight) {
                const auto found = std::lower_bound(until.begin(), until.end(), weight);
                return std::min(static_cast<std::size_t>(found - until.begin()), count);
            };
            cut = std::max(from, at(even));
            for (std::size_t k = std::max(from, at(even - part / 10));
                 k < count && until[k] <= even + part / 10; ++k) {
                if (crossing[k] < crossing[cut] || (crossing[k] == crossing[cut] && k < cut)) cut = k;
            }
        }
        for (; from < cut; ++from)
            result[from] = p;
    }
    return result;
}

}  // namespace stowage::turnip::detail
