#pragma once
// Programs of the kind of a captured one: other sizes, some operators less, some dependencies more, some
// persistent buffers given up. What a search proves of the captured ones alone may be luck.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>

namespace stowage::test {

/// `graph` with every size scaled by 0.5 to 1.5, one operator in 50 left out (what is read of its results
/// with it), one in 50 made to wait for an earlier one, and one persistent buffer in 10 donated.
inline tensor_graph perturbed_program(const tensor_graph& graph, std::uint64_t seed) {
    constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
    stowage::detail::splitmix64 random(seed);
    program result;
    std::vector<std::uint32_t> number(graph.buffer_count(), absent);
    std::vector<buffer_id> made;
    const auto add = [&](buffer_index b) {
        if (number[b] != absent) return made[number[b]];
        buffer_kind kind = graph.kind(b);
        const auto percent = static_cast<std::int64_t>(50 + random.below(101));
        if (is_persistent(kind) && random.below(10) == 0) kind = buffer_kind::donated;
        number[b] = static_cast<std::uint32_t>(made.size());
        made.push_back(result.add_buffer(
            {.bytes = graph.bytes(b) / 100 * percent + graph.bytes(b) % 100 * percent / 100, .kind = kind}));
        return made.back();
    };
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if (random.below(50) == 0) continue;
        operator_options kept{.workspace = graph.workspace(op), .stage = graph.stage(op)};
        for (const buffer_index b : graph.reads(op)) {
            if (is_alive_at_start(graph.kind(b)) || number[b] != absent) kept.reads.push_back(add(b));
        }
        for (const buffer_index b : graph.writes(op))
            kept.writes.push_back(add(b));
        const std::size_t count = result.operators().size();
        if (count > 0 && random.below(50) == 0)
            kept.after.push_back(operator_id{static_cast<std::uint32_t>(random.below(count))});
        result.add_operator(std::move(kept));
    }
    return make_tensor_graph(result);
}

}  // namespace stowage::test
