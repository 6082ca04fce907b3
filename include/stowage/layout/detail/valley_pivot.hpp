#pragma once
// Where the valley search branches: in a valley of the floors, the section with the fewest options. Counts
// are kept for each valley until something in it changes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/layout/detail/valley_state.hpp>
#include <stowage/layout/valley_rules.hpp>

namespace stowage::layout::detail {

/// A section of a valley and what can be done there.
struct pivot {
    int section = -1;  ///< -1: nothing is left to place
    int left = 0;      ///< the valley is [left, right)
    int right = 0;
    std::int64_t height = 0;  ///< floor of the valley
    std::int64_t wall = 0;    ///< the lower of its neighbours, or the capacity
    std::int64_t rise = 0;    ///< by how much the section alone may be raised; 0: not at all
    int candidates =
        0;              ///< unplaced blocks inside the valley that cover the section and may lie on its floor
    double score = 0;   ///< for pivot_rule::most_failures
    bool idle = false;  ///< no unplaced block covers the section: it can be raised at once
    /// Options: candidates and the raise; 0 is a dead end.
    [[nodiscard]] int options() const noexcept { return candidates + (rise > 0 ? 1 : 0); }
};

/// Finds pivots; keeps what it knows of each valley while the state does not change there.
template <class = void>
class basic_pivot_finder {
public:
    explicit basic_pivot_finder(const valley_state& state)
        : state_(state), known_(static_cast<std::size_t>(state.sections())),
          starts_(static_cast<std::size_t>(state.sections()) + 1, 0), fill_(starts_.size(), 0),
          failures_(starts_.size(), 0), blamed_(state.blocks().size(), 0), smallest_left_(starts_.size(), 0),
          smallest_right_(starts_.size(), 0) {}
    /// Forgets everything; call after the state was reset.
    void reset() { known_.assign(known_.size(), valley{}); }
    /// Counts a dead end in this section, and against each block still to come over it: placed earlier, it
    /// might not have been one.
    void note_failure(int section) {
        failures_[static_cast<std::size_t>(section)] += 1;
        const auto waiting = state_.unplaced_over(section);
        for (const int j : waiting)
            ++blamed_[static_cast<std::size_t>(j)];
        work_ += waiting.size() / 4;
    }
    /// Dead ends counted against each block since the last forgive().
    [[nodiscard]] const std::vector<std::uint32_t>& blamed() const noexcept { return blamed_; }
    void forgive() { blamed_.assign(blamed_.size(), 0); }
    /// Work done so far, in visits of sections and blocks.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }

    /// True if b may lie on the floor of the valley that ends at `right`: it is inside, was not ruled out
    /// there and meets nothing pinned.
    [[nodiscard]] bool fits(int b, int right, std::int64_t height) const {
        if (state_.blocks()[static_cast<std::size_t>(b)].last > right) return false;
        return state_.plain() ? state_.least(b) <= height : state_.can_lie(b, height);
    }

