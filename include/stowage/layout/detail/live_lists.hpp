#pragma once
// Lists of blocks, one a section, from which blocks are taken and given back in reverse order; and numbers
// for blocks that are alike. Both serve the state of the valley search.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stowage/layout/detail/strip.hpp>

namespace stowage::layout::detail {

/// Lists whose first entries are alive; removals are undone in reverse order. O(sum of the ranges) memory.
template <class = void>
class basic_live_lists {
public:
    /// `range(b)` is the pair of first section and the one after the last in whose lists block b is.
    template <class Range>
    basic_live_lists(const std::vector<block>& blocks, int sections, Range range)
        : begin_(at(sections) + 1, 0), count_(at(sections), 0) {
        for (const block& b : blocks) {
            const auto [from, to] = range(b);
            for (int s = from; s < to; ++s)
                ++begin_[at(s) + 1];
        }
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        entries_.resize(begin_.back());
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const auto [from, to] = range(blocks[i]);
            for (int s = from; s < to; ++s) {
                entries_[begin_[at(s)] + at(count_[at(s)]++)] = static_cast<int>(i);
            }
        }
    }
    /// The blocks alive in a section's list.
    [[nodiscard]] std::span<const int> live(int s) const {
        return {entries_.data() + begin_[at(s)], at(count_[at(s)])};
    }
    /// The same, to be put into another order.
    [[nodiscard]] std::span<int> live(int s) { return {entries_.data() + begin_[at(s)], at(count_[at(s)])}; }
    /// Takes b, which must be alive there, from a section's list. O(length of the list).
    void remove(int s, int b) {
        int* place = entries_.data() + begin_[at(s)];
        int* const end = place + --count_[at(s)];
        while (*place != b)
            ++place;
        std::swap(*place, *end);
    }
    /// Gives back what was taken last from a section's list.
    void restore(int s) { ++count_[at(s)]; }
    /// Gives back everything.
    void revive() {
        for (std::size_t s = 0; s < count_.size(); ++s)
            count_[s] = static_cast<int>(begin_[s + 1] - begin_[s]);
    }

private:
    [[nodiscard]] static constexpr std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

    std::vector<std::size_t> begin_;
    std::vector<int> entries_;
    std::vector<int> count_;
};
using live_lists = basic_live_lists<>;

/// Sorts by descending height, in time linear in what is out of order.
template <class Height>
void sort_nearly_sorted(std::span<int> items, Height height_of) {
    for (std::size_t a = 1; a < items.size(); ++a) {
        const int item = items[a];
        const std::int64_t height = height_of(item);
        std::size_t b = a;
        for (; b > 0 && height_of(items[b - 1]) < height; --b)
            items[b] = items[b - 1];
        items[b] = item;
    }
}

/// Numbers the blocks so that those that may be exchanged get equal numbers: equal ranges, headrooms and
/// alignments; and equal sizes too, or sizes that keep what lies on them aligned. A block that is pinned or
/// has several pieces is like no other. O(n log n).
template <class = void>
[[nodiscard]] std::vector<int> number_alike(const std::vector<block>& blocks, bool with_size) {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    std::vector<int> order(blocks.size());
    std::iota(order.begin(), order.end(), 0);
    const auto compare = [&](int a, int b) {
        const block& x = blocks[at(a)];
        const block& y = blocks[at(b)];
        if (x.first != y.first) return x.first < y.first ? -1 : 1;
        if (x.last != y.last) return x.last < y.last ? -1 : 1;
        if (x.headroom != y.headroom) return x.headroom < y.headroom ? -1 : 1;
        if (x.alignment != y.alignment) return x.alignment < y.alignment ? -1 : 1;
        if (with_size && x.size != y.size) return x.size < y.size ? -1 : 1;
        return 0;
    };
    const auto alone = [&](int a) {
        const block& b = blocks[at(a)];
        return b.pinned() || b.other >= 0 || (!with_size && b.size % b.alignment != 0);
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const int c = compare(a, b);
        return c != 0 ? c < 0 : a < b;
    });
    // Those that are like no other may lie between some that are: these keep the number of the first.
    std::vector<int> number(blocks.size());
    int last = -1;
    int shared = -1;
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k == 0 || compare(order[k - 1], order[k]) != 0) shared = -1;
        if (alone(order[k])) {
            number[at(order[k])] = ++last;
        } else {
            if (shared < 0) shared = ++last;
            number[at(order[k])] = shared;
        }
    }
    return number;
}

}  // namespace stowage::layout::detail
