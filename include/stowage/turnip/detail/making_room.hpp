#pragma once
// Where a layout sticks out of its arena by a little, letting go of one more small gap there often costs less
// than a decision for a smaller arena, which gives up whatever no longer fits, however large. Source: none;
// measured on the captured programs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/gap_index.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>

namespace stowage::turnip::detail {

/// Drops, for each rectangle and workspace of `device` that the plan's layout puts above `capacity`, kept
/// gaps at its fullest step until their bytes make up for it: those that cost least a byte, give or take a
/// factor that `random` chooses up to 1 + `noise`; they are appended to `dropped`. False, and the state is in
/// between, if there are too few. The gap index is of the state's model. O(rectangles + gaps at the fullest
/// steps x those dropped).
template <class = void>
[[nodiscard]] bool drop_where_it_sticks_out(const tensor_graph& program, const stay_plan& plan,
                                            memory_index device, std::int64_t capacity,
                                            const gap_index& index, double noise,
                                            stowage::detail::splitmix64& random, residency_state& state,
                                            std::vector<std::uint32_t>& dropped) {
    struct piece {
        std::int64_t over;  // bytes above the capacity
        std::uint32_t lower;
        std::uint32_t upper;
    };
    struct candidate {
        double cost;
        std::uint32_t gap;
    };
    const residency_model& model = state.model();
    std::vector<candidate> candidates;
    std::vector<piece> pieces;
    for (const rectangle& stay : plan.rectangles) {
        const model_instance& instance = model.instances[stay.instance];
        if (instance.device != device) continue;
        const std::int64_t over = stay.address + program.bytes(instance.buffer) - capacity;
        if (over > 0) pieces.push_back({over, stay.lower, stay.upper});
    }
    for (std::uint32_t s = 0; s < plan.workspace.size(); ++s) {
        if (plan.workspace[s] < 0 || model.steps[s].device != device) continue;
        const std::int64_t over = plan.workspace[s] + program.workspace(model.steps[s].op) - capacity;
        if (over > 0) pieces.push_back({over, s, s});
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const piece& a, const piece& b) { return a.over > b.over; });
    const std::size_t before = dropped.size();
    for (const piece& p : pieces) {
        const std::uint32_t full = state.tightest(p.lower, p.upper, device);
        // What was let go of for a larger one makes up for this one too.
        std::int64_t lacking = p.over;
        for (std::size_t k = before; k < dropped.size(); ++k) {
            const model_gap& gap = model.gaps[dropped[k]];
            if (gap.covers(full)) lacking -= gap.bytes;
        }
        if (lacking <= 0) continue;
        candidates.clear();
        index.at(full, device, [&](std::uint32_t g) {
            if (!state.is_kept(g)) return;
            const model_gap& gap = model.gaps[g];
            const std::uint32_t lower = std::max(p.lower, gap.wrapped ? 0 : gap.lower);
            const std::uint32_t upper = std::min(p.upper, gap.wrapped ? model.last_step() : gap.upper);
            // One that leaves for more of the piece's time is worth more.
            const double covered = static_cast<double>(upper - lower + 1) / (p.upper - p.lower + 1);
            const double noisy = state.marginal(g) * (1 + noise * random.uniform());
            candidates.push_back({noisy / (0.25 + covered), g});
        });
        while (lacking > 0 && !candidates.empty()) {
            const auto price = [&](const candidate& c) {
                return c.cost / static_cast<double>(std::min(model.gaps[c.gap].bytes, lacking));
            };
            const auto best = std::min_element(candidates.begin(), candidates.end(),
                                               [&](const candidate& a, const candidate& b) {
                                                   const double x = price(a);
                                                   const double y = price(b);
                                                   return x != y ? x < y : a.gap < b.gap;
                                               });
            state.drop(best->gap);
            dropped.push_back(best->gap);
            lacking -= model.gaps[best->gap].bytes;
            candidates.erase(best);
        }
        if (lacking > 0) return false;
    }
    return true;
}

}  // namespace stowage::turnip::detail
