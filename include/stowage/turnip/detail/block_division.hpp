#pragma once
// Where the moment bound divides an order: at operators where much is alive.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Blocks of consecutive steps. Moment k, from 1 on, is when block k begins: the start of its first operator.
struct block_division {
    std::vector<std::uint32_t> steps;   ///< by moment from 1 on: the step whose operator starts then
    std::vector<std::uint32_t> blocks;  ///< by step: the block that it is in
    /// How many blocks there are.
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(steps.size() + 1); }
    /// The moment at which a step's operator starts; 0: none.
    [[nodiscard]] std::uint32_t moment_at(std::uint32_t step) const noexcept {
        const std::uint32_t k = blocks[step];
        return k > 0 && steps[k - 1] == step ? k : 0;
    }
};

/// Divides a model's order by one moment in each of `parts` parts of nearly equal work (computing, and
/// copying each gap in): where the most is alive; ties end in the earlier step. O(steps + gaps).
template <class = void>
[[nodiscard]] block_division divide_order(const taskgraph& task, const residency_model& model,
                                          const machine& m, std::uint32_t parts) {
    const std::size_t steps = model.steps.size();
    std::vector<double> alive(steps + 1, 0);
    std::vector<double> done(steps + 1, 0);  // work before each step
    for (const model_gap& gap : model.gaps) {
        const auto bytes = static_cast<double>(gap.bytes);
        if (gap.wrapped) alive[0] += bytes;
        alive[gap.lower] += bytes;
        alive[gap.upper + 1] -= bytes;
        done[gap.upper + 1] += bytes / m.host_to_device_bytes_per_second;
    }
    double sum = 0;
    for (std::size_t s = 0; s < steps; ++s) {
        sum += alive[s];
        alive[s] = sum + static_cast<double>(model.forced[0][s]);
        const operator_index op = model.steps[s].op;
        done[s + 1] += done[s] + (op != no_operator ? operator_seconds(task.program, op, m) : 0);
    }
    block_division result;
    std::uint32_t part = 0;
    bool open = false;  // the last moment is of this part
    for (std::uint32_t s = 0; s < steps; ++s) {
        if (model.steps[s].op == no_operator) continue;
        const auto now = static_cast<std::uint32_t>(done[s] / done.back() * parts);
        if (!open || now != part) {
            result.steps.push_back(s);
        } else if (alive[s] > alive[result.steps.back()]) {
            result.steps.back() = s;
        }
        part = now;
        open = true;
    }
    std::uint32_t block = 0;
    for (std::uint32_t s = 0; s < steps; ++s) {
        if (block < result.steps.size() && result.steps[block] == s) ++block;
        result.blocks.push_back(block);
    }
    return result;
}

}  // namespace stowage::turnip::detail
