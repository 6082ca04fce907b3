#pragma once
// Small tensor programs by chance, with whatever the rules of a program allow: buffers of every kind, buffers
// that nobody uses, operators that touch nothing, repeated accesses, replaced contents.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>

namespace stowage::test {

struct any_program_options {
    std::size_t operators = 8;
    std::size_t window = 6;         // reads go to the last `window` buffers that hold contents, mostly
    std::uint64_t most_bytes = 20;  // sizes are 0 to this
    bool writes_again = true;       // operators in place and replaced contents
};

inline program any_program(detail::splitmix64& random, const any_program_options& options = {}) {
    program result;
    const auto size = [&] { return static_cast<std::int64_t>(random.below(options.most_bytes + 1)); };
    std::vector<buffer_id> readable;
    for (std::uint64_t i = random.below(4); i > 0; --i) {
        const auto kind = static_cast<buffer_kind>(random.below(6));
        readable.push_back(result.add_buffer({.bytes = size(), .kind = kind}));
    }
    for (std::size_t i = 0; i < options.operators; ++i) {
        operator_options op;
        const auto pick = [&] {
            const std::size_t span =
                random.below(8) == 0 ? readable.size() : std::min(options.window, readable.size());
            return readable[readable.size() - 1 - static_cast<std::size_t>(random.below(span))];
        };
        if (!readable.empty()) {
            for (std::uint64_t k = random.below(4); k > 0; --k)
                op.reads.push_back(pick());
            if (options.writes_again && random.below(4) == 0) {
                op.writes.push_back(pick());
                if (random.below(2) == 0) op.reads.push_back(op.writes.back());
                if (random.below(8) == 0) op.writes.push_back(op.writes.back());
            }
        }
        for (std::uint64_t k = random.below(3); k > 0; --k) {
            const auto kind = random.below(6) == 0 ? buffer_kind::output : buffer_kind::intermediate;
            readable.push_back(result.add_buffer({.bytes = size(), .kind = kind}));
            op.writes.push_back(readable.back());
        }
        if (random.below(4) == 0) op.workspace = size();
        if (i > 0 && random.below(6) == 0)
            op.after.push_back(operator_id{static_cast<std::uint32_t>(random.below(i))});
        result.add_operator(op);
    }
    return result;
}

}  // namespace stowage::test
