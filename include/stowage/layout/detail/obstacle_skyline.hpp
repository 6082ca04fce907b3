#pragma once
// A skyline around obstacles: what is pinned stands where it is, what has gaps is placed by first fit between
// that, and the others rise from below as in skyline_engine.hpp, but pass under what stands in the way or
// beside it. For problems that are too large for the complete searches; first fit alone leaves them far above
// the load.
//
// The floor of a plateau is passed only with all that begins below it: a wall that begins at the floor raises
// its sections to its top. What is placed must end below the lowest wall over its range. Where nothing fits,
// only the sections under the lowest wall are raised, so that what is beside it stays open.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/detail/fit_engine.hpp>
#include <stowage/layout/detail/rising_obstacles.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/sized_tree.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// Made once a problem and run with many rankings. O((n + w) log n) a run on all instances seen, for n
/// buffers and w pieces of what is pinned or has gaps (their first fit comes on top); O(n + w log k) memory.
/// One thread at a time.
template <class Tag = void>
class basic_obstacle_skyline {
public:
    /// Both must outlive this.
    basic_obstacle_skyline(const problem& problem, const sections& compact)
        : problem_(problem), compact_(compact) {
        for (std::size_t i = 0; i < compact.items.size(); ++i) {
            if (!stands(i)) by_first_.push_back(static_cast<std::uint32_t>(i));
        }
        std::sort(by_first_.begin(), by_first_.end(), [&](std::uint32_t a, std::uint32_t b) {
            const section_range x = compact.items[a].range;
            const section_range y = compact.items[b].range;
            if (x.first != y.first) return x.first < y.first;
            return x.last != y.last ? x.last < y.last : a < b;
        });
        start_.assign(index(compact.count()) + 1, 0);
        position_.resize(compact.items.size());
        for (std::size_t k = 0; k < by_first_.size(); ++k) {
            position_[by_first_[k]] = static_cast<std::uint32_t>(k);
            ++start_[index(compact.items[by_first_[k]].range.first) + 1];
        }
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
    }

    /// Lays out: `ranked` lists all items, the best first. Offsets by item, or an empty list if the account
    /// runs out, the limit is reached or 2^63 - 1 passed. Throws like place_in_order.
    [[nodiscard]] std::vector<std::int64_t> run(std::span<const std::uint32_t> ranked, std::int64_t limit,
                                                budget& account) {
        std::vector<std::int64_t> offsets = set_walls(ranked, limit, account);
        if (offsets.empty()) return {};
        start_run(ranked);
        std::size_t left = by_first_.size();
        for (std::uint32_t step = 1; left > 0; ++step) {
            if (step % 4 == 0 && !account.spend()) return {};
            const std::int32_t valley = pop_lowest();
            const std::int64_t height = at(valley).height;
            const section_range whole{valley, at(valley).right};
            const wall* lowest = walls_.lowest(whole, height);
            if (lowest != nullptr && lowest->bottom == height) {
                cover(valley, overlap(lowest->range, whole), rounded(lowest->top));
                continue;
            }
            const std::int32_t place = choose(whole, height, lowest);
            if (place < 0) {
                const std::int64_t ceiling = lower_neighbour(valley, whole.last);
                if (lowest == nullptr) {
                    cover(valley, whole, ceiling);
                } else {
                    cover(valley, overlap(lowest->range, whole),
                          ceiling < lowest->bottom ? ceiling : rounded(lowest->top));
                }
                continue;
            }
            const std::uint32_t chosen = ranked[index(place)];
            const item& entry = compact_.items[chosen];
            std::int64_t top = 0;
            const std::int64_t offset = aligned(height, entry.alignment);
            if (offset < 0 || __builtin_add_overflow(offset, entry.size, &top) || reaches(top, limit))
                return {};
            offsets[chosen] = offset;
            tree_.remove(position_[chosen]);
            cover(valley, entry.range, rounded(top));
            --left;
        }
        return offsets;
    }

private:
    static constexpr std::int64_t no_height = std::numeric_limits<std::int64_t>::max();
    static constexpr std::size_t index(std::int32_t value) noexcept {
        return static_cast<std::size_t>(value);
    }

