#pragma once
// The state of the valley search: a floor per section, the blocks not placed yet, what is pinned above the
// floors, and the least offset that each block can still have. Every change is on a trail and undone in
// reverse order. Source: issue notes on layout, "Valley search"; the floor view is that of the skyline
// (best-fit) heuristics for strip packing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/live_lists.hpp>
#include <stowage/layout/detail/obstacles.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_floors.hpp>

namespace stowage::layout::detail {

/// Floors, live lists and least offsets with a trail. Memory is the sum of the blocks' widths; not
/// thread-safe.
template <class = void>
class basic_valley_state {
public:
    /// `blocks` must outlive the state; every block lies in [0, sections).
    basic_valley_state(const std::vector<block>& blocks, int sections)
        : blocks_(blocks), sections_(sections),
          members_(blocks, sections,
                   [](const block& b) { return std::pair(b.first, b.pinned() ? b.first : b.last); }),
          births_(blocks, sections,
                  [](const block& b) { return std::pair(b.first, b.first + (b.pinned() ? 0 : 1)); }),
          groups_(number_alike(blocks, false)), kinds_(number_alike(blocks, true)),
          floors_(blocks, sections) {
        for (const block& b : blocks) {
            most_headroom_ = std::max(most_headroom_, b.headroom);
            linked_ = linked_ || b.other >= 0;
        }
        // Of each ring of pieces the one of the least number, so the first that is met.
        first_piece_.assign(blocks.size(), 1);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (first_piece_[i] != 0)
                each_other_piece(static_cast<int>(i), [&](int k) { first_piece_[index(k)] = 0; });
        }
        reset(0);
    }
    /// Everything unplaced, all floors at 0. False if a pinned block does not fit within the capacity or
    /// meets another. O(sum of widths).
    bool reset(std::int64_t capacity) {
        if (linked_) undo(0);  // takes away the obstacles that are not pinned
        trail_.clear();
        capacity_ = capacity;
        floors_.reset();
        members_.revive();
        births_.revive();
        least_.assign(blocks_.size(), 0);
        offsets_.assign(blocks_.size(), -1);
        bases_.assign(blocks_.size(), 0);
        below_.assign(blocks_.size(), -1);
        group_top_.assign(blocks_.size(), -1);
        crossing_.assign(index(sections_) + 1, 0);
        unborn_.assign(index(sections_), 0);
        bool fits = floors_.possible();
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const block& b = blocks_[i];
            if (b.pinned()) {
                offsets_[i] = b.pin;
                fits = fits && b.size <= capacity - b.headroom && b.pin <= capacity - b.headroom - b.size;
                continue;
            }
            if (first_piece_[i] != 0) cross(static_cast<int>(i), 1);
            unborn_[index(b.first)] ^= hash_of(static_cast<int>(i));
        }
        if (plain()) return fits;
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            if (!blocks_[i].pinned()) least_[i] = first_free(static_cast<int>(i), 0);
        }
        return fits;
    }
    /// A hash of the unplaced blocks whose first section is this one.
    [[nodiscard]] std::uint64_t hash_from(int section) const { return unborn_[index(section)]; }
    [[nodiscard]] const std::vector<block>& blocks() const noexcept { return blocks_; }
    /// True if ranges and sizes are all that matters: nothing is pinned, in pieces or aligned to some units.
    [[nodiscard]] bool plain() const noexcept { return floors_.plain(); }
    /// True if some buffer is in pieces: then what is placed in one section can stand in the way elsewhere.
    [[nodiscard]] bool linked() const noexcept { return linked_; }
    /// True if something is left to place over this section.
    [[nodiscard]] bool busy(int section) const { return !members_.live(section).empty(); }
    /// What is pinned above the floors; empty if plain().
    [[nodiscard]] const obstacles& above() const noexcept { return floors_.above(); }
    /// The largest headroom of all blocks.
    [[nodiscard]] std::int64_t most_headroom() const noexcept { return most_headroom_; }
    [[nodiscard]] int sections() const noexcept { return sections_; }
    [[nodiscard]] std::int64_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::int64_t load(int section) const { return floors_.load(section); }
    /// Height below which nothing more can be placed in this section.
    [[nodiscard]] std::int64_t floor(int section) const { return floors_.height(section); }
    /// Bytes of unplaced blocks over this section, and of what is pinned above its floor.
    [[nodiscard]] std::int64_t remaining(int section) const { return floors_.remaining(section); }
    /// Bytes that this section can still waste.
    [[nodiscard]] std::int64_t slack(int section) const {
        return capacity_ - floor(section) - remaining(section);
    }
    /// Unplaced blocks that span the boundary left of `section`.
    [[nodiscard]] int crossing(int section) const { return crossing_[index(section)]; }
    /// Changes whenever the floor or the candidates of this section may have changed.
    [[nodiscard]] std::int64_t version(int section) const { return floors_.version(section); }
    /// The present moment on the scale of version().
    [[nodiscard]] std::int64_t clock() const noexcept { return floors_.clock(); }
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
        return top >= 0 &&
                       offsets_[index(top)] + blocks_[index(top)].size == blocks_[index(b)].aligned(height)
                   ? top
                   : -1;
    }
    /// True if b, whose range has its floor at `height`, can lie on it: aligned, below all obstacles, and
    /// with its other pieces on or above the floors there.
    [[nodiscard]] bool can_lie(int b, std::int64_t height) const {
        const std::int64_t spot = blocks_[index(b)].aligned(height);
        return least_[index(b)] <= spot && free_from(b, spot) == spot;
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
                case change::floor_set:
                    floors_.tick();
                    floors_.lower(entry.index, entry.old);
                    break;
                case change::least_set: least_[index(entry.index)] = entry.old; break;
                case change::touched:
                    floors_.tick();
                    floors_.touch(entry.index);
                    break;
            }
        }
    }

    /// Places b at the first offset from `height`, the floor of its whole range, that its alignment allows.
    /// False if that leaves no layout within the capacity.
    bool place(int b, std::int64_t height, bool use_bound) {
        const block& item = blocks_[index(b)];
        const std::int64_t spot = item.aligned(height);
        offsets_[index(b)] = spot;
        bases_[index(b)] = height;
        trail_.push_back({change::placed, b, 0});
        int& group_top = group_top_[index(groups_[index(b)])];
        below_[index(b)] = group_top;
        group_top = b;
        overfull_ = -1;
        const bool fits = item.size <= capacity_ - item.headroom - spot;
        const std::int64_t top = fits ? spot + item.size : std::max(capacity_, spot);
        floors_.tick();
        bool tight = false;
        for (int s = item.first; s < item.last; ++s) {
            members_.remove(s, b);
            floors_.take(s, item.size);
            tight = tight || remaining(s) > capacity_ - top;
            floors_.raise(s, top);
        }
        cross(b, -1);
        births_.remove(item.first, b);
        unborn_[index(item.first)] ^= hash_of(b);
        work_ += static_cast<std::uint64_t>(item.last - item.first);
        each_other_piece(b, [&](int k) { pin_piece(k, spot, top); });
        if (!fits || tight) return false;
        if (!use_bound) return true;
        begin(top);
        lift_over(item, top);
        each_other_piece(b, [&](int k) { lift_over(blocks_[index(k)], 0); });
        return check();
    }
    /// Raises the floor of one section. False if that leaves no layout within the capacity.
    bool raise(int section, std::int64_t height, bool use_bound) {
        trail_.push_back({change::floor_set, section, floor(section)});
        floors_.tick();
        height = floors_.raise(section, height);
        overfull_ = section;
        if (remaining(section) > capacity_ - height) return false;
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
        floors_.tick();
        floors_.touch(first);
        return !use_bound || check();
    }

