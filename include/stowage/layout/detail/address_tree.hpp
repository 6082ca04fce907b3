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

#include <stowage/layout/detail/sections.hpp>

namespace stowage::layout::detail {

/// A set of addresses: disjoint ranges in ascending order that do not touch.
template <class = void>
class basic_address_set {
public:
    struct run {
        std::int64_t lower;
        std::int64_t upper;
    };

    [[nodiscard]] const std::vector<run>& runs() const noexcept { return runs_; }

    /// Adds [lower, upper); false if it was all there. O(log m + m') for m runs, m' of them above.
    bool add(std::int64_t lower, std::int64_t upper) {
        const auto first = std::lower_bound(runs_.begin(), runs_.end(), lower,
                                            [](const run& r, std::int64_t value) { return r.upper < value; });
        if (first == runs_.end() || first->lower > upper) {
            runs_.insert(first, {lower, upper});
            return true;
        }
        if (first->lower <= lower && first->upper >= upper) return false;
        auto last = first;
        while (last != runs_.end() && last->lower <= upper)
            ++last;
        first->lower = std::min(first->lower, lower);
        first->upper = std::max((last - 1)->upper, upper);
        runs_.erase(first + 1, last);
        return true;
    }

private:
    std::vector<run> runs_;
};
using address_set = basic_address_set<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_address_set<>;
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
                if (x < leaves_) covering_[x].add(lower, upper);
                // What is inside a node is inside those above it: the climb ends where it is known already.
                while (x >= 1 && inside_[x].add(lower, upper))
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
        const address_set::run* next;
        const address_set::run* end;
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
        const auto take = [&](const address_set& set) {
            const std::vector<address_set::run>& runs = set.runs();
            if (!runs.empty()) cursors_.push_back({runs.data(), runs.data() + runs.size()});
        };
        for (const section_range& range : ranges) {
            for_each_node(range, [&](std::size_t x) { take(inside_[x]); });
            std::size_t l = (static_cast<std::size_t>(range.first) + leaves_) / 2;
            std::size_t r = (static_cast<std::size_t>(range.last) - 1 + leaves_) / 2;
            for (; l != r; l /= 2, r /= 2) {
                take(covering_[l]);
                take(covering_[r]);
            }
            for (; l >= 1; l /= 2)
                take(covering_[l]);
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
        const std::int64_t rest = value % alignment;
        aligned = value;
        return rest == 0 || !__builtin_add_overflow(value, alignment - rest, &aligned);
    }

    std::size_t leaves_;
    std::vector<address_set> inside_;    // per node: addresses used in some section below
    std::vector<address_set> covering_;  // per inner node: addresses of the ranges that the node is a part of
    std::vector<cursor> cursors_;
    std::uint64_t steps_ = 0;
};
using address_tree = basic_address_tree<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_address_tree<>;
#endif

}  // namespace stowage::layout::detail
