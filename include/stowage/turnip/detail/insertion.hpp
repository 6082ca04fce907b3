#pragma once
// Greedy residency: gaps come back to the device in the order of what they save a byte and a price of the
// steps that they take, each if it still fits. Source: papers/offload.md, "The policy".

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>

namespace stowage::turnip::detail {

/// What a gap is worth: bytes saved for each byte kept, by the price of the steps of its span. `prices`: by
/// step, none negative; empty: all steps cost the same. A version's way out is shared evenly by its gaps. O(
/// gaps + steps).
template <class = void>
[[nodiscard]] std::vector<double> gap_values(const residency_model& model, std::span<const double> prices) {
    std::vector<double> before(model.steps.size() + 1, 0);
    double total = 0;
    for (const double price : prices)
        total += price;
    const double uniform = 1.0 / static_cast<double>(model.steps.size());
    for (std::size_t s = 0; s < model.steps.size(); ++s) {
        // Where a step costs nothing, a short gap is still better than a long one.
        const double price = total > 0 ? prices[s] / total + 1e-7 * uniform : uniform;
        before[s + 1] = before[s] + price;
    }
    std::vector<std::uint32_t> sharing(model.versions.size(), 0);
    for (const model_gap& gap : model.gaps)
        sharing[model.copy_of[gap.version]] += gap.needs_copy ? 1 : 0;
    std::vector<double> values(model.gaps.size());
    for (std::size_t g = 0; g < values.size(); ++g) {
        const model_gap& gap = model.gaps[g];
        const std::uint32_t version = model.copy_of[gap.version];
        double length = before[gap.upper + 1] - before[gap.wrapped ? 0 : gap.lower];
        if (gap.wrapped) length += before.back() - before[gap.lower];
        double saved = static_cast<double>(gap.bytes_in);
        if (gap.needs_copy && !model.versions[version].goes_out) {
            saved += static_cast<double>(model.versions[version].bytes_out) / sharing[version];
        }
        values[g] = saved / (static_cast<double>(gap.bytes) * length);
    }
    return values;
}

/// Keeps what fits, the most valuable gap first. `larger_first`: of gaps whose values differ by less than a
/// fifth the larger one is first, so that few bytes are left over. O(gaps x log steps).
template <class = void>
void insert_by_value(residency_state& state, std::span<const double> values, bool larger_first = false) {
    const std::vector<model_gap>& gaps = state.model().gaps;
    std::vector<int> grade(values.size(), 0);
    for (std::size_t g = 0; larger_first && g < values.size(); ++g)
        grade[g] = static_cast<int>(std::floor(4 * std::log2(values[g] + 1e-300)));
    std::vector<std::uint32_t> order;
    for (std::uint32_t g = 0; g < values.size(); ++g) {
        if (!state.is_kept(g)) order.push_back(g);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (grade[a] != grade[b]) return grade[a] > grade[b];
        if (larger_first && gaps[a].bytes != gaps[b].bytes) return gaps[a].bytes > gaps[b].bytes;
        return values[a] != values[b] ? values[a] > values[b] : a < b;
    });
    for (const std::uint32_t g : order) {
        if (state.fits(g)) state.keep(g);
    }
}

}  // namespace stowage::turnip::detail