    /// True if nothing that can lie in the valley is pinned, aligned or in pieces.
    [[nodiscard]] bool may_exchange(const pivot& at) const {
        for (int s = at.left; s < at.right; ++s) {
            if (state_.above().first(s).bottom < at.wall) return false;
            for (const int j : state_.unplaced_from(s)) {
                const block& item = state_.blocks()[static_cast<std::size_t>(j)];
                if (item.alignment != 1 || item.other >= 0) return false;
            }
        }
        return true;
    }
    /// The section to branch on in the component [left, right), by the rule; a dead end or a forced move if
    /// there is one. O(sections + blocks of the valleys that changed).
    [[nodiscard]] pivot find(int left, int right, pivot_rule rule) {
        pivot best;
        work_ += static_cast<std::uint64_t>(right - left) / 4;
        for (int l = left; l < right;) {
            const std::int64_t height = state_.floor(l);
            int r = l + 1;
            while (r < right && state_.floor(r) == height)
                ++r;
            const std::int64_t left_wall = l > left ? state_.floor(l - 1) : state_.capacity();
            const std::int64_t right_wall = r < right ? state_.floor(r) : state_.capacity();
            if ((l > left && left_wall < height) || (r < right && right_wall < height)) {
                l = r;
                continue;
            }
            std::int64_t newest = 0;
            for (int s = std::max(left, l - 1); s < std::min(right, r + 1); ++s) {
                newest = std::max(newest, state_.version(s));
            }
            valley& entry = known_[static_cast<std::size_t>(l)];
            if (entry.seen < newest || entry.best.right != r || entry.component_left != left ||
                entry.component_right != right || entry.linked) {
                entry.best = examine(l, r, std::min(left_wall, right_wall), entry, rule);
                entry.component_left = left;
                entry.component_right = right;
                entry.seen = state_.clock();
            }
            // Where nothing is left to place, the floor may rise to the walls at once; over the whole
            // component: done.
            if (entry.busy || l > left || r < right) {
                if (entry.best.options() == 0 && !entry.best.idle) {
                    note_failure(entry.best.section);
                    return entry.best;
                }
                if (best.section < 0 || better(entry.best, best, rule)) best = entry.best;
            }
            l = r;
        }
        return best;
    }

private:
    struct valley {
        pivot best;
        std::int64_t seen = -1;
        int component_left = -1;
        int component_right = -1;
        bool busy = false;
        bool linked = false;  // holds pieces of buffers that have others: those may change unseen
    };
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    /// Counts the options of each section of the valley [left, right) by prefix sums, and takes the least.
    pivot examine(int left, int right, std::int64_t wall, valley& entry, pivot_rule rule) {
        const auto& blocks = state_.blocks();
        pivot best;
        best.left = left;
        best.right = right;
        best.height = state_.floor(left);
        best.wall = wall;
        entry.busy = false;
        entry.linked = false;
        const bool plain = state_.plain();
        const auto at = [](int s) { return static_cast<std::size_t>(s); };
        std::fill(starts_.begin() + left, starts_.begin() + right + 1, 0);
        std::fill(fill_.begin() + left, fill_.begin() + right + 1, 0);
        std::fill(smallest_left_.begin() + left, smallest_left_.begin() + right + 1, none);
        std::fill(smallest_right_.begin() + left, smallest_right_.begin() + right + 1, none);
        for (int s = left; s < right; ++s) {
            const auto births = state_.unplaced_from(s);
            work_ += births.size();
            for (const int j : births) {
                const block& item = blocks[at(j)];
                entry.linked = entry.linked || item.other >= 0;
                const bool here = fits(j, right, best.height);
                // What is kept off the floor by obstacles may still lie below the wall.
                if (!here && (plain || item.last > right || state_.least(j) >= wall)) continue;
                fill_[at(s)] += item.size;
                fill_[at(item.last)] -= item.size;
                if (!here) continue;
                ++starts_[at(s)];
                --starts_[at(item.last)];
                smallest_left_[at(item.last)] = std::min(smallest_left_[at(item.last)], item.size);
                if (s > left) smallest_right_[at(s - 1)] = std::min(smallest_right_[at(s - 1)], item.size);
            }
        }
        for (int s = left + 1; s < right; ++s) {
            starts_[at(s)] += starts_[at(s - 1)];
            fill_[at(s)] += fill_[at(s - 1)];
            smallest_left_[at(s)] = std::min(smallest_left_[at(s)], smallest_left_[at(s - 1)]);
        }
        for (int s = right - 2; s >= left; --s) {
            smallest_right_[at(s)] = std::min(smallest_right_[at(s)], smallest_right_[at(s + 1)]);
        }
        const std::int64_t depth = wall - best.height;
        // What is not carried by the floor or the walls lies on an obstacle.
        std::int64_t lowest_top = none;
        for (int s = left; !plain && s < right; ++s)
            lowest_top = std::min(lowest_top, state_.above().first(s).top);
        const std::int64_t to_obstacle = lowest_top == none ? none : lowest_top - best.height;
        double least = std::numeric_limits<double>::max();
        for (int s = left; s < right; ++s) {
            const bool idle = !state_.busy(s);
            entry.busy = entry.busy || !idle;
            std::int64_t rise = depth;
            bool dead = false;
            if (!idle) {
                const std::int64_t slack = state_.slack(s);
                rise = std::min({depth, smallest_left_[at(s)], smallest_right_[at(s)], to_obstacle});
                std::int64_t waste = rise;
                std::int64_t fill = fill_[at(s)];
                if (!plain) {
                    if (const obstacle first = state_.above().first(s); first.bottom != none)
                        waste = std::min(rise, first.bottom - best.height);
                    fill += state_.above().bytes_below(s, wall);
                    dead = !fills_to_obstacle(s, right, best.height, wall, slack);
                }
                if (waste > slack) rise = 0;
                // What is not inside the valley lies at or above the wall: what is inside must fill it.
                dead = dead || starts_[at(s)] + (rise > 0 ? 1 : 0) == 0 || fill < depth - slack;
            }
            if (dead) {
                best.section = s;
                best.candidates = 0;
                best.rise = 0;
                best.idle = false;
                return best;
            }
            const int options = idle ? -1 : starts_[at(s)] + (rise > 0 ? 1 : 0);
            double score = options;
            if (rule == pivot_rule::most_failures && options > 1)
                score = 1 + options / (1 + failures_[at(s)]);
            if (score >= least) continue;
            least = score;
            best.section = s;
            best.candidates = starts_[at(s)];
            best.rise = rise;
            best.idle = idle;
        }
        best.score = least;
        return best;
    }

