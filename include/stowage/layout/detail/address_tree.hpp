#pragma once
// The addresses in use per section, as a tree over sections: which addresses are free during a whole range of
// sections? Each node keeps the union of the address ranges that lie in some section below it and the union
// of those that cover it whole; a question reads O(log k) such unions side by side. There is no conflict
// graph: real instances have up to hundreds of millions of pairs of buffers that meet. Source:
// papers/layout.md, "Best fit and first fit".

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/layout/detail/sections.hpp>

namespace stowage::layout::detail {

/// Many sets of addresses, each of disjoint ranges in ascending order that do not touch. The ranges of all
/// sets lie in one block of memory, as most sets are small: a vector each would cost more to make and to
/// destroy than to use.
template <class = void>
class basic_address_sets {
public:
    struct run {
        std::int64_t lower;
        std::int64_t upper;
    };

    explicit basic_address_sets(std::size_t count) : sets_(count) {}

    /// The ranges of a set, until the next add().
    template <class Run = run>
    [[nodiscard]] std::span<const Run> runs(std::size_t set) const {
        return {pool_.data() + sets_[set].begin, sets_[set].count};
    }

    /// Adds [lower, upper) to a set; false if it was all there. O(log m + m') for m runs, m' of them above.
    bool add(std::size_t set, std::int64_t lower, std::int64_t upper) {
        place& here = sets_[set];
        run* const begin = pool_.data() + here.begin;
        run* const end = begin + here.count;
        run* const first = std::lower_bound(begin, end, lower,
                                            [](const run& r, std::int64_t value) { return r.upper < value; });
        if (first == end || first->lower > upper) {
            const auto at = static_cast<std::size_t>(first - begin);
            if (here.count == here.room) grow(here);
            run* const moved = pool_.data() + here.begin + at;
            std::copy_backward(moved, pool_.data() + here.begin + here.count,
                               pool_.data() + here.begin + here.count + 1);
            *moved = {lower, upper};
            ++here.count;
            return true;
        }
        if (first->lower <= lower && first->upper >= upper) return false;
        run* last = first;
        while (last != end && last->lower <= upper)
            ++last;
        first->lower = std::min(first->lower, lower);
        first->upper = std::max((last - 1)->upper, upper);
        std::copy(last, end, first + 1);
        here.count -= static_cast<std::uint32_t>(last - first) - 1;
        return true;
    }

private:
    struct place {
        std::size_t begin = 0;    // in the pool
        std::uint32_t count = 0;  // runs there
        std::uint32_t room = 0;   // for so many
    };
    /// Moves a set to twice its room; what it leaves goes to the next set that needs so much.
    void grow(place& here) {
        const std::uint32_t room = std::max<std::uint32_t>(1, 2 * here.room);
        const auto size_class = static_cast<std::size_t>(std::bit_width(room));
        if (left_.size() <= size_class) left_.resize(size_class + 1);
        std::size_t begin = pool_.size();
        if (left_[size_class].empty()) {
            pool_.resize(pool_.size() + room);
        } else {
            begin = left_[size_class].back();
            left_[size_class].pop_back();
        }
        std::copy_n(pool_.begin() + static_cast<std::ptrdiff_t>(here.begin), here.count,
                    pool_.begin() + static_cast<std::ptrdiff_t>(begin));
        if (here.room > 0) left_[size_class - 1].push_back(here.begin);
        here.begin = begin;
        here.room = room;
    }

    std::vector<place> sets_;
    std::vector<run> pool_;
    std::vector<std::vector<std::size_t>> left_;  // by bit width of the room: where it was given up
};
using address_sets = basic_address_sets<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_address_sets<>;
#endif

/// O(k) memory for k sections, plus at most O(log k) a placed range (far less where ranges join). Time of a
/// question: O(r log k) for the r runs of addresses that it passes. One thread at a time.
template <class = void>
class basic_address_tree {
public:
    explicit basic_address_tree(std::int32_t sections)
        : leaves_(std::bit_ceil(static_cast<std::size_t>(std::max(sections, 1)))), inside_(2 * leaves_),
          covering_(leaves_) {}

    /// Marks the addresses [lower, upper) as used in each of `ranges`.
    void add(std::span<const section_range> ranges, std::int64_t lower, std::int64_t upper) {
        for (const section_range& range : ranges) {
            for_each_node(range, [&](std::size_t x) {
                if (x < leaves_) covering_.add(x, lower, upper);
                // What is inside a node is inside those above it: the climb ends where it is known already.
                while (x >= 1 && inside_.add(x, lower, upper))
                    x /= 2;
            });
        }
    }