    struct plateau {
        std::int64_t height;
        std::int32_t left;
    };
    /// What is known of the plateau that starts at a section; as in skyline_engine.
    struct edge {
        std::int64_t height;
        std::int32_t right;
        std::int32_t previous;
    };
    struct higher {
        bool operator()(const plateau& a, const plateau& b) const noexcept {
            return a.height != b.height ? a.height > b.height : a.left > b.left;
        }
    };
    [[nodiscard]] edge& at(std::int32_t section) { return edges_[index(section)]; }

    /// True if the item is an obstacle: pinned, or in pieces.
    [[nodiscard]] bool stands(std::size_t i) const {
        return compact_.items[i].pinned() || compact_.pieces_of(i).size() > 1;
    }
    static section_range overlap(section_range a, section_range b) noexcept {
        return {std::max(a.first, b.first), std::min(a.last, b.last)};
    }
    /// `value` or the next multiple; -1 past 2^63 - 1.
    [[nodiscard]] static std::int64_t aligned(std::int64_t value, std::int64_t alignment) noexcept {
        const std::int64_t rest = value % alignment;
        std::int64_t result = value;
        if (rest != 0 && __builtin_add_overflow(value, alignment - rest, &result)) return -1;
        return result;
    }
    /// Floors are multiples of what divides all alignments, so that more of them are equal.
    [[nodiscard]] std::int64_t rounded(std::int64_t top) const noexcept {
        const std::int64_t result = aligned(top, compact_.alignment);
        return result < 0 ? no_height - 1 : result;
    }

