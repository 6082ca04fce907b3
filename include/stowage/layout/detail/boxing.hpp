#pragma once
// Boxes: blocks of a strip joined for good, so that a search has fewer and more telling things to place. Two
// boxes are stacked where they live together, or lie side by side where one follows the other; what a box
// wastes in a section comes out of the slack there, so no section is ever asked for more than the capacity.
// A layout of the boxes is one of the blocks; that there is none says nothing of the blocks. The idea is that
// of the boxes of Buchsbaum et al. (2003), here drawn at random and small.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/strip.hpp>

namespace stowage::layout::detail {

/// How far boxes are joined.
struct boxing_rules {
    int rounds = 1;       ///< rounds over all boxes; each at most halves their number
    double chance = 0.7;  ///< of a box to be joined in a round
    double share = 0;     ///< of each section's slack that may be wasted, 0 to 1; 0: boxes waste nothing
    double most = 0;      ///< mean part of the room left that one joint may waste, by section
};

/// The boxes of a strip; call join() as often as wanted, each time from the blocks anew.
template <class = void>
class basic_boxing {
public:
    /// Both must outlive this; durations are those of the blocks.
    basic_boxing(const strip& whole, std::span<const std::int64_t> durations)
        : whole_(whole), durations_(durations), capacity_(whole.capacity),
          slack_(static_cast<std::size_t>(whole.sections), whole.capacity) {
        for (const block& b : whole.blocks) {
            for (std::int32_t s = b.first; s < b.last; ++s)
                slack_[at(s)] -= b.size;
        }
    }
    /// Takes `units` off the capacity, for joins to come and for the boxes that there are.
    void lower_by(std::int64_t units) {
        for (std::int64_t& bytes : slack_)
            bytes -= units;
        capacity_ -= units;
        boxes_.capacity = capacity_;
    }
    /// Joins at random. O(rounds * blocks * width of a box), at most 24 partners looked at for each.
    void join(const boxing_rules& rules, stowage::detail::splitmix64& random) {
        room_ = slack_;
        for (std::int64_t& bytes : room_)
            bytes = static_cast<std::int64_t>(rules.share *
                                              static_cast<double>(std::max<std::int64_t>(0, bytes)));
        start();
        for (int round = 0; round < rules.rounds; ++round) {
            for (std::size_t k = 0; k < order_.size(); ++k) {
                if (is_free(order_[k]) && random.uniform() < rules.chance) join_best(k, rules.most);
            }
            const std::size_t before = order_.size();
            std::erase_if(order_, [&](std::size_t i) { return !is_free(i); });
            if (order_.size() == before) break;
        }
        finish();
    }
    /// The boxes as a strip of the same sections and capacity.
    [[nodiscard]] const strip& boxes() const noexcept { return boxes_; }
    /// How long each box lasts in the user's time.
    [[nodiscard]] const std::vector<std::int64_t>& durations() const noexcept { return box_durations_; }
    /// True if the last join() joined any.
    [[nodiscard]] bool joined() const noexcept { return boxes_.blocks.size() < whole_.blocks.size(); }
    /// Visits of sections so far: for budgets.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }
    /// Offsets of the blocks from those of the boxes.
    [[nodiscard]] std::vector<std::int64_t> offsets_of_blocks(std::span<const std::int64_t> of_boxes) const {
        std::vector<std::int64_t> result(whole_.blocks.size());
        for (std::size_t i = 0; i < result.size(); ++i)
            result[i] = of_boxes[numbers_[owners_[i]]] + distances_[i];
        return result;
    }

private:
    static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t window = 12;
    [[nodiscard]] static constexpr std::size_t at(std::int32_t i) noexcept {
        return static_cast<std::size_t>(i);
    }
    /// A way to join a box with a later one.
    struct joint {
        std::size_t partner = nobody;
        double cost = 0;
    };

