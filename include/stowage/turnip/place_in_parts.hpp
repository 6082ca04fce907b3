#pragma once
// A placement for a program that names no devices: its order is cut into as many consecutive parts as there
// are devices, of nearly equal time, each cut where few bytes cross (what is called pipeline parallelism).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>
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
    const std::size_t count = order.size();
    std::vector<std::size_t> step(count, 0);
    std::vector<double> until(count + 1, 0);
    for (std::size_t s = 0; s < count; ++s) {
        step[order[s]] = s;
        until[s + 1] = until[s] + operator_seconds(program, order[s], m);
    }
    std::vector<double> crossing(count + 1, 0);  // bytes that pass from before a step to it or a later one
    for (buffer_index b = 0; b < program.buffer_count(); ++b) {
        const std::span<const operator_index> users = program.users(b);
        if (is_alive_at_start(program.kind(b)) || users.empty()) continue;
        std::size_t first = count;
        std::size_t last = 0;
        for (const operator_index op : users) {
            first = std::min(first, step[op]);
            last = std::max(last, step[op]);
        }
        crossing[first + 1] += static_cast<double>(program.bytes(b));
        crossing[last + 1] -= static_cast<double>(program.bytes(b));
    }
    for (std::size_t s = 0; s < count; ++s)
        crossing[s + 1] += crossing[s];
    const double part = until[count] / devices;
    std::vector<memory_index> placement(count, 0);
    std::size_t from = 0;
    for (std::uint32_t d = 0; d < devices; ++d) {
        const double even = part * (d + 1.0);
        std::size_t cut = count;
        if (d + 1 < devices) {
            const auto at = [&](double seconds) {
                const auto found = std::lower_bound(until.begin(), until.end(), seconds);
                return std::min(static_cast<std::size_t>(found - until.begin()), count);
            };
            cut = std::max(from, at(even));
            for (std::size_t s = std::max(from, at(even - part / 10));
                 s < count && until[s] <= even + part / 10; ++s) {
                if (crossing[s] < crossing[cut] || (crossing[s] == crossing[cut] && s < cut)) cut = s;
            }
        }
        for (; from < cut; ++from)
            placement[order[from]] = d;
    }
    return placement;
}

}  // namespace stowage::turnip
