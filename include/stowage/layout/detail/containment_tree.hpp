#pragma once
// A tree over ranges of sections sorted by their first section: which of those that start in [from, to) and
// end at or before a given section has the best rank? Each node keeps the least and greatest last section and
// the best rank below it. O(log n) a removal; O(log n) a query on all instances seen. Source:
// papers/layout.md, "Skyline".

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace stowage::layout::detail {

class containment_tree {
public:
    /// Takes ranges by place: their last sections and their ranks (0 is the best). O(n).
    void assign(std::span<const std::int32_t> last, std::span<const std::int32_t> rank) {
        leaves_ = std::bit_ceil(std::max<std::size_t>(last.size(), 1));
        nodes_.assign(2 * leaves_, node{});
        for (std::size_t k = 0; k < last.size(); ++k)
            nodes_[leaves_ + k] = {last[k], last[k], rank[k]};
        for (std::size_t x = leaves_; x-- > 1;)
            update(x);
    }

    /// Takes the range at `place` out.
    void remove(std::size_t place) {
        std::size_t x = leaves_ + place;
        nodes_[x] = node{};
        for (x /= 2; x >= 1; x /= 2) {
            const node before = nodes_[x];
            update(x);
            if (nodes_[x] == before) break;
        }
    }

    /// The best rank of a range at places [from, to) whose last section is at most `end`; -1 if none.
    [[nodiscard]] std::int32_t best_within(std::size_t from, std::size_t to, std::int32_t end) {
        return best(from, to, -1, end);
    }

    /// The same, but the last section must pass `section`: with places up to it, the range then covers that
    /// section.
    [[nodiscard]] std::int32_t best_covering(std::size_t from, std::size_t to, std::int32_t section,
                                             std::int32_t end) {
        return best(from, to, section, end);
    }

private:
    static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();

    struct node {
        std::int32_t least_last = none;
        std::int32_t greatest_last = -1;
        std::int32_t best_rank = none;
        friend bool operator==(const node&, const node&) = default;
    };

    void update(std::size_t x) {
        const node& a = nodes_[2 * x];
        const node& b = nodes_[2 * x + 1];
        nodes_[x] = {std::min(a.least_last, b.least_last), std::max(a.greatest_last, b.greatest_last),
                     std::min(a.best_rank, b.best_rank)};
    }

    /// Depth first from the nodes that make up [from, to), the better-ranked child first; a node is cut off
    /// when it has nothing better or nothing that ends inside (after, end].
    std::int32_t best(std::size_t from, std::size_t to, std::int32_t after, std::int32_t end) {
        std::int32_t found = none;
        std::size_t l = from + leaves_;
        std::size_t r = to + leaves_;
        while (l < r) {
            if (l % 2 == 1) descend(l++, after, end, found);
            if (r % 2 == 1) descend(--r, after, end, found);
            l /= 2;
            r /= 2;
        }
        return found == none ? -1 : found;
    }

    void descend(std::size_t root, std::int32_t after, std::int32_t end, std::int32_t& found) {
        std::size_t depth = 0;
        stack_[depth++] = root;
        while (depth > 0) {
            const std::size_t x = stack_[--depth];
            const node& here = nodes_[x];
            if (here.best_rank >= found || here.least_last > end || here.greatest_last <= after) continue;
            if (here.greatest_last <= end && here.least_last > after) {
                found = here.best_rank;
                continue;
            }
            std::size_t good = 2 * x;
            std::size_t other = 2 * x + 1;
            if (nodes_[other].best_rank < nodes_[good].best_rank) std::swap(good, other);
            stack_[depth++] = other;
            stack_[depth++] = good;
        }
    }

    std::size_t leaves_ = 1;
    std::vector<node> nodes_;
    std::array<std::size_t, 128> stack_{};  // at most one waiting node a level
};

}  // namespace stowage::layout::detail
