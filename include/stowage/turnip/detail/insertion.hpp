#pragma once
// Greedy residency: gaps come back to the device in the order of what they save a byte and a price of the
// steps that they take, each if it still fits. Source: papers/offload.md, "The policy".

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
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

/// Insertion by value where a version's way out is shared by those of its gaps that are still open: once one
/// had to leave, the way out is paid, and the others are worth no more than their return. Use it once.
template <class = void>
class basic_shared_insertion {
public:
    /// `values`: as those of gap_values, at first. The state must outlive it.
    basic_shared_insertion(residency_state& state, std::span<const double> values)
        : state_(state), model_(state.model()), values_(values.begin(), values.end()),
          decided_(state.kept()) {
        group_gaps();
    }
    /// Keeps what fits, the most valuable gap first. O(gaps x (log gaps + log steps)).
    void operator()() {
        std::vector<candidate> sorted;
        for (std::uint32_t g = 0; g < values_.size(); ++g) {
            if (decided_[g] == 0) sorted.push_back({values_[g], g});
        }
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        auto next = sorted.begin();
        while (next != sorted.end() || !changed_.empty()) {
            const bool first = changed_.empty() || (next != sorted.end() && changed_.top() < *next);
            const candidate now = first ? *next : changed_.top();
            if (first) {
                ++next;
            } else {
                changed_.pop();
            }
            if (decided_[now.gap] != 0 || values_[now.gap] != now.value) continue;
            decided_[now.gap] = 1;
            const bool fits = state_.fits(now.gap);
            if (fits) state_.keep(now.gap);
            if (shares(now.gap)) tell_others(model_.copy_of[model_.gaps[now.gap].version], fits);
        }
    }

private:
    struct candidate {
        double value;
        std::uint32_t gap;
        /// Worth less than the other; of equals the one with the higher index.
        friend bool operator<(const candidate& a, const candidate& b) noexcept {
            return a.value != b.value ? a.value < b.value : a.gap > b.gap;
        }
        friend bool operator>(const candidate& a, const candidate& b) noexcept { return b < a; }
    };
    struct group {
        std::uint32_t first = 0;  // its gaps are [first, first + count) of gaps_
        std::uint32_t count = 0;
        std::uint32_t open = 0;
        std::uint32_t told = 0;  // how many were open when they were valued
        double out = 0;          // what each one's value contains of the way out, in bytes
    };

    [[nodiscard]] bool shares(std::uint32_t g) const {
        const model_gap& gap = model_.gaps[g];
        return gap.needs_copy && !model_.versions[model_.copy_of[gap.version]].goes_out;
    }
    void group_gaps() {
        groups_.resize(model_.versions.size());
        for (std::uint32_t g = 0; g < values_.size(); ++g) {
            if (shares(g)) ++groups_[model_.copy_of[model_.gaps[g].version]].count;
        }
        std::uint32_t sum = 0;
        for (std::size_t v = 0; v < groups_.size(); ++v) {
            groups_[v].first = sum;
            sum += groups_[v].count;
            groups_[v].open = groups_[v].told = groups_[v].count;
            groups_[v].out = static_cast<double>(model_.versions[v].bytes_out) /
                             std::max<std::uint32_t>(1, groups_[v].count);
        }
        gaps_.resize(sum);
        std::vector<std::uint32_t> filled(groups_.size(), 0);
        for (std::uint32_t g = 0; g < values_.size(); ++g) {
            if (!shares(g)) continue;
            const std::uint32_t v = model_.copy_of[model_.gaps[g].version];
            gaps_[groups_[v].first + filled[v]++] = g;
        }
        for (std::uint32_t g = 0; g < values_.size(); ++g) {
            if (decided_[g] != 0 && shares(g)) tell_others(model_.copy_of[model_.gaps[g].version], true);
        }
    }
    /// One gap of the version was decided: the others change their values where the share has changed much.
    void tell_others(std::uint32_t v, bool kept) {
        group& now = groups_[v];
        --now.open;
        const bool first_gone = !kept && now.out > 0;
        const bool few = kept && now.out > 0 && 2 * now.open <= now.told;
        if (now.open == 0 || (!first_gone && !few)) return;
        const double out = first_gone ? 0 : static_cast<double>(model_.versions[v].bytes_out) / now.open;
        for (std::uint32_t k = now.first; k < now.first + now.count; ++k) {
            const std::uint32_t g = gaps_[k];
            if (decided_[g] != 0) continue;
            const auto in = static_cast<double>(model_.gaps[g].bytes_in);
            if (in + now.out <= 0) continue;
            values_[g] *= (in + out) / (in + now.out);
            changed_.push({values_[g], g});
        }
        now.told = now.open;
        now.out = out;
    }

    residency_state& state_;
    const residency_model& model_;
    std::vector<double> values_;  // by gap
    std::vector<char> decided_;   // by gap
    std::vector<group> groups_;   // by version
    std::vector<std::uint32_t> gaps_;
    std::priority_queue<candidate> changed_;
};
using shared_insertion = basic_shared_insertion<>;

}  // namespace stowage::turnip::detail
