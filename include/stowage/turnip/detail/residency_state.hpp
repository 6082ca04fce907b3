#pragma once
// A decision about every gap, with what it costs: which gaps are kept on the device, how many bytes that
// leaves free at each step, and which versions go out.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/turnip/detail/capacity_tree.hpp>
#include <stowage/turnip/detail/residency_model.hpp>

namespace stowage::turnip::detail {

/// Starts with every gap absent. The model must outlive it. keep and drop cost O(log steps).
template <class = void>
class basic_residency_state {
public:
    /// `capacities`: bytes by device; each at least what is forced at every step. `withheld`, by device and
    /// step: bytes of them that gaps may not take (empty: none; no more than what is free there counts).
    basic_residency_state(const residency_model& model, std::span<const std::int64_t> capacities,
                          std::span<const std::vector<std::int64_t>> withheld = {})
        : model_(&model), kept_(model.gaps.size(), 0), absent_(model.versions.size(), 0) {
        for (std::size_t d = 0; d < model.devices; ++d) {
            std::vector<std::int64_t> free(model.steps.size());
            for (std::size_t s = 0; s < free.size(); ++s) {
                free[s] = capacities[d] - model.forced[d][s];
                if (!withheld.empty()) free[s] -= std::min(free[s], withheld[d][s]);
            }
            free_.emplace_back(free);
        }
        for (std::uint32_t v = 0; v < model.versions.size(); ++v) {
            // What must go out anyway costs nothing more.
            if (model.versions[v].goes_out) ++absent_[model.copy_of[v]];
        }
        inside_.assign(model.instances.size(), 0);
        outside_.assign(model.instances.size(), 0);
        cost_ = model.constant_in + model.constant_out;
        for (const model_gap& gap : model.gaps)
            count(gap, 1);
    }
    /// True if the gap can be kept beside what is kept.
    [[nodiscard]] bool fits(std::uint32_t g) const {
        const model_gap& gap = model_->gaps[g];
        const capacity_tree& free = free_[model_->instances[gap.instance].device];
        if (!gap.wrapped) return free.least(gap.lower, gap.upper) >= gap.bytes;
        return free.least(0, gap.upper) >= gap.bytes &&
               free.least(gap.lower, model_->last_step()) >= gap.bytes;
    }
    void keep(std::uint32_t g) {
        kept_[g] = 1;
        take(g, -model_->gaps[g].bytes);
        count(model_->gaps[g], -1);
    }
    void drop(std::uint32_t g) {
        kept_[g] = 0;
        take(g, model_->gaps[g].bytes);
        count(model_->gaps[g], 1);
    }
    /// A step of the gap's span with the fewest free bytes.
    [[nodiscard]] std::uint32_t tightest(std::uint32_t g) const {
        const model_gap& gap = model_->gaps[g];
        const capacity_tree& free = free_[model_->instances[gap.instance].device];
        if (!gap.wrapped) return static_cast<std::uint32_t>(free.least_step(gap.lower, gap.upper));
        const std::size_t front = free.least_step(0, gap.upper);
        const std::size_t back = free.least_step(gap.lower, model_->last_step());
        return static_cast<std::uint32_t>(free.least(front, front) <= free.least(back, back) ? front : back);
    }
    /// The first step of [lower, upper] with the fewest free bytes of a device.
    [[nodiscard]] std::uint32_t tightest(std::uint32_t lower, std::uint32_t upper,
                                         memory_index device) const {
        return static_cast<std::uint32_t>(free_[device].least_step(lower, upper));
    }
    /// Free bytes of a device at a step.
    [[nodiscard]] std::int64_t free_at(std::uint32_t step, memory_index device) const {
        return free_[device].least(step, step);
    }
    [[nodiscard]] bool is_kept(std::uint32_t g) const noexcept { return kept_[g] != 0; }
    /// What the cost would rise by if a kept gap were dropped; of an absent gap: what it would fall by if it
    /// and the other absent gaps of its version were kept, this one's share.
    [[nodiscard]] double marginal(std::uint32_t g) const noexcept {
        const model_gap& gap = model_->gaps[g];
        const auto in = static_cast<double>(gap.bytes_in);
        if (!gap.needs_copy) return in;
        const std::uint32_t version = model_->copy_of[gap.version];
        const auto out = static_cast<double>(model_->versions[version].bytes_out);
        if (kept_[g] != 0) return absent_[version] == 0 ? in + out : in;
        return model_->versions[version].goes_out ? in : in + out / absent_[version];
    }
    /// Bytes that go in and out.
    [[nodiscard]] std::int64_t cost() const noexcept { return cost_; }
    /// Bytes of buffers that must be at one place at start and end and are away in between: a layout with
    /// many of them is hard.
    [[nodiscard]] std::int64_t split_bytes() const noexcept { return split_bytes_; }
    /// True if the version is needed on the host.
    [[nodiscard]] bool goes_out(std::uint32_t version) const noexcept {
        return absent_[model_->copy_of[version]] > 0;
    }
    [[nodiscard]] const residency_model& model() const noexcept { return *model_; }
    [[nodiscard]] const std::vector<char>& kept() const noexcept { return kept_; }

private:
    void take(std::uint32_t g, std::int64_t bytes) {
        const model_gap& gap = model_->gaps[g];
        capacity_tree& free = free_[model_->instances[gap.instance].device];
        if (gap.wrapped) {
            free.add(0, gap.upper, bytes);
            free.add(gap.lower, model_->last_step(), bytes);
        } else {
            free.add(gap.lower, gap.upper, bytes);
        }
    }
    /// One more gap is absent, or one less.
    void count(const model_gap& gap, std::int32_t more) {
        cost_ += more * gap.bytes_in;
        note_split(gap, more);
        if (!gap.needs_copy) return;
        const std::uint32_t version = model_->copy_of[gap.version];
        const bool went = absent_[version] > 0;
        absent_[version] += static_cast<std::uint32_t>(more);
        const bool goes = absent_[version] > 0;
        if (went != goes)
            cost_ += goes ? model_->versions[version].bytes_out : -model_->versions[version].bytes_out;
    }
    /// Keeps count of buffers that are tied to one place at start and end, and away in between.
    void note_split(const model_gap& gap, std::int32_t more) {
        const model_instance& instance = model_->instances[gap.instance];
        if (!instance.tied) return;
        std::uint32_t& inside = inside_[gap.instance];
        std::uint32_t& outside = outside_[gap.instance];
        const bool was = inside > 0 && outside == 0;
        (gap.wrapped ? outside : inside) += static_cast<std::uint32_t>(more);
        const bool is = inside > 0 && outside == 0;
        if (was != is) split_bytes_ += is ? gap.bytes : -gap.bytes;
    }
    const residency_model* model_;
    std::vector<capacity_tree> free_;     // by device
    std::vector<char> kept_;              // by gap
    std::vector<std::uint32_t> absent_;   // by version that goes out: its absent gaps
    std::vector<std::uint32_t> inside_;   // by instance, if tied: its absent gaps but the wrapped one
    std::vector<std::uint32_t> outside_;  // by instance, if tied: 1 if the wrapped one is absent
    std::int64_t split_bytes_ = 0;
    std::int64_t cost_ = 0;
};
using residency_state = basic_residency_state<>;

}  // namespace stowage::turnip::detail
