#pragma once
// The state of the valley search: a floor per section, the blocks not placed yet, and the least offset that
// each of them can still have. Every change is on a trail and undone in reverse order. Source: issue notes on
// layout, "Valley search"; the floor view is that of the skyline (best-fit) heuristics for strip packing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stowage/layout/detail/strip.hpp>

namespace stowage::layout::detail {

/// Floors, live lists and least offsets with a trail. Memory is the sum of the blocks' widths; not
/// thread-safe.
template <class = void>
class basic_valley_state {
public:
    /// `blocks` must outlive the state; every block lies in [0, sections).
    basic_valley_state(std::span<const block> blocks, int sections)
        : blocks_(blocks), sections_(sections), members_(make_members(blocks, sections)),
          births_(make_births(blocks, sections)), groups_(group_by(blocks, false)),
          kinds_(group_by(blocks, true)) {
        loads_.assign(static_cast<std::size_t>(sections), 0);
        for (const block& b : blocks) {
            most_headroom_ = std::max(most_headroom_, b.headroom);
            for (int s = b.first; s < b.last; ++s)
                loads_[index(s)] += b.size;
        }
        reset(0);
    }
    /// Everything unplaced, all floors at 0. O(sum of widths).
    void reset(std::int64_t capacity) {
        capacity_ = capacity;
        clock_ = 1;
        floors_.assign(loads_.size(), 0);
        versions_.assign(loads_.size(), 0);
        remaining_ = loads_;
        members_.revive();
        births_.revive();
        least_.assign(blocks_.size(), 0);
        offsets_.assign(blocks_.size(), -1);
        below_.assign(blocks_.size(), -1);
        group_top_.assign(blocks_.size(), -1);
        crossing_.assign(loads_.size() + 1, 0);
        for (const block& b : blocks_) {
            for (int s = b.first + 1; s < b.last; ++s)
                ++crossing_[index(s)];
        }
        trail_.clear();
        unborn_.assign(loads_.size(), 0);
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            unborn_[index(blocks_[b].first)] ^= mixed(static_cast<std::uint64_t>(b));
        }
    }
    /// A hash of the unplaced blocks whose first section is this one.
    [[nodiscard]] std::uint64_t hash_from(int section) const { return unborn_[index(section)]; }
    /// Spreads the bits of a word.
    [[nodiscard]] static constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
        x += 0x9e3779b97f4a7c15U;
        x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31U);
    }

    [[nodiscard]] std::span<const block> blocks() const noexcept { return blocks_; }
    /// The largest headroom of all blocks.
    [[nodiscard]] std::int64_t most_headroom() const noexcept { return most_headroom_; }
    [[nodiscard]] int sections() const noexcept { return sections_; }
    [[nodiscard]] std::int64_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::int64_t load(int section) const { return loads_[index(section)]; }
    /// Height below which nothing more can be placed in this section.
    [[nodiscard]] std::int64_t floor(int section) const { return floors_[index(section)]; }
    /// Bytes of unplaced blocks over this section.
    [[nodiscard]] std::int64_t remaining(int section) const { return remaining_[index(section)]; }
    /// Bytes that this section can still waste.
    [[nodiscard]] std::int64_t slack(int section) const {
        return capacity_ - floors_[index(section)] - remaining_[index(section)];
    }
    /// Unplaced blocks that span the boundary left of `section`.
    [[nodiscard]] int crossing(int section) const { return crossing_[index(section)]; }
    /// Changes whenever the floor or the candidates of this section may have changed.
    [[nodiscard]] std::int64_t version(int section) const { return versions_[index(section)]; }
    /// The present moment on the scale of version().
    [[nodiscard]] std::int64_t clock() const noexcept { return clock_; }
    /// Unplaced blocks over this section.
    [[nodiscard]] std::span<const int> unplaced_over(int section) const { return members_.live(section); }
    /// Unplaced blocks whose first section is this one.
    [[nodiscard]] std::span<const int> unplaced_from(int section) const { return births_.live(section); }
    /// A lower bound on the offset of an unplaced block: the greatest floor of its range where the bound is
    /// used (else that is not kept up to date), and what forbid_below() said.
    [[nodiscard]] std::int64_t least(int b) const { return least_[index(b)]; }
    /// Where a placed block lies; negative while it is unplaced.
    [[nodiscard]] std::int64_t offset(int b) const { return offsets_[index(b)]; }
    [[nodiscard]] const std::vector<std::int64_t>& offsets() const noexcept { return offsets_; }
    /// Number shared by the blocks of equal range, size and headroom.
    [[nodiscard]] int kind(int b) const { return kinds_[index(b)]; }
    /// The block of the same range and headroom that b would lie directly on if placed at `height`; -1 if
    /// there is none.
    [[nodiscard]] int directly_below(int b, std::int64_t height) const {
        const int top = group_top_[index(groups_[index(b)])];
        return top >= 0 && offsets_[index(top)] + blocks_[index(top)].size == height ? top : -1;
    }
    /// Work done so far, in visits of list entries: for budgets.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }

    /// The section in which the bound last failed; -1: none did.
    [[nodiscard]] int overfull() const noexcept { return overfull_; }

    /// Position to give to undo().
    [[nodiscard]] std::size_t mark() const noexcept { return trail_.size(); }
    /// Takes back every change since the mark.
    void undo(std::size_t mark) {
        while (trail_.size() > mark) {
            const change entry = trail_.back();
            trail_.pop_back();
            switch (entry.what) {
                case change::placed: unplace(entry.index); break;
                case change::floor_set: set_floor(entry.index, entry.old); break;
                case change::least_set: least_[index(entry.index)] = entry.old; break;
                case change::touched: versions_[index(entry.index)] = ++clock_; break;
            }
        }
    }

    /// Places b at `height`, the floor of its whole range. False if that leaves no layout within the
    /// capacity.
    bool place(int b, std::int64_t height, bool use_bound) {
        const block& item = blocks_[index(b)];
        offsets_[index(b)] = height;
        trail_.push_back({change::placed, b, 0});
        int& group_top = group_top_[index(groups_[index(b)])];
        below_[index(b)] = group_top;
        group_top = b;
        overfull_ = -1;
        const bool fits = item.size <= capacity_ - item.headroom - height;
        const std::int64_t top = fits ? height + item.size : capacity_;
        ++clock_;
        bool tight = false;
        for (int s = item.first; s < item.last; ++s) {
            members_.remove(s, b);
            remaining_[index(s)] -= item.size;
            tight = tight || remaining_[index(s)] > capacity_ - top;
            floors_[index(s)] = top;
            versions_[index(s)] = clock_;
        }
        for (int s = item.first + 1; s < item.last; ++s)
            --crossing_[index(s)];
        births_.remove(item.first, b);
        unborn_[index(item.first)] ^= mixed(static_cast<std::uint64_t>(b));
        work_ += static_cast<std::uint64_t>(item.last - item.first);
        if (!fits || tight) return false;
        if (!use_bound) return true;
        begin(top);
        for (const int j : members_.live(item.first))
            lift(j, top);
        for (int s = item.first + 1; s < item.last; ++s) {
            for (const int j : births_.live(s))
                lift(j, top);
        }
        return check();
    }
    /// Raises the floor of one section. False if that leaves no layout within the capacity.
    bool raise(int section, std::int64_t height, bool use_bound) {
        trail_.push_back({change::floor_set, section, floors_[index(section)]});
        set_floor(section, height);
        overfull_ = section;
        if (remaining_[index(section)] > capacity_ - height) return false;
        overfull_ = -1;
        if (!use_bound) return true;
        begin(height);
        for (const int j : members_.live(section))
            lift(j, height);
        return check();
    }
    /// Rules out offsets below `height` for an unplaced block. False if that leaves no layout within the
    /// capacity.
    bool forbid_below(int b, std::int64_t height, bool use_bound) {
        if (least_[index(b)] >= height) return true;
        begin(height);
        lift(b, height);
        const int first = blocks_[index(b)].first;
        trail_.push_back({change::touched, first, 0});
        versions_[index(first)] = ++clock_;
        return !use_bound || check();
    }

