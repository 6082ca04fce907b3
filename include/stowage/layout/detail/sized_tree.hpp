#pragma once
// Like containment_tree, but each range has a size besides, and a question may ask for small ones only: which
// of the ranges that start at places [from, to), end at or before a section and are no larger than a room has
// the best rank?

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace stowage::layout::detail {

/// Each node keeps the least last section, the least size and the best rank below it. O(log n) a removal; a
/// question is O(log n) where the best-ranked ranges qualify. One thread at a time.
template <class = void>
class basic_sized_tree {
public:
    /// One range; `rank` 0 is the best.
    struct entry {
        std::int32_t last = none;
        std::int32_t rank = none;
        std::int64_t size = std::numeric_limits<std::int64_t>::max();
        friend bool operator==(const entry&, const entry&) = default;
    };

    /// Takes the entries by place. O(n).
    void assign(const std::vector<entry>& entries) {
        leaves_ = std::bit_ceil(std::max<std::size_t>(entries.size(), 1));
        nodes_.assign(2 * leaves_, entry{});
        std::copy(entries.begin(), entries.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(leaves_));
        for (std::size_t x = leaves_; x-- > 1;)
            nodes_[x] = joined(nodes_[2 * x], nodes_[2 * x + 1]);
    }
    /// Takes the range at `place` out.
    void remove(std::size_t place) {
        std::size_t x = leaves_ + place;
        nodes_[x] = entry{};
        for (x /= 2; x >= 1; x /= 2) {
            const entry now = joined(nodes_[2 * x], nodes_[2 * x + 1]);
            if (now == nodes_[x]) return;
            nodes_[x] = now;
        }
    }
    /// The best rank of a range at places [from, to) whose last section is at most `end` and whose size is at
    /// most `room`; -1 if there is none.
    [[nodiscard]] std::int32_t best(std::size_t from, std::size_t to, std::int32_t end, std::int64_t room) {
        std::int32_t found = none;
        std::size_t l = from + leaves_;
        std::size_t r = to + leaves_;
        for (; l < r; l /= 2, r /= 2) {
            if (l % 2 == 1) descend(l++, end, room, found);
            if (r % 2 == 1) descend(--r, end, room, found);
        }
        return found == none ? -1 : found;
    }

private:
    static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();

    static entry joined(const entry& a, const entry& b) {
        return {std::min(a.last, b.last), std::min(a.rank, b.rank), std::min(a.size, b.size)};
    }
    /// Depth first, the better-ranked child first; a node is cut off where nothing below it can be better.
    void descend(std::size_t root, std::int32_t end, std::int64_t room, std::int32_t& found) {
        waiting_.assign(1, root);
        while (!waiting_.empty()) {
            const std::size_t x = waiting_.back();
            waiting_.pop_back();
            const entry& here = nodes_[x];
            if (here.rank >= found || here.last > end || here.size > room) continue;
            if (x >= leaves_) {
                found = here.rank;
                continue;
            }
            const std::size_t good = 2 * x + (nodes_[2 * x + 1].rank < nodes_[2 * x].rank ? 1 : 0);
            waiting_.push_back(good ^ 1U);
            waiting_.push_back(good);
        }
    }

    std::size_t leaves_ = 1;
    std::vector<entry> nodes_;
    std::vector<std::size_t> waiting_;
};
using sized_tree = basic_sized_tree<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_sized_tree<>;
#endif

}  // namespace stowage::layout::detail
