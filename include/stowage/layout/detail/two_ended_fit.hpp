#pragma once
// Places buffers in the order of their births within an arena of given size, each at the lowest or at the
// highest place where it fits.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/layout/detail/item_lives.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// The addresses of an arena as a list of cells, each free or held by an item. A place is looked for in the
/// first cells from either end only, so that a buffer costs O(1). One thread at a time.
template <class = void>
class basic_two_ended_fit {
public:
    /// Both must outlive this. The problem has neither pins nor gaps.
    basic_two_ended_fit(const problem& problem, const sections& compact)
        : compact_(compact), lives_(lives_of_items(problem, compact)) {}

    /// Offsets by item, none above `capacity` with its size; an empty list if an item finds no place or the
    /// account runs out. A unit of the account is spent every 8 items.
    [[nodiscard]] std::vector<std::int64_t> run(std::int64_t capacity, budget& account) {
        cells_.assign(1, {0, capacity, nobody, none, none});
        unused_.clear();
        first_ = last_ = 0;
        cell_of_.assign(compact_.items.size(), none);
        std::vector<std::int64_t> offsets(compact_.items.size(), -1);
        std::size_t dead = 0;
        for (std::size_t k = 0; k < lives_.births.size(); ++k) {
            const std::uint32_t i = lives_.births[k];
            if (k % 8 == 0 && !account.spend()) return {};
            for (; lives_.upper[lives_.deaths[dead]] <= lives_.lower[i]; ++dead)
                release(cell_of_[lives_.deaths[dead]]);
            const std::int64_t offset = place(i);
            if (offset < 0) return {};
            offsets[i] = offset;
        }
        return offsets;
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t nobody = none;  // holds a free cell
    static constexpr int most_cells = 32;          // looked at from either end

    struct cell {
        std::int64_t lower;
        std::int64_t upper;
        std::uint32_t holder;
        std::uint32_t before;
        std::uint32_t after;
    };

    /// When the holder of a cell beside a place dies; the end of the arena never does.
    [[nodiscard]] std::int64_t end_of(std::uint32_t beside) const {
        if (beside == none) return std::numeric_limits<std::int64_t>::max();
        return lives_.upper[cells_[beside].holder];
    }
    /// Places item `i` beside what outlives the other neighbour; its offset, or -1.
    [[nodiscard]] std::int64_t place(std::uint32_t i) {
        const item& entry = compact_.items[i];
        std::int64_t low = -1;
        std::uint32_t low_cell = first_;
        for (int looked = 0; low_cell != none && looked < most_cells; ++looked) {
            const cell& c = cells_[low_cell];
            const std::int64_t pad = stowage::detail::padding(c.lower, entry.alignment);
            if (c.holder == nobody && c.upper - c.lower >= entry.size &&
                c.upper - c.lower - entry.size >= pad) {
                low = c.lower + pad;
                break;
            }
            low_cell = c.after;
        }
        std::int64_t high = -1;
        std::uint32_t high_cell = last_;
        for (int looked = 0; high_cell != none && looked < most_cells; ++looked) {
            const cell& c = cells_[high_cell];
            if (c.holder == nobody && c.upper - c.lower >= entry.size) {
                const std::int64_t offset = c.upper - entry.size;
                if (offset - offset % entry.alignment >= c.lower) {
                    high = offset - offset % entry.alignment;
                    break;
                }
            }
            high_cell = c.before;
        }
        if (low < 0 && high < 0) return -1;
        const bool above =
            low < 0 || (high >= 0 && end_of(cells_[high_cell].after) > end_of(cells_[low_cell].before));
        if (above) {
            hold(high_cell, high, i);
            return high;
        }
        hold(low_cell, low, i);
        return low;
    }
    /// Gives item `i` its bytes from `offset` on out of a free cell.
    void hold(std::uint32_t free, std::int64_t offset, std::uint32_t i) {
        const std::int64_t end = offset + compact_.items[i].size;
        if (cells_[free].lower < offset) {
            const std::uint32_t rest = make_before(free);
            cells_[rest].lower = cells_[free].lower;
            cells_[rest].upper = offset;
        }
        if (end < cells_[free].upper) {
            const std::uint32_t held = make_before(free);
            cells_[held] = {offset, end, i, cells_[held].before, free};
            cells_[free].lower = end;
            cell_of_[i] = held;
            return;
        }
        cells_[free].lower = offset;
        cells_[free].holder = i;
        cell_of_[i] = free;
    }
    /// A new free cell before another one.
    [[nodiscard]] std::uint32_t make_before(std::uint32_t next) {
        std::uint32_t made = static_cast<std::uint32_t>(cells_.size());
        if (unused_.empty()) {
            cells_.emplace_back();
        } else {
            made = unused_.back();
            unused_.pop_back();
        }
        const std::uint32_t before = cells_[next].before;
        cells_[made] = {0, 0, nobody, before, next};
        (before == none ? first_ : cells_[before].after) = made;
        cells_[next].before = made;
        return made;
    }
    /// Makes a cell free and joins it with free neighbours.
    void release(std::uint32_t here) {
        cells_[here].holder = nobody;
        const std::uint32_t before = cells_[here].before;
        if (before != none && cells_[before].holder == nobody) {
            cells_[here].lower = cells_[before].lower;
            drop(before);
        }
        const std::uint32_t after = cells_[here].after;
        if (after != none && cells_[after].holder == nobody) {
            cells_[here].upper = cells_[after].upper;
            drop(after);
        }
    }
    void drop(std::uint32_t gone) {
        const cell& c = cells_[gone];
        (c.before == none ? first_ : cells_[c.before].after) = c.after;
        (c.after == none ? last_ : cells_[c.after].before) = c.before;
        unused_.push_back(gone);
    }

    const sections& compact_;
    item_lives lives_;
    std::vector<cell> cells_;
    std::vector<std::uint32_t> unused_;
    std::vector<std::uint32_t> cell_of_;  // by item
    std::uint32_t first_ = 0;
    std::uint32_t last_ = 0;
};
using two_ended_fit = basic_two_ended_fit<>;

}  // namespace stowage::layout::detail