private:
    struct change {
        enum kind : std::uint8_t { placed, floor_set, least_set, touched } what;
        int index;
        std::int64_t old;
    };
    /// Lists of blocks, one a section, whose first entries are alive; removals are undone in reverse order.
    struct live_lists {
        std::vector<std::size_t> begin;
        std::vector<int> entries;
        std::vector<int> count;
        [[nodiscard]] std::span<const int> live(int s) const {
            return {entries.data() + begin[index(s)], index(count[index(s)])};
        }
        [[nodiscard]] std::span<int> live(int s) {
            return {entries.data() + begin[index(s)], index(count[index(s)])};
        }
        void remove(int s, int b) {
            int* at = entries.data() + begin[index(s)];
            int* const end = at + --count[index(s)];
            while (*at != b)
                ++at;
            std::swap(*at, *end);
        }
        void revive() {
            for (std::size_t s = 0; s < count.size(); ++s)
                count[s] = static_cast<int>(begin[s + 1] - begin[s]);
        }
    };
    [[nodiscard]] static constexpr std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }

    template <class Range>
    static live_lists make_lists(std::span<const block> blocks, int sections, Range range) {
        live_lists lists;
        lists.begin.assign(index(sections) + 1, 0);
        for (const block& b : blocks) {
            const auto [from, to] = range(b);
            for (int s = from; s < to; ++s)
                ++lists.begin[index(s) + 1];
        }
        std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
        lists.entries.resize(lists.begin.back());
        lists.count.assign(index(sections), 0);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const auto [from, to] = range(blocks[i]);
            for (int s = from; s < to; ++s) {
                lists.entries[lists.begin[index(s)] + index(lists.count[index(s)]++)] = static_cast<int>(i);
            }
        }
        return lists;
    }
    static live_lists make_members(std::span<const block> blocks, int sections) {
        return make_lists(blocks, sections, [](const block& b) { return std::pair(b.first, b.last); });
    }
    static live_lists make_births(std::span<const block> blocks, int sections) {
        return make_lists(blocks, sections, [](const block& b) { return std::pair(b.first, b.first + 1); });
    }
    /// Numbers the blocks so that equal ranges and headrooms (and sizes) get equal numbers.
    static std::vector<int> group_by(std::span<const block> blocks, bool with_size) {
        std::vector<int> order(blocks.size());
        std::iota(order.begin(), order.end(), 0);
        const auto compare = [&](int a, int b) {
            const block& x = blocks[index(a)];
            const block& y = blocks[index(b)];
            if (x.first != y.first) return x.first < y.first ? -1 : 1;
            if (x.last != y.last) return x.last < y.last ? -1 : 1;
            if (x.headroom != y.headroom) return x.headroom < y.headroom ? -1 : 1;
            if (with_size && x.size != y.size) return x.size < y.size ? -1 : 1;
            return 0;
        };
        std::sort(order.begin(), order.end(), [&](int a, int b) {
            const int c = compare(a, b);
            return c != 0 ? c < 0 : a < b;
        });
        std::vector<int> number(blocks.size());
        int last = -1;
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k == 0 || compare(order[k - 1], order[k]) != 0) ++last;
            number[index(order[k])] = last;
        }
        return number;
    }

    void set_floor(int section, std::int64_t height) {
        floors_[index(section)] = height;
        versions_[index(section)] = ++clock_;
    }
    void unplace(int b) {
        const block& item = blocks_[index(b)];
        ++clock_;
        for (int s = item.first; s < item.last; ++s) {
            ++members_.count[index(s)];
            remaining_[index(s)] += item.size;
            floors_[index(s)] = offsets_[index(b)];
            versions_[index(s)] = clock_;
        }
        for (int s = item.first + 1; s < item.last; ++s)
            ++crossing_[index(s)];
        ++births_.count[index(item.first)];
        unborn_[index(item.first)] ^= mixed(static_cast<std::uint64_t>(b));
        group_top_[index(groups_[index(b)])] = below_[index(b)];
        offsets_[index(b)] = -1;
    }
    void begin(std::int64_t height) {
        changed_from_ = sections_;
        changed_to_ = 0;
        changed_to_height_ = height;
    }
    void lift(int b, std::int64_t height) {
        ++work_;
        std::int64_t& least = least_[index(b)];
        if (least >= height) return;
        trail_.push_back({change::least_set, b, least});
        least = height;
        changed_from_ = std::min(changed_from_, blocks_[index(b)].first);
        changed_to_ = std::max(changed_to_, blocks_[index(b)].last);
    }
    /// In each section, for each unplaced block j: all unplaced blocks k with least(k) >= least(j) lie at or
    /// above least(j), one on another, so least(j) + the sum of their sizes must not pass the capacity. Only
    /// the sections of the blocks just lifted can break this anew, and only where the last height + what
    /// remains passes it.
    bool check() {
        const std::int64_t room = capacity_ - changed_to_height_;
        for (int s = changed_from_; s < changed_to_; ++s) {
            if (remaining_[index(s)] > room && !stacks_up(s)) {
                overfull_ = s;
                return false;
            }
        }
        return true;
    }
    bool stacks_up(int section) {
        const std::span<int> items = members_.live(section);
        work_ += items.size();
        // The list stays nearly sorted from one visit to the next.
        for (std::size_t a = 1; a < items.size(); ++a) {
            const int item = items[a];
            const std::int64_t height = least_[index(item)];
            std::size_t b = a;
            for (; b > 0 && least_[index(items[b - 1])] < height; --b)
                items[b] = items[b - 1];
            items[b] = item;
        }
        std::int64_t sum = 0;
        for (const int item : items) {
            sum += blocks_[index(item)].size;
            if (sum > capacity_ - least_[index(item)]) return false;
        }
        return true;
    }

    std::span<const block> blocks_;
    int sections_;
    live_lists members_;
    live_lists births_;
    std::vector<int> groups_;
    std::vector<int> kinds_;
    std::vector<std::int64_t> loads_;
    std::int64_t capacity_ = 0;
    std::int64_t most_headroom_ = 0;
    std::int64_t clock_ = 1;
    std::uint64_t work_ = 0;
    std::vector<std::int64_t> floors_;
    std::vector<std::int64_t> versions_;
    std::vector<std::int64_t> remaining_;
    std::vector<std::int64_t> least_;
    std::vector<std::int64_t> offsets_;
    std::vector<int> below_;      // the block of the same range placed before this one
    std::vector<int> group_top_;  // the block of a range that was placed last
    std::vector<int> crossing_;
    std::vector<std::uint64_t> unborn_;
    std::vector<change> trail_;
    int overfull_ = -1;
    int changed_from_ = 0;
    int changed_to_ = 0;
    std::int64_t changed_to_height_ = 0;
};
using valley_state = basic_valley_state<>;

}  // namespace stowage::layout::detail