private:
    struct change {
        enum kind : std::uint8_t { placed, floor_set, least_set, touched } what;
        int index;
        std::int64_t old;
    };
    [[nodiscard]] static constexpr std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }
    [[nodiscard]] static constexpr std::uint64_t hash_of(int b) noexcept {
        return stowage::detail::splitmix64(index(b))();
    }

    /// Calls body(k) for the other pieces of b's buffer.
    template <class Body>
    void each_other_piece(int b, const Body& body) const {
        for (int k = blocks_[index(b)].other; k >= 0 && k != b; k = blocks_[index(k)].other)
            body(k);
    }
    /// Counts the boundaries that b's buffer spans, those in its gaps included.
    void cross(int b, int by) {
        int from = blocks_[index(b)].first;
        int to = blocks_[index(b)].last;
        each_other_piece(b, [&](int k) {
            from = std::min(from, blocks_[index(k)].first);
            to = std::max(to, blocks_[index(k)].last);
        });
        for (int s = from + 1; s < to; ++s)
            crossing_[index(s)] += by;
    }
    /// Another piece of a buffer that has got its offset: an obstacle from now on.
    void pin_piece(int k, std::int64_t bottom, std::int64_t top) {
        const block& piece = blocks_[index(k)];
        offsets_[index(k)] = bottom;
        births_.remove(piece.first, k);
        unborn_[index(piece.first)] ^= hash_of(k);
        for (int s = piece.first; s < piece.last; ++s) {
            members_.remove(s, k);
            floors_.pin(s, {bottom, top});
            if (floor(s) != bottom) continue;
            trail_.push_back({change::floor_set, s, bottom});
            floors_.raise(s, bottom);
        }
        work_ += 2 * static_cast<std::uint64_t>(piece.last - piece.first);
    }
    void free_piece(int k) {
        const block& piece = blocks_[index(k)];
        for (int s = piece.first; s < piece.last; ++s) {
            members_.restore(s);
            floors_.unpin(s, offsets_[index(k)]);
        }
        births_.restore(piece.first);
        unborn_[index(piece.first)] ^= hash_of(k);
        offsets_[index(k)] = -1;
    }
    void unplace(int b) {
        const block& item = blocks_[index(b)];
        floors_.tick();
        each_other_piece(b, [&](int k) { free_piece(k); });
        for (int s = item.first; s < item.last; ++s) {
            members_.restore(s);
            floors_.lower(s, bases_[index(b)]);
            floors_.take(s, -item.size);
        }
        cross(b, 1);
        births_.restore(item.first);
        unborn_[index(item.first)] ^= hash_of(b);
        group_top_[index(groups_[index(b)])] = below_[index(b)];
        offsets_[index(b)] = -1;
    }
    /// The least offset from `height` on at which b meets no obstacle and, but for its own range, no floor.
    [[nodiscard]] std::int64_t free_from(int b, std::int64_t height) const {
        const std::int64_t size = blocks_[index(b)].size;
        for (int k = b;;) {
            const block& piece = blocks_[index(k)];
            for (int s = piece.first; s < piece.last; ++s) {
                if (k != b) height = std::max(height, floor(s));
                height = above().first_free(s, height, size);
            }
            work_ += static_cast<std::uint64_t>(piece.last - piece.first);
            k = piece.other;
            if (k < 0 || k == b) return height;
        }
    }
    /// The same until nothing changes, aligned: the least offset that b can have.
    [[nodiscard]] std::int64_t first_free(int b, std::int64_t height) const {
        for (;;) {
            const std::int64_t spot = blocks_[index(b)].aligned(height);
            height = free_from(b, spot);
            if (height == spot) return spot;
        }
    }
    void begin(std::int64_t height) {
        changed_from_ = sections_;
        changed_to_ = 0;
        changed_to_height_ = height;
    }
    /// Lifts what is left to place over a block's range.
    void lift_over(const block& item, std::int64_t height) {
        for (const int j : members_.live(item.first))
            lift(j, height);
        for (int s = item.first + 1; s < item.last; ++s) {
            for (const int j : births_.live(s))
                lift(j, height);
        }
    }
    void lift(int b, std::int64_t height) {
        ++work_;
        std::int64_t& least = least_[index(b)];
        if (!plain()) {
            height = first_free(b, std::max(least, height));
            changed_to_height_ = std::max(changed_to_height_, height);
        }
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
        const std::int64_t room = capacity_ - std::min(capacity_, changed_to_height_);
        for (int s = changed_from_; s < changed_to_; ++s) {
            if (remaining(s) > room && !stacks_up(s)) {
                overfull_ = s;
                return false;
            }
        }
        return true;
    }
    bool stacks_up(int section) {
        const std::span<int> items = members_.live(section);
        work_ += items.size();
        sort_nearly_sorted(items, [&](int j) { return least_[index(j)]; });
        std::int64_t sum = 0;
        std::span<const obstacle> pinned;
        if (!plain()) pinned = above().ahead(section);
        for (const int item : items) {
            const std::int64_t height = least_[index(item)];
            for (; !pinned.empty() && pinned.back().bottom >= height;
                 pinned = pinned.first(pinned.size() - 1))
                sum += pinned.back().top - pinned.back().bottom;
            sum += blocks_[index(item)].size;
            if (sum > capacity_ - height) return false;
        }
        return true;
    }

    const std::vector<block>& blocks_;
    int sections_;
    live_lists members_;
    live_lists births_;
    std::vector<int> groups_;
    std::vector<int> kinds_;
    std::int64_t capacity_ = 0;
    std::int64_t most_headroom_ = 0;
    mutable std::uint64_t work_ = 0;
    bool linked_ = false;
    std::vector<char> first_piece_;  // of its buffer, by block
    valley_floors floors_;
    std::vector<std::int64_t> least_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int64_t> bases_;  // the floor that a placed block was put on
    std::vector<int> below_;           // the block of the same range placed before this one
    std::vector<int> group_top_;       // the block of a range that was placed last
    std::vector<int> crossing_;
    std::vector<std::uint64_t> unborn_;
    std::vector<change> trail_;
    int overfull_ = -1;
    int changed_from_ = 0;
    int changed_to_ = 0;
    std::int64_t changed_to_height_ = 0;
};
using valley_state = basic_valley_state<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_valley_state<>;
#endif

}  // namespace stowage::layout::detail
