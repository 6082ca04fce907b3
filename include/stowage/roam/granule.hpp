#pragma once
// What alignment adds to the least arena, over all orders and all layouts of a program.
//
// Let every offset be a multiple of a granule G, and let round(b) be a size rounded up to it and pad(b) =
// round(b) - size(b). Within an arena of at most R bytes, R a multiple of G, whatever is alive at one moment
// fits into R by its rounded sizes: an end rounded up is at most R. So the least peak in rounded sizes is the
// size to aim at, and an order is searched in them. Only the topmost buffer may end below its rounded end.
// Hence the rule, for a threshold q of 1 to G: count a size as round(b), and as round(b) - G where pad(b) >=
// q. If an arena of at most R - q bytes is possible, its order has at most R - G counted bytes alive at every
// moment:
//
//   - is something alive whose pad is at least q, the rounded sizes are at most R, the counted ones at most
//     R - G;
//   - else everything ends at most at R - q and has a pad below q, so that its rounded end is below R, hence
//     at most R - G; so are the rounded sizes, which are then the counted ones.
//
// So where every order has more than R - G counted bytes alive at some moment, no arena is below R - q + 1.
// With q above all pads that is the rounded peak minus the largest pad; a smaller q says more, as long as
// what has a large pad is not alive when it matters. With G = 1 it is the bound by the peak.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage::roam {

/// The greatest granule of which every offset of a plan with this alignment (> 0) is a multiple: the greatest
/// common divisor, over the buffers of the plan, of the least common multiple of `alignment` and their own;
/// at least `alignment`. O(buffers).
template <class = void>
[[nodiscard]] std::int64_t common_granule(const tensor_graph& graph, std::int64_t alignment) {
    if (graph.has_workspace()) return alignment;
    std::int64_t granule = 0;
    for (buffer_index b = 0; b < graph.buffer_count() && granule != alignment; ++b) {
        if (!graph.is_planned(b) || graph.bytes(b) == 0) continue;
        std::int64_t both = 0;
        const std::int64_t own = graph.alignment(b);
        if (__builtin_mul_overflow(alignment / std::gcd(alignment, own), own, &both)) both = alignment;
        granule = std::gcd(granule, both);
    }
    return granule == 0 ? alignment : granule;
}

/// A program in sizes that are counted by a granule.
template <class = void>
class basic_counted_program {
public:
    /// Refers to the program. Where rounding changes no size, or the sums of rounded sizes pass 2^63 - 1, the
    /// granule is 1 and every size counts as it is. O(size).
    basic_counted_program(const tensor_graph& graph, std::int64_t granule)
        : graph_(&graph), granule_(granule) {
        if (granule_ > 1) look_at_sizes();
        if (largest_pad() == 0) granule_ = 1;
        if (granule_ > 1) rounded_ = counted(granule_);
    }

    /// The program as it is.
    [[nodiscard]] const tensor_graph& graph() const noexcept { return *graph_; }
    /// The program in rounded sizes.
    [[nodiscard]] const tensor_graph& rounded() const noexcept { return rounded_ ? *rounded_ : *graph_; }
    /// The granule by which sizes are counted.
    [[nodiscard]] std::int64_t granule() const noexcept { return granule_; }
    /// What rounding adds to some size, each amount once, ascending.
    [[nodiscard]] std::span<const std::int64_t> pads() const noexcept { return pads_; }
    /// A threshold that no pad reaches: only rounding counts.
    [[nodiscard]] std::int64_t no_threshold() const noexcept { return largest_pad() + 1; }

    /// The program in sizes counted with a threshold of 1 to the granule. O(size).
    [[nodiscard]] tensor_graph counted(std::int64_t threshold) const {
        std::vector<std::int64_t> bytes(graph_->buffer_count());
        for (buffer_index b = 0; b < bytes.size(); ++b) {
            const std::int64_t size = graph_->bytes(b);
            bytes[b] = graph_->is_planned(b) ? count(size, threshold) : size;
        }
        std::vector<std::int64_t> workspace;
        if (graph_->has_workspace()) workspace.resize(graph_->operator_count());
        for (operator_index op = 0; op < workspace.size(); ++op)
            workspace[op] = count(graph_->workspace(op), threshold);
        return graph_->with_sizes(std::move(bytes), std::move(workspace));
    }
    /// The least multiple of the granule that is not below `bytes` (>= 0); 2^63 - 1 where that is beyond.
    [[nodiscard]] std::int64_t round(std::int64_t bytes) const noexcept {
        std::int64_t rounded = 0;
        return __builtin_add_overflow(bytes, pad_of(bytes), &rounded)
                   ? std::numeric_limits<std::int64_t>::max()
                   : rounded;
    }
    /// False if a layout of `order` cannot have an arena below `arena`. O(accesses).
    [[nodiscard]] bool leaves_room(std::span<const operator_index> order, std::int64_t arena) const {
        return peak_bytes(rounded(), order) <= round(arena - 1);
    }

private:
    [[nodiscard]] std::int64_t pad_of(std::int64_t size) const noexcept {
        return size % granule_ == 0 ? 0 : granule_ - size % granule_;
    }
    [[nodiscard]] std::int64_t count(std::int64_t size, std::int64_t threshold) const noexcept {
        const std::int64_t pad = pad_of(size);
        return size + pad - (pad >= threshold ? granule_ : 0);
    }
    [[nodiscard]] std::int64_t largest_pad() const noexcept { return pads_.empty() ? 0 : pads_.back(); }

    /// Collects the pads; leaves none where rounded sizes cannot be summed.
    void look_at_sizes() {
        std::int64_t sum = 0;
        std::int64_t workspace = 0;
        bool fits = true;
        const auto look = [&](std::int64_t size, std::int64_t& rounded) {
            pads_.push_back(pad_of(size));
            fits = !__builtin_add_overflow(size, pads_.back(), &rounded) && fits;
        };
        for (buffer_index b = 0; b < graph_->buffer_count(); ++b) {
            if (!graph_->is_planned(b) || graph_->bytes(b) == 0) continue;
            std::int64_t rounded = 0;
            look(graph_->bytes(b), rounded);
            fits = !__builtin_add_overflow(sum, rounded, &sum) && fits;
        }
        for (operator_index op = 0; graph_->has_workspace() && op < graph_->operator_count(); ++op) {
            std::int64_t rounded = 0;
            if (graph_->workspace(op) > 0) look(graph_->workspace(op), rounded);
            workspace = std::max(workspace, rounded);
        }
        fits = fits && workspace <= std::numeric_limits<std::int64_t>::max() - sum - granule_;
        std::sort(pads_.begin(), pads_.end());
        pads_.erase(std::unique(pads_.begin(), pads_.end()), pads_.end());
        if (!fits) pads_.clear();
    }

    const tensor_graph* graph_;
    std::int64_t granule_;
    std::vector<std::int64_t> pads_;
    std::optional<tensor_graph> rounded_;
};
using counted_program = basic_counted_program<>;

}  // namespace stowage::roam
