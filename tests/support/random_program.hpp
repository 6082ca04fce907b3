#pragma once
// Random small programs with everything that the memory model knows, and the least peak by brute force.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>

namespace stowage::test {

struct random_program_options {
    std::size_t operators = 7;
    std::int64_t largest = 20;  ///< sizes are 0 to this
};

/// A program of that many operators: inputs, parameters updated in place, donated buffers, outputs, in-place
/// writes, workspace, zero sizes and control edges, all by chance.
inline program random_program(std::uint64_t seed, const random_program_options& options) {
    detail::splitmix64 random(seed * 977 + 5);
    program result;
    std::vector<buffer_id> readable;
    const auto size = [&] {
        return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(options.largest) + 1));
    };
    for (const buffer_kind kind :
         {buffer_kind::input, buffer_kind::parameter, buffer_kind::donated, buffer_kind::donated}) {
        readable.push_back(result.add_buffer(
            {.bytes = size(), .kind = kind, .name = "start" + std::to_string(readable.size())}));
    }
    for (std::size_t i = 0; i < options.operators; ++i) {
        operator_options op{.name = "op" + std::to_string(i)};
        const std::uint64_t reads = random.below(3);
        for (std::uint64_t k = 0; k < reads; ++k) {
            const buffer_id buffer = readable[random.below(readable.size())];
            if (std::find(op.reads.begin(), op.reads.end(), buffer) == op.reads.end())
                op.reads.push_back(buffer);
        }
        const std::uint64_t writes = random.below(3);
        for (std::uint64_t k = 0; k < writes; ++k) {
            const bool output = random.below(5) == 0;
            readable.push_back(result.add_buffer(
                {.bytes = size(), .kind = output ? buffer_kind::output : buffer_kind::intermediate}));
            op.writes.push_back(readable.back());
        }
        if (!op.reads.empty() && random.below(4) == 0) op.writes.push_back(op.reads[0]);
        if (random.below(4) == 0) op.workspace = size();
        if (i > 0 && random.below(8) == 0)
            op.after.push_back(operator_id{static_cast<std::uint32_t>(random.below(i))});
        op.stage = static_cast<stage>(random.below(4));
        result.add_operator(std::move(op));
    }
    return result;
}

/// The least peak of all legal orders, by dynamic programming over the sets of operators run; at most 20
/// operators.
inline std::int64_t least_peak(const tensor_graph& graph) {
    const std::size_t count = graph.operator_count();
    std::vector<std::uint32_t> before(count, 0);
    for (operator_index op = 0; op < count; ++op) {
        for (const operator_index p : graph.predecessors(op))
            before[op] |= 1U << p;
    }
    struct life {
        std::uint32_t users = 0;
        std::int64_t bytes = 0;
        buffer_kind kind = buffer_kind::intermediate;
    };
    std::vector<life> lives;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b)) continue;
        life entry{0, graph.bytes(b), graph.kind(b)};
        for (const operator_index op : graph.users(b))
            entry.users |= 1U << op;
        lives.push_back(entry);
    }
    const std::uint32_t all = count == 0 ? 0 : (count == 32 ? ~0U : (1U << count) - 1);
    const auto cost = [&](std::uint32_t done, operator_index op) {
        std::int64_t live = graph.workspace(op);
        const std::uint32_t after = done | 1U << op;
        for (const life& l : lives) {
            const bool born = l.kind == buffer_kind::donated || (l.users & after) != 0;
            const bool needed = l.kind == buffer_kind::output || (l.users & ~done) != 0;
            if (born && needed) live += l.bytes;
        }
        return live;
    };
    std::vector<std::int64_t> best(static_cast<std::size_t>(all) + 1,
                                   std::numeric_limits<std::int64_t>::max());
    best[0] = 0;
    for (std::uint32_t done = 0; done < all; ++done) {
        if (best[done] == std::numeric_limits<std::int64_t>::max()) continue;
        for (operator_index op = 0; op < count; ++op) {
            if ((done >> op & 1U) != 0 || (before[op] & ~done) != 0) continue;
            std::int64_t& next = best[done | 1U << op];
            next = std::min(next, std::max(best[done], cost(done, op)));
        }
    }
    return best[all];
}

}  // namespace stowage::test
