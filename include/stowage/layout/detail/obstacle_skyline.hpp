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
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/layout/detail/fit_engine.hpp>
#include <stowage/layout/detail/items_by_first.hpp>
#include <stowage/layout/detail/plateaus.hpp>
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
        : problem_(problem), compact_(compact),
          starts_(compact, [this](std::uint32_t i) { return !stands(i); }) {}

    /// Lays out: `ranked` lists all items, the best first. Offsets by item, or an empty list if the account
    /// runs out, the limit is reached or 2^63 - 1 passed. Throws like place_in_order.
    [[nodiscard]] std::vector<std::int64_t> run(std::span<const std::uint32_t> ranked, std::int64_t limit,
                                                budget& account) {
        std::vector<std::int64_t> offsets = set_walls(ranked, limit, account);
        if (offsets.empty()) return {};
        start_run(ranked);
        std::size_t left = starts_.items.size();
        for (std::uint32_t step = 1; left > 0; ++step) {
            if (step % 4 == 0 && !account.spend()) return {};
            const std::int32_t valley = skyline_.pop();
            const std::int64_t height = skyline_.height(valley);
            const section_range whole{valley, skyline_.end(valley)};
            const wall* lowest = walls_.lowest(whole, height);
            if (lowest != nullptr && lowest->bottom == height) {
                skyline_.cover(valley, overlap(lowest->range, whole), rounded(lowest->top));
                continue;
            }
            const std::int32_t place = choose(whole, height, lowest);
            if (place < 0) {
                const std::int64_t ceiling = skyline_.lower_neighbour(valley);
                if (lowest == nullptr) {
                    skyline_.cover(valley, whole, ceiling);
                } else {
                    skyline_.cover(valley, overlap(lowest->range, whole),
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
            tree_.remove(starts_.position[chosen]);
            skyline_.cover(valley, entry.range, rounded(top));
            --left;
        }
        return offsets;
    }

private:
    static constexpr std::int64_t no_height = basic_plateaus<Tag>::no_height;
    static constexpr std::size_t index(std::int32_t value) noexcept {
        return static_cast<std::size_t>(value);
    }

    /// True if the item is an obstacle: pinned, or in pieces.
    [[nodiscard]] bool stands(std::size_t i) const {
        return compact_.items[i].pinned() || compact_.pieces_of(i).size() > 1;
    }
    static section_range overlap(section_range a, section_range b) noexcept {
        return {std::max(a.first, b.first), std::min(a.last, b.last)};
    }
    /// `value` or the next multiple; -1 past 2^63 - 1.
    [[nodiscard]] static std::int64_t aligned(std::int64_t value, std::int64_t alignment) noexcept {
        std::int64_t result = 0;
        return __builtin_add_overflow(value, stowage::detail::padding(value, alignment), &result) ? -1
                                                                                                  : result;
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
        entries_.resize(starts_.items.size());
        for (std::size_t r = 0; r < ranked.size(); ++r) {
            const item& entry = compact_.items[ranked[r]];
            if (!stands(ranked[r]))
                entries_[starts_.position[ranked[r]]] = {entry.range.last, static_cast<std::int32_t>(r),
                                                         entry.size};
        }
        tree_.assign(entries_);
        by_rank_ = ranked;
        skyline_.reset(compact_.count());
    }
    [[nodiscard]] std::int32_t best_in(section_range range, std::int64_t room) {
        if (range.first >= range.last) return -1;
        return tree_.best(starts_.from(range.first), starts_.from(range.last), range.last, room);
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

    const problem& problem_;
    const sections& compact_;
    basic_items_by_first<Tag> starts_;        // of the items that do not stand
    std::span<const std::uint32_t> by_rank_;  // the ranking of this run
    std::vector<typename basic_sized_tree<Tag>::entry> entries_;
    basic_sized_tree<Tag> tree_;
    basic_rising_obstacles<Tag> walls_;
    bool walls_set_ = false;
    basic_plateaus<Tag> skyline_;
};
using obstacle_skyline = basic_obstacle_skyline<>;

}  // namespace stowage::layout::detail
