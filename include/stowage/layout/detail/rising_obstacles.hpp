#pragma once
// Rectangles of sections and addresses, passed from below: which is the lowest that begins at or above a
// height and meets a range of sections, where what is asked of any one section only grows?

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <stowage/layout/detail/sections.hpp>

namespace stowage::layout::detail {

/// Bytes [bottom, top) in some sections.
struct wall {
    section_range range;
    std::int64_t bottom = 0;
    std::int64_t top = 0;
};

/// A tree over sections; each node lists the walls that meet it and those of which it is a part, in ascending
/// order. A node that lies in the range asked about never looks back, as all of its sections have risen; of
/// one that reaches beyond it, some may not have. Memory O(w log k) for w walls in k sections; a question
/// O(log k log w) at most, but for the walls that it passes, each once a list. One thread at a time.
template <class = void>
class basic_rising_obstacles {
public:
    /// Takes walls, no two of which meet, and starts at height 0.
    void assign(std::vector<wall> walls, std::int32_t sections) {
        walls_ = std::move(walls);
        std::sort(walls_.begin(), walls_.end(), [](const wall& a, const wall& b) {
            return a.bottom != b.bottom ? a.bottom < b.bottom : a.range.first < b.range.first;
        });
        leaves_ = std::bit_ceil(static_cast<std::size_t>(std::max(sections, 1)));
        const std::size_t count = walls_.size();
        top_ = 2 * leaves_;
        for (const wall& w : walls_)
            each_part(w.range, [this](std::size_t x) { top_ = std::min(top_, x); });
        covering_.assign(2 * leaves_, count,
                         [&](std::size_t w, const auto& visit) { each_part(walls_[w].range, visit); });
        meeting_.assign(2 * leaves_, count, [&](std::size_t w, const auto& visit) {
            each_part(walls_[w].range, visit);
            each_above(walls_[w].range, visit);
        });
    }
    /// Starts at height 0 again.
    void restart() { meeting_.restart(); }
    /// The lowest wall with its bottom at or above `height` that meets `range`; null if there is none. For
    /// each section `height` never falls from call to call.
    [[nodiscard]] const wall* lowest(section_range range, std::int64_t height) {
        std::size_t found = walls_.size();
        std::size_t l = static_cast<std::size_t>(range.first) + leaves_;
        std::size_t r = static_cast<std::size_t>(range.last) + leaves_;
        for (; l < r; l /= 2, r /= 2) {
            if (l % 2 == 1) found = std::min(found, meeting_.front(l++, walls_, height));
            if (r % 2 == 1) found = std::min(found, meeting_.front(--r, walls_, height));
        }
        l = static_cast<std::size_t>(range.first) + leaves_;
        r = static_cast<std::size_t>(range.last) - 1 + leaves_;
        // above the highest node that is a part of a wall there is nothing to find
        for (; l != r && r >= top_; l /= 2, r /= 2) {
            found = std::min(found, covering_.first(l, walls_, height));
            found = std::min(found, covering_.first(r, walls_, height));
        }
        for (; l >= top_; l /= 2)
            found = std::min(found, covering_.first(l, walls_, height));
        return found < walls_.size() ? &walls_[found] : nullptr;
    }

private:
    /// Numbers of walls by node, ascending, one list behind the other.
    class lists {
    public:
        /// each(w, visit) calls visit(x) for the nodes x that list wall w.
        template <class Each>
        void assign(std::size_t nodes, std::size_t walls, const Each& each) {
            starts_.assign(nodes + 1, 0);
            for (std::size_t w = 0; w < walls; ++w)
                each(w, [&](std::size_t x) { ++starts_[x + 1]; });
            for (std::size_t x = 0; x < nodes; ++x)
                starts_[x + 1] += starts_[x];
            numbers_.resize(starts_.back());
            restart();
            for (std::size_t w = 0; w < walls; ++w)
                each(w, [&](std::size_t x) { numbers_[next_[x]++] = static_cast<std::uint32_t>(w); });
            restart();
        }
        void restart() { next_.assign(starts_.begin(), starts_.end() - 1); }
        /// The first wall of node x at or above `height`; their number where there is none.
        std::size_t front(std::size_t x, const std::vector<wall>& walls, std::int64_t height) {
            std::size_t& next = next_[x];
            while (next < starts_[x + 1] && walls[numbers_[next]].bottom < height)
                ++next;
            return next < starts_[x + 1] ? numbers_[next] : walls.size();
        }
        /// The same for a height that may have fallen.
        [[nodiscard]] std::size_t first(std::size_t x, const std::vector<wall>& walls,
                                        std::int64_t height) const {
            const auto from = numbers_.begin() + static_cast<std::ptrdiff_t>(starts_[x]);
            const auto to = numbers_.begin() + static_cast<std::ptrdiff_t>(starts_[x + 1]);
            const auto found =
                std::partition_point(from, to, [&](std::uint32_t w) { return walls[w].bottom < height; });
            return found == to ? walls.size() : *found;
        }

    private:
        std::vector<std::size_t> starts_;
        std::vector<std::size_t> next_;
        std::vector<std::uint32_t> numbers_;
    };

    /// The O(log k) nodes that make up a range.
    template <class Visit>
    void each_part(section_range range, const Visit& visit) const {
        std::size_t l = static_cast<std::size_t>(range.first) + leaves_;
        std::size_t r = static_cast<std::size_t>(range.last) + leaves_;
        for (; l < r; l /= 2, r /= 2) {
            if (l % 2 == 1) visit(l++);
            if (r % 2 == 1) visit(--r);
        }
    }
    /// The nodes above those: they meet the range, but reach beyond it.
    template <class Visit>
    void each_above(section_range range, const Visit& visit) const {
        const auto first = static_cast<std::size_t>(range.first);
        const auto last = static_cast<std::size_t>(range.last);
        std::size_t l = first + leaves_;
        std::size_t r = last - 1 + leaves_;
        for (std::size_t width = 1; l >= 1; l /= 2, r /= 2, width *= 2) {
            const auto reaches_beyond = [&](std::size_t x) {
                const std::size_t from = x * width - leaves_;
                return from < first || from + width > last;
            };
            if (reaches_beyond(l)) visit(l);
            if (r != l && reaches_beyond(r)) visit(r);
        }
    }

    std::vector<wall> walls_;  // by bottom
    std::size_t leaves_ = 1;
    std::size_t top_ = 2;  // the least node that is a part of a wall
    lists meeting_;
    lists covering_;
};
using rising_obstacles = basic_rising_obstacles<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_rising_obstacles<>;
#endif

}  // namespace stowage::layout::detail
