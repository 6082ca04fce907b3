#pragma once
// Which gaps span a step: found without looking at all gaps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <stowage/turnip/detail/residency_model.hpp>

namespace stowage::turnip::detail {

/// Gaps by their spans. O(gaps log gaps) to make; a question costs O(log gaps) a gap found, and wrapped gaps
/// are all looked at. Constant once made.
template <class = void>
class basic_gap_index {
public:
    explicit basic_gap_index(const residency_model& model) : model_(model) {
        for (std::uint32_t g = 0; g < model.gaps.size(); ++g)
            (model.gaps[g].wrapped ? wrapped_ : plain_).push_back(g);
        std::sort(plain_.begin(), plain_.end(), [&](std::uint32_t a, std::uint32_t b) {
            const std::uint32_t x = model.gaps[a].lower;
            const std::uint32_t y = model.gaps[b].lower;
            return x != y ? x < y : a < b;
        });
        while (leaves_ < plain_.size())
            leaves_ *= 2;
        latest_.assign(2 * leaves_, 0);
        for (std::size_t k = 0; k < plain_.size(); ++k)
            latest_[leaves_ + k] = model.gaps[plain_[k]].upper + 1;
        for (std::size_t node = leaves_; node-- > 1;)
            latest_[node] = std::max(latest_[2 * node], latest_[2 * node + 1]);
    }
    /// Calls `found(gap)` for each gap on `device` that spans `step`.
    template <class Found>
    void at(std::uint32_t step, memory_index device, Found found) const {
        for (const std::uint32_t g : wrapped_) {
            const model_gap& gap = model_.gaps[g];
            if ((step <= gap.upper || step >= gap.lower) && on(gap, device)) found(g);
        }
        const auto end =
            std::upper_bound(plain_.begin(), plain_.end(), step,
                             [&](std::uint32_t s, std::uint32_t g) { return s < model_.gaps[g].lower; });
        const auto count = static_cast<std::size_t>(end - plain_.begin());
        // In the order of `lower`: down the tree wherever some gap ends late enough.
        for (std::size_t k = next(0, count, step); k < count; k = next(k + 1, count, step)) {
            if (on(model_.gaps[plain_[k]], device)) found(plain_[k]);
        }
    }

private:
    [[nodiscard]] bool on(const model_gap& gap, memory_index device) const {
        return model_.instances[gap.instance].device == device;
    }
    /// The first position from `from` on whose gap ends at `step` or later; `count` or more if there is none.
    [[nodiscard]] std::size_t next(std::size_t from, std::size_t count, std::uint32_t step) const {
        if (from >= count) return count;
        std::size_t node = from + leaves_;
        while (latest_[node] <= step) {
            while (node % 2 == 1)
                node /= 2;
            if (node == 0) return count;
            ++node;
        }
        while (node < leaves_)
            node = latest_[2 * node] > step ? 2 * node : 2 * node + 1;
        return node - leaves_;
    }
    const residency_model& model_;
    std::vector<std::uint32_t> plain_;  // by lower
    std::vector<std::uint32_t> wrapped_;
    std::size_t leaves_ = 1;
    std::vector<std::uint32_t> latest_;  // tree: the largest upper + 1
};
using gap_index = basic_gap_index<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_gap_index<>;
#endif

}  // namespace stowage::turnip::detail