    /// False if what can lie between the floor and the first obstacle in this section, which is no higher
    /// than the wall, cannot fill that room but for the slack.
    [[nodiscard]] bool fills_to_obstacle(int section, int right, std::int64_t height, std::int64_t wall,
                                         std::int64_t slack) {
        const std::int64_t bottom = state_.above().first(section).bottom;
        if (bottom > wall || slack >= bottom - height) return true;
        std::int64_t missing = bottom - height - slack;
        const auto waiting = state_.unplaced_over(section);
        work_ += waiting.size();
        for (const int j : waiting) {
            const block& item = state_.blocks()[static_cast<std::size_t>(j)];
            const std::int64_t least = std::max(height, state_.least(j));
            if (item.last > right || least > bottom || item.size > bottom - least) continue;
            missing -= item.size;
            if (missing <= 0) return true;
        }
        return false;
    }

    static bool better(const pivot& a, const pivot& b, pivot_rule rule) {
        const int x = a.idle ? 0 : a.options();
        const int y = b.idle ? 0 : b.options();
        if (x <= 1 || y <= 1) return x < y;
        switch (rule) {
            case pivot_rule::lowest_fewest: return a.height != b.height ? a.height < b.height : x < y;
            case pivot_rule::fewest_narrowest: return x != y ? x < y : a.right - a.left < b.right - b.left;
            case pivot_rule::most_failures: return a.score < b.score;
            case pivot_rule::fewest_lowest: break;
        }
        return x != y ? x < y : a.height < b.height;
    }

    const valley_state& state_;
    std::vector<valley> known_;
    std::vector<int> starts_;
    std::vector<std::int64_t> fill_;
    std::vector<double> failures_;
    std::vector<std::uint32_t> blamed_;
    std::vector<std::int64_t> smallest_left_;
    std::vector<std::int64_t> smallest_right_;
    std::uint64_t work_ = 0;
};
using pivot_finder = basic_pivot_finder<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_pivot_finder<>;
#endif

}  // namespace stowage::layout::detail