    /// Offsets of what stands, which becomes the walls; an empty list if there are none to be had.
    std::vector<std::int64_t> set_walls(std::span<const std::uint32_t> ranked, std::int64_t limit,
                                        budget& account) {
        std::vector<std::uint32_t> in_pieces;
        for (const std::uint32_t i : ranked) {
            if (!compact_.items[i].pinned() && stands(i)) in_pieces.push_back(i);
        }
        std::vector<std::int64_t> offsets =
            place_in_order(problem_, compact_, in_pieces, fit::first, limit, account);
        if (offsets.size() != compact_.items.size()) return {};
        if (walls_set_ && in_pieces.empty()) {
            walls_.restart();
            return offsets;
        }
        std::vector<wall> walls;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            if (offsets[i] < 0) continue;
            for (const section_range& piece : compact_.pieces_of(i))
                walls.push_back({piece, offsets[i], offsets[i] + compact_.items[i].size});
        }
        walls_.assign(std::move(walls), compact_.count());
        walls_set_ = true;
        return offsets;
    }
    void start_run(std::span<const std::uint32_t> ranked) {
        entries_.resize(by_first_.size());
        for (std::size_t r = 0; r < ranked.size(); ++r) {
            const item& entry = compact_.items[ranked[r]];
            if (!stands(ranked[r]))
                entries_[position_[ranked[r]]] = {entry.range.last, static_cast<std::int32_t>(r), entry.size};
        }
        tree_.assign(entries_);
        by_rank_ = ranked;
        edges_.assign(index(compact_.count()) + 1, {no_height, 0, -1});
        heap_.clear();
        if (compact_.count() == 0) return;
        edges_[0] = {0, compact_.count(), -1};
        push(0);
    }
    void push(std::int32_t left) {
        heap_.push_back({at(left).height, left});
        std::push_heap(heap_.begin(), heap_.end(), higher{});
    }
    std::int32_t pop_lowest() {
        for (;;) {
            std::pop_heap(heap_.begin(), heap_.end(), higher{});
            const plateau lowest = heap_.back();
            heap_.pop_back();
            if (at(lowest.left).height == lowest.height) return lowest.left;
        }
    }
    [[nodiscard]] std::int64_t lower_neighbour(std::int32_t left, std::int32_t end) {
        const std::int32_t before = at(left).previous;
        return std::min(before >= 0 ? at(before).height : no_height, at(end).height);
    }
    [[nodiscard]] std::int32_t best_in(section_range range, std::int64_t room) {
        if (range.first >= range.last) return -1;
        return tree_.best(start_[index(range.first)], start_[index(range.last)], range.last, room);
    }
    /// True if the item of this rank, in a plateau at `height`, ends below all walls over it.
    [[nodiscard]] bool fits(std::int32_t rank, std::int64_t height) {
        const std::uint32_t i = by_rank_[index(rank)];
        const item& entry = compact_.items[i];
        const wall* over = walls_.lowest(entry.range, height);
        if (over == nullptr) return true;
        const std::int64_t offset = aligned(height, entry.alignment);
        return offset >= 0 && offset <= over->bottom && entry.size <= over->bottom - offset;
    }
    /// The best-ranked item that fits into the plateau: inside it, else of those on either side of the lowest
    /// wall and those small enough to lie below it. -1: none of these does.
    [[nodiscard]] std::int32_t choose(section_range whole, std::int64_t height, const wall* lowest) {
        const std::int32_t first = best_in(whole, no_height);
        if (first < 0 || lowest == nullptr || fits(first, height)) return first;
        std::int32_t found = -1;
        const auto consider = [&](std::int32_t rank) {
            if (rank >= 0 && (found < 0 || rank < found) && fits(rank, height)) found = rank;
        };
        consider(best_in({whole.first, lowest->range.first}, no_height));
        consider(best_in({lowest->range.last, whole.last}, no_height));
        consider(best_in(whole, lowest->bottom - height));
        return found;
    }
    /// Raises the sections `range` of the plateau that starts at `left` to `height`; the rest of it stays.
    void cover(std::int32_t left, section_range range, std::int64_t height) {
        const std::int32_t end = at(left).right;
        const std::int64_t base = at(left).height;
        std::int32_t before = at(left).previous;
        if (left < range.first) {
            at(left).right = range.first;
            push(left);
            before = left;
        }
        at(range.first) = {height, range.last, before};
        if (range.last < end) {
            at(range.last) = {base, end, range.first};
            push(range.last);
        }
        if (end < compact_.count()) at(end).previous = range.last < end ? range.last : range.first;
        push(join(range.first));
    }
    /// Joins a plateau with neighbours of its height; the left end of the result.
    std::int32_t join(std::int32_t left) {
        const std::int32_t k = compact_.count();
        const std::int64_t height = at(left).height;
        if (const std::int32_t next = at(left).right; next < k && at(next).height == height) {
            at(next).height = no_height;
            at(left).right = at(next).right;
            if (at(left).right < k) at(at(left).right).previous = left;
        }
        if (const std::int32_t before = at(left).previous; before >= 0 && at(before).height == height) {
            at(left).height = no_height;
            at(before).right = at(left).right;
            if (at(before).right < k) at(at(before).right).previous = before;
            return before;
        }
        return left;
    }

    const problem& problem_;
    const sections& compact_;
    std::vector<std::uint32_t> by_first_;  // items that do not stand, by (first section, last section, index)
    std::vector<std::uint32_t> position_;  // per such item: its place there
    std::vector<std::uint32_t> start_;     // per section: the first place whose item starts there or later
    std::span<const std::uint32_t> by_rank_;  // the ranking of this run
    std::vector<typename basic_sized_tree<Tag>::entry> entries_;
    basic_sized_tree<Tag> tree_;
    basic_rising_obstacles<Tag> walls_;
    bool walls_set_ = false;
    std::vector<edge> edges_;
    std::vector<plateau> heap_;
};
using obstacle_skyline = basic_obstacle_skyline<>;

}  // namespace stowage::layout::detail