    /// The lowest offset that is a multiple of `alignment` such that [offset, offset + size) is free in all
    /// of `ranges`; -1 if it would pass 2^63 - 1.
    [[nodiscard]] std::int64_t lowest(std::span<const section_range> ranges, std::int64_t size,
                                      std::int64_t alignment) {
        gather(ranges);
        std::int64_t offset = 0;
        std::int64_t upper = size;
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t c = 0; c < cursors_.size();) {
                if (!skip_below(c, offset)) continue;
                if (cursors_[c].next->lower < upper) {
                    if (!align(cursors_[c].next->upper, alignment, offset)) return -1;
                    if (__builtin_add_overflow(offset, size, &upper)) return -1;
                    moved = true;
                }
                ++c;
            }
        }
        return offset;
    }

    /// The same in the smallest free stretch between used addresses (or below all of them) that is large
    /// enough, the lowest of several; above all of them if there is none.
    [[nodiscard]] std::int64_t snuggest(std::span<const section_range> ranges, std::int64_t size,
                                        std::int64_t alignment) {
        gather(ranges);
        std::int64_t best = -1;
        std::int64_t best_length = std::numeric_limits<std::int64_t>::max();
        for (std::int64_t from = 0;;) {
            std::int64_t to = std::numeric_limits<std::int64_t>::max();
            for (bool moved = true; moved;) {
                moved = false;
                to = std::numeric_limits<std::int64_t>::max();
                for (std::size_t c = 0; c < cursors_.size();) {
                    if (!skip_below(c, from)) continue;
                    if (cursors_[c].next->lower <= from) {
                        from = cursors_[c].next->upper;
                        moved = true;
                    } else {
                        to = std::min(to, cursors_[c].next->lower);
                        ++c;
                    }
                }
            }
            std::int64_t offset = 0;
            std::int64_t upper = 0;
            const bool fits = align(from, alignment, offset) && !__builtin_add_overflow(offset, size, &upper);
            if (cursors_.empty()) return best >= 0 ? best : fits ? offset : -1;
            if (fits && upper <= to && to - from < best_length) {
                best = offset;
                best_length = to - from;
                if (best_length == size) return best;
            }
            from = to;
        }
    }

    /// True if [lower, upper) is free in all of `ranges`.
    [[nodiscard]] bool is_free(std::span<const section_range> ranges, std::int64_t lower,
                               std::int64_t upper) {
        gather(ranges);
        for (std::size_t c = 0; c < cursors_.size();) {
            if (!skip_below(c, lower)) continue;
            if (cursors_[c].next->lower < upper) return false;
            ++c;
        }
        return true;
    }

    /// Number of runs looked at since the last call: a measure of the work done.
    [[nodiscard]] std::uint64_t take_steps() noexcept { return std::exchange(steps_, 0); }

private:
    struct cursor {
        const address_sets::run* next;
        const address_sets::run* end;
    };

    /// Calls `visit` for the O(log k) nodes that make up a range.
    template <class Visit>
    void for_each_node(section_range range, const Visit& visit) const {
        std::size_t l = static_cast<std::size_t>(range.first) + leaves_;
        std::size_t r = static_cast<std::size_t>(range.last) + leaves_;
        while (l < r) {
            if (l % 2 == 1) visit(l++);
            if (r % 2 == 1) visit(--r);
            l /= 2;
            r /= 2;
        }
    }

    /// Puts a cursor at the start of each union that counts for `ranges`.
    void gather(std::span<const section_range> ranges) {
        cursors_.clear();
        const auto take = [&](const address_sets& sets, std::size_t x) {
            const auto runs = sets.runs(x);
            if (!runs.empty()) cursors_.push_back({runs.data(), runs.data() + runs.size()});
        };
        for (const section_range& range : ranges) {
            for_each_node(range, [&](std::size_t x) { take(inside_, x); });
            std::size_t l = (static_cast<std::size_t>(range.first) + leaves_) / 2;
            std::size_t r = (static_cast<std::size_t>(range.last) - 1 + leaves_) / 2;
            for (; l != r; l /= 2, r /= 2) {
                take(covering_, l);
                take(covering_, r);
            }
            for (; l >= 1; l /= 2)
                take(covering_, l);
        }
    }

    /// Moves cursor `c` past the runs that end at or below `address`; false, and the cursor gone, if none is
    /// left.
    bool skip_below(std::size_t c, std::int64_t address) {
        cursor& here = cursors_[c];
        ++steps_;
        for (; here.next != here.end && here.next->upper <= address; ++here.next)
            ++steps_;
        if (here.next != here.end) return true;
        cursors_[c] = cursors_.back();
        cursors_.pop_back();
        return false;
    }

    static bool align(std::int64_t value, std::int64_t alignment, std::int64_t& aligned) {
        return !__builtin_add_overflow(value, stowage::detail::padding(value, alignment), &aligned);
    }

    std::size_t leaves_;
    address_sets inside_;    // per node: addresses used in some section below
    address_sets covering_;  // per inner node: addresses of the ranges that the node is a part of
    std::vector<cursor> cursors_;
    std::uint64_t steps_ = 0;
};
using address_tree = basic_address_tree<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_address_tree<>;
#endif

}  // namespace stowage::layout::detail
