#pragma once
// Synthetic programs of any size for benchmarks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>

namespace stowage::bench {

/// A training step of equal blocks, each a branch of four operators round a residual connection: forward,
/// backward with a weight gradient an operator, and an in-place update a gradient. 21 operators a block.
inline tensor_graph training_step(std::size_t operators) {
    constexpr std::int64_t activation = std::int64_t{1} << 20U;
    constexpr std::size_t branch = 4;
    const std::size_t blocks = std::max<std::size_t>(1, operators / (5 * branch + 1));
    program step;
    struct block {
        buffer_id input;
        std::vector<buffer_id> saved;
        std::vector<buffer_id> weights;
    };
    std::vector<block> made;
    buffer_id x = step.add_buffer({.bytes = activation, .kind = buffer_kind::input});
    for (std::size_t b = 0; b < blocks; ++b) {
        block now{x, {}, {}};
        buffer_id inner = x;
        for (std::size_t i = 0; i < branch; ++i) {
            const auto size = activation << (i % 3);
            now.weights.push_back(step.add_buffer({.bytes = size, .kind = buffer_kind::parameter}));
            const buffer_id out = step.add_buffer({.bytes = size});
            step.add_operator(
                {.reads = {inner, now.weights.back()}, .writes = {out}, .stage = stage::forward});
            now.saved.push_back(out);
            inner = out;
        }
        x = step.add_buffer({.bytes = activation});
        step.add_operator({.reads = {now.input, inner}, .writes = {x}, .stage = stage::forward});
        made.push_back(now);
    }
    buffer_id gradient = step.add_buffer({.bytes = activation});
    step.add_operator({.reads = {x}, .writes = {gradient}, .stage = stage::backward});
    std::vector<std::pair<buffer_id, buffer_id>> updates;
    for (std::size_t b = blocks; b-- > 0;) {
        const block& now = made[b];
        buffer_id inner = gradient;
        for (std::size_t i = branch; i-- > 0;) {
            const buffer_id read = i == 0 ? now.input : now.saved[i - 1];
            const auto size = activation << (i % 3);
            const buffer_id of_weight = step.add_buffer({.bytes = size});
            step.add_operator({.reads = {inner, read}, .writes = {of_weight}, .stage = stage::backward});
            updates.emplace_back(now.weights[i], of_weight);
            const buffer_id of_input = step.add_buffer({.bytes = activation << (i == 0 ? 0 : (i - 1) % 3)});
            step.add_operator({.reads = {inner, now.weights[i], now.saved[i]},
                               .writes = {of_input},
                               .stage = stage::backward});
            inner = of_input;
        }
        const buffer_id sum = step.add_buffer({.bytes = activation});
        step.add_operator({.reads = {gradient, inner}, .writes = {sum}, .stage = stage::backward});
        gradient = sum;
    }
    for (const auto& [weight, of_weight] : updates)
        step.add_operator({.reads = {weight, of_weight}, .writes = {weight}, .stage = stage::update});
    return make_tensor_graph(step);
}

/// Operators that read one to three of the last `window` results.
inline tensor_graph random_window(std::size_t operators, std::size_t window) {
    stowage::detail::splitmix64 random(operators);
    program step;
    std::vector<buffer_id> made;
    for (std::size_t i = 0; i < operators; ++i) {
        operator_options op;
        for (std::uint64_t k = i == 0 ? 0 : 1 + random.below(3); k > 0; --k)
            op.reads.push_back(made[made.size() - 1 - random.below(std::min(window, made.size()))]);
        std::sort(op.reads.begin(), op.reads.end());
        op.reads.erase(std::unique(op.reads.begin(), op.reads.end()), op.reads.end());
        made.push_back(step.add_buffer({.bytes = static_cast<std::int64_t>(1 + random.below(1U << 20U))}));
        op.writes = {made.back()};
        step.add_operator(op);
    }
    return make_tensor_graph(step);
}

}  // namespace stowage::bench
