#pragma once
// The upper edge of what a skyline has placed: a list of plateaus over the sections, of which a valley is
// asked for again and again: the lowest plateau (LLFB, Sekiyama et al. 2018; papers/layout.md, "Skyline"), or
// the one nearest to the last.
//
// What a skyline does in a valley (a plateau lower than its neighbours) depends on nothing but the buffers
// inside it and on its neighbours, and these stay as they are until it has risen to them. So valleys may be
// taken in any order: the layout is the same. The nearest valley is a few steps away and what is asked about
// it lies together in memory, where the lowest one may be anywhere: with a million buffers that is half of
// the time or more.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/layout/detail/sections.hpp>

namespace stowage::layout::detail {

/// Which valley comes next.
enum class valley_order : std::uint8_t {
    nearest,  ///< the first one that lies downhill of the last change: O(1)
    lowest,   ///< the lowest plateau of all, the first of several: O(log k) for k plateaus
};

/// Plateaus are named by their left ends; neighbours of one height are joined. O(sections) memory. One thread
/// at a time.
template <class = void>
class basic_plateaus {
public:
    /// The height of what lies beside the sections; no plateau is so high.
    static constexpr std::int64_t no_height = std::numeric_limits<std::int64_t>::max();

    /// One plateau of height 0 over all of `sections`; none if that is 0.
    void reset(std::int32_t sections, valley_order order = valley_order::nearest) {
        sections_ = sections;
        order_ = order;
        edges_.assign(index(sections) + 1, {no_height, 0, -1});
        heap_.clear();
        here_ = 0;
        if (sections == 0) return;
        edges_[0] = {0, sections, -1};
        push(0);
    }
    /// Takes the next valley until cover() gives it back; its left end. There must be a plateau.
    [[nodiscard]] std::int32_t pop() {
        if (order_ == valley_order::nearest) {
            // Each way down is walked once: before it is passed again the valley has filled up to its top.
            for (;;) {
                const edge& flat = at(here_);
                if (flat.previous >= 0 && at(flat.previous).height < flat.height) {
                    here_ = flat.previous;
                } else if (flat.right < sections_ && at(flat.right).height < flat.height) {
                    here_ = flat.right;
                } else {
                    return here_;
                }
            }
        }
        for (;;) {
            std::pop_heap(heap_.begin(), heap_.end(), higher{});
            const plateau lowest = heap_.back();
            heap_.pop_back();
            // entries of plateaus that have changed since are dropped
            if (at(lowest.left).height == lowest.height) return lowest.left;
        }
    }
    [[nodiscard]] std::int64_t height(std::int32_t left) const { return at(left).height; }
    /// The section after the last one of the plateau that starts at `left`.
    [[nodiscard]] std::int32_t end(std::int32_t left) const { return at(left).right; }
    /// The height of the lower one of the plateaus beside that at `left`; no_height if there is none.
    [[nodiscard]] std::int64_t lower_neighbour(std::int32_t left) const {
        const std::int32_t before = at(left).previous;
        return std::min(before >= 0 ? at(before).height : no_height, at(end(left)).height);
    }
    /// Raises the sections `range` of the plateau that starts at `left` to `height`; the rest of it stays.
    void cover(std::int32_t left, section_range range, std::int64_t height) {
        const std::int32_t right = at(left).right;
        const std::int64_t base = at(left).height;
        std::int32_t before = at(left).previous;
        if (left < range.first) {
            at(left).right = range.first;
            push(left);
            before = left;
        }
        at(range.first) = {height, range.last, before};
        if (range.last < right) {
            at(range.last) = {base, right, range.first};
            push(range.last);
        }
        if (right < sections_) at(right).previous = range.last < right ? range.last : range.first;
        const std::int32_t raised = join(range.first);
        push(raised);
        here_ = left < range.first ? left : range.last < right ? range.last : raised;
    }

private:
    static constexpr std::size_t index(std::int32_t value) noexcept {
        return static_cast<std::size_t>(value);
    }
    struct plateau {
        std::int64_t height;
        std::int32_t left;
    };
    /// What is known of the plateau that starts at a section.
    struct edge {
        std::int64_t height;    // no_height where none starts, and past the last section
        std::int32_t right;     // its right end
        std::int32_t previous;  // the left end of the plateau before it, or -1
    };
    struct higher {
        bool operator()(const plateau& a, const plateau& b) const noexcept {
            return a.height != b.height ? a.height > b.height : a.left > b.left;
        }
    };
    [[nodiscard]] edge& at(std::int32_t section) { return edges_[index(section)]; }
    [[nodiscard]] const edge& at(std::int32_t section) const { return edges_[index(section)]; }

    void push(std::int32_t left) {
        if (order_ == valley_order::nearest) return;
        heap_.push_back({at(left).height, left});
        std::push_heap(heap_.begin(), heap_.end(), higher{});
    }
    /// Joins a plateau with neighbours of its height; the left end of the result.
    std::int32_t join(std::int32_t left) {
        const std::int64_t height = at(left).height;
        if (const std::int32_t next = at(left).right; next < sections_ && at(next).height == height) {
            at(next).height = no_height;
            at(left).right = at(next).right;
            if (at(left).right < sections_) at(at(left).right).previous = left;
        }
        if (const std::int32_t before = at(left).previous; before >= 0 && at(before).height == height) {
            at(left).height = no_height;
            at(before).right = at(left).right;
            if (at(before).right < sections_) at(at(before).right).previous = before;
            return before;
        }
        return left;
    }

    std::int32_t sections_ = 0;
    valley_order order_ = valley_order::nearest;
    std::int32_t here_ = 0;      // where the next valley is looked for
    std::vector<edge> edges_;    // per section
    std::vector<plateau> heap_;  // for valley_order::lowest: by height, then left end; with stale entries
};
using plateaus = basic_plateaus<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_plateaus<>;
#endif

}  // namespace stowage::layout::detail