    /// Every block a box of its own, by range.
    void start() {
        const std::size_t n = whole_.blocks.size();
        shapes_ = whole_.blocks;
        lasting_.assign(durations_.begin(), durations_.end());
        owners_.resize(n);
        std::iota(owners_.begin(), owners_.end(), std::size_t{0});
        next_.assign(n, nobody);
        last_ = owners_;
        distances_.assign(n, 0);
        order_ = owners_;
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            const block& x = shapes_[a];
            const block& y = shapes_[b];
            if (x.first != y.first) return x.first < y.first;
            if (x.last != y.last) return x.last < y.last;
            return x.headroom != y.headroom ? x.headroom < y.headroom : a < b;
        });
    }
    [[nodiscard]] bool is_free(std::size_t i) const { return owners_[i] == i; }

    /// Joins the k-th box with the cheapest of the next ones in the order and of the first that begin where
    /// it ends, if one is cheap enough.
    void join_best(std::size_t k, double most) {
        const std::size_t i = order_[k];
        joint best{nobody, most};
        look_from(k + 1, i, best);
        const auto after =
            std::partition_point(order_.begin() + static_cast<std::ptrdiff_t>(k), order_.end(),
                                 [&](std::size_t j) { return shapes_[j].first < shapes_[i].last; });
        look_from(std::max(k + 1, static_cast<std::size_t>(after - order_.begin())), i, best);
        if (best.partner != nobody) merge(i, best.partner);
    }
    void look_from(std::size_t from, std::size_t i, joint& best) {
        std::size_t seen = 0;
        const std::size_t end = std::min(order_.size(), from + 4 * window);
        for (std::size_t q = from; q < end && seen < window; ++q) {
            const std::size_t j = order_[q];
            if (!is_free(j)) continue;
            ++seen;
            const double cost = cost_of(shapes_[i], shapes_[j], best.cost);
            if (cost < best.cost || (cost == best.cost && best.partner == nobody)) best = {j, cost};
        }
    }
    /// What joining `a` with `b`, which does not begin earlier, wastes in section s.
    [[nodiscard]] static std::int64_t waste(const block& a, const block& b, std::int32_t s) {
        const std::int64_t of_a = s < a.last ? a.size : 0;
        const std::int64_t of_b = s >= b.first && s < b.last ? b.size : 0;
        return (b.first >= a.last ? std::max(a.size, b.size) : a.size + b.size) - of_a - of_b;
    }
    /// Mean part of the room that is wasted; more than `limit` where there is none, or it is more.
    [[nodiscard]] double cost_of(const block& a, const block& b, double limit) {
        constexpr double never = std::numeric_limits<double>::max();
        const std::int32_t end = std::max(a.last, b.last);
        const std::int32_t width = end - a.first;
        if (!a.plain() || !b.plain()) return never;
        // A box that is mostly empty in time serves nothing.
        if (a.headroom != b.headroom || 2 * (b.first - a.last) > a.last - a.first + b.last - b.first)
            return never;
        double sum = 0;
        for (std::int32_t s = a.first; s < end; ++s) {
            ++work_;
            const std::int64_t lost = waste(a, b, s);
            if (lost > room_[at(s)]) return never;
            if (lost > 0) sum += static_cast<double>(lost) / (static_cast<double>(room_[at(s)]) + 1);
            if (sum > limit * width) return never;
        }
        return sum / width;
    }
    void merge(std::size_t i, std::size_t j) {
        block& a = shapes_[i];
        const block& b = shapes_[j];
        const bool beside = b.first >= a.last;
        const std::int32_t end = std::max(a.last, b.last);
        for (std::int32_t s = a.first; s < end; ++s)
            room_[at(s)] -= waste(a, b, s);
        for (std::size_t m = j; m != nobody; m = next_[m]) {
            owners_[m] = i;
            distances_[m] += beside ? 0 : a.size;
        }
        next_[last_[i]] = j;
        last_[i] = last_[j];
        a.size = beside ? std::max(a.size, b.size) : a.size + b.size;
        a.last = end;
        constexpr std::int64_t top = std::numeric_limits<std::int64_t>::max();
        const std::int64_t longer = std::max(lasting_[i], lasting_[j]);
        const std::int64_t shorter = std::min(lasting_[i], lasting_[j]);
        lasting_[i] = !beside ? longer : longer > top - shorter ? top : longer + shorter;
    }
    void finish() {
        boxes_.blocks.clear();
        boxes_.sections = whole_.sections;
        boxes_.capacity = capacity_;
        boxes_.unit = whole_.unit;
        box_durations_.clear();
        numbers_.assign(whole_.blocks.size(), 0);
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            if (!is_free(i)) continue;
            numbers_[i] = boxes_.blocks.size();
            boxes_.blocks.push_back(shapes_[i]);
            box_durations_.push_back(lasting_[i]);
        }
        for (block& box : boxes_.blocks) {
            if (box.other >= 0) box.other = static_cast<std::int32_t>(numbers_[at(box.other)]);
        }
    }

    const strip& whole_;
    std::span<const std::int64_t> durations_;
    std::int64_t capacity_;            // in units
    std::vector<std::int64_t> slack_;  // by section
    std::vector<std::int64_t> room_;   // of it, what may still be wasted
    std::vector<block> shapes_;        // by the first block of a box
    std::vector<std::int64_t> lasting_;
    std::vector<std::size_t> owners_;  // the first block of each block's box
    std::vector<std::size_t> next_;    // the next block of the same box
    std::vector<std::size_t> last_;    // the last block of a box
    std::vector<std::int64_t> distances_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> numbers_;  // of the boxes, by their first block
    strip boxes_;
    std::vector<std::int64_t> box_durations_;
    std::uint64_t work_ = 0;
};
using boxing = basic_boxing<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_boxing<>;
#endif

}  // namespace stowage::layout::detail
