#pragma once
// Random small programs with everything that the memory model knows.

#include <cstdint>
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

}  // namespace stowage::test
