#pragma once
// A tree over ranges of sections sorted by their first section: which of those that start in [from, to) and
// end at or before a given section has the best rank? Each node keeps the least and greatest last section and
// the best rank below it. O(log n) a removal; O(log n) a query on most instances. Where nodes hold both what
// ends in time and what does not (layers of operators that read few of the layer before), a query visits
// hundreds of nodes: then blocks of 512 ranges are sorted by their last section, with the best rank so far,
// and answer at once. Source: papers/layout.md, "Skyline".

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace stowage::layout::detail {

template <class = void>
class basic_containment_tree {
public:
    /// Takes ranges by place: their last sections and their ranks (0 is the best). O(n).
    void assign(const std::vector<std::int32_t>& last, const std::vector<std::int32_t>& rank) {
        entries_.resize(last.size());
        for (std::size_t k = 0; k < last.size(); ++k)
            entries_[k] = {last[k], rank[k]};
        leaves_ = std::bit_ceil(std::max<std::size_t>((last.size() + bucket - 1) / bucket, 1));
        nodes_.assign(2 * leaves_, node{});
        for (std::size_t b = 0; b * bucket < entries_.size(); ++b)
            nodes_[leaves_ + b] = summary(b);
        for (std::size_t x = leaves_; x-- > 1;)
            nodes_[x] = joined(nodes_[2 * x], nodes_[2 * x + 1]);
        visits_ = 0;
        sorted_.clear();
    }

    /// Takes the range at `place` out.
    void remove(std::size_t place) {
        entries_[place].rank = none;
        if (!sorted_.empty()) remove_sorted(place);
        std::size_t x = leaves_ + place / bucket;
        node now = summary(place / bucket);
        while (!(nodes_[x] == now)) {
            nodes_[x] = now;
            x /= 2;
            if (x == 0) break;
            now = joined(nodes_[2 * x], nodes_[2 * x + 1]);
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
    static constexpr std::size_t bucket = 8;  // ranges a leaf: they share a cache line
    static constexpr std::size_t leaves_of_block = 64;
    static constexpr std::size_t block = bucket * leaves_of_block;
    static constexpr std::uint64_t many_visits = 32;  // a range: then blocks are sorted

    struct entry {
        std::int32_t last;
        std::int32_t rank;  // none once it is out
    };
    struct sorted_entry {
        std::int32_t last;
        std::int32_t rank;  // none once it is out
        std::int32_t best;  // rank of this one and those before it in the block
    };
    struct node {
        std::int32_t least_last = none;
        std::int32_t greatest_last = -1;
        std::int32_t best_rank = none;
        friend bool operator==(const node&, const node&) = default;
    };

    static node joined(const node& a, const node& b) {
        return {std::min(a.least_last, b.least_last), std::max(a.greatest_last, b.greatest_last),
                std::min(a.best_rank, b.best_rank)};
    }

    [[nodiscard]] node summary(std::size_t b) const {
        node result;
        const std::size_t to = std::min(entries_.size(), (b + 1) * bucket);
        for (std::size_t k = b * bucket; k < to; ++k) {
            if (entries_[k].rank == none) continue;
            result = joined(result, {entries_[k].last, entries_[k].last, entries_[k].rank});
        }
        return result;
    }

    void sort_blocks() {
        sorted_.resize(entries_.size());
        slot_.resize(entries_.size());
        std::array<std::uint32_t, block> places{};
        for (std::size_t from = 0; from < entries_.size(); from += block) {
            const std::size_t count = std::min(block, entries_.size() - from);
            for (std::size_t k = 0; k < count; ++k)
                places[k] = static_cast<std::uint32_t>(from + k);
            std::sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count),
                      [&](std::uint32_t a, std::uint32_t b) {
                          return entries_[a].last != entries_[b].last ? entries_[a].last < entries_[b].last
                                                                      : a < b;
                      });
            std::int32_t best = none;
            for (std::size_t k = 0; k < count; ++k) {
                const entry& here = entries_[places[k]];
                best = std::min(best, here.rank);
                sorted_[from + k] = {here.last, here.rank, best};
                slot_[places[k]] = static_cast<std::uint32_t>(from + k);
            }
        }
    }
    void remove_sorted(std::size_t place) {
        const std::size_t from = place / block * block;
        const std::size_t to = std::min(entries_.size(), from + block);
        std::size_t k = slot_[place];
        sorted_[k].rank = none;
        std::int32_t best = k > from ? sorted_[k - 1].best : none;
        for (; k < to; ++k) {
            best = std::min(best, sorted_[k].rank);
            if (sorted_[k].best == best) break;
            sorted_[k].best = best;
        }
    }
    /// The best rank of the block from place `from` on that ends at or before `end`.
    [[nodiscard]] std::int32_t best_of_block(std::size_t from, std::int32_t end) const {
        const auto first = sorted_.begin() + static_cast<std::ptrdiff_t>(from);
        const auto last =
            sorted_.begin() + static_cast<std::ptrdiff_t>(std::min(entries_.size(), from + block));
        const auto past = std::upper_bound(
            first, last, end, [](std::int32_t value, const sorted_entry& e) { return value < e.last; });
        return past == first ? none : std::prev(past)->best;
    }

    void scan(std::size_t from, std::size_t to, std::int32_t after, std::int32_t end,
              std::int32_t& found) const {
        for (std::size_t k = from; k < to; ++k) {
            if (entries_[k].rank < found && entries_[k].last <= end && entries_[k].last > after) {
                found = entries_[k].rank;
            }
        }
    }

    std::int32_t best(std::size_t from, std::size_t to, std::int32_t after, std::int32_t end) {
        std::int32_t found = none;
        const std::size_t first_whole = (from + bucket - 1) / bucket;
        const std::size_t last_whole = to / bucket;
        if (first_whole >= last_whole) {
            scan(from, to, after, end, found);
        } else {
            scan(from, first_whole * bucket, after, end, found);
            scan(last_whole * bucket, to, after, end, found);
            std::size_t l = first_whole + leaves_;
            std::size_t r = last_whole + leaves_;
            for (; l < r; l /= 2, r /= 2) {
                if (l % 2 == 1) descend(l++, after, end, found);
                if (r % 2 == 1) descend(--r, after, end, found);
            }
            if (visits_ > many_visits * entries_.size() && sorted_.empty()) sort_blocks();
        }
        return found == none ? -1 : found;
    }

    /// Depth first, the better-ranked child first; a node is cut off when it has nothing better or nothing
    /// that ends inside (after, end].
    void descend(std::size_t root, std::int32_t after, std::int32_t end, std::int32_t& found) {
        std::size_t depth = 0;
        stack_[depth++] = root;
        while (depth > 0) {
            const std::size_t x = stack_[--depth];
            ++visits_;
            const node& here = nodes_[x];
            if (here.best_rank >= found || here.least_last > end || here.greatest_last <= after) continue;
            if (here.greatest_last <= end && here.least_last > after) {
                found = here.best_rank;
                continue;
            }
            if (!sorted_.empty() && after < 0 && x < leaves_ && x * leaves_of_block >= leaves_ &&
                x * leaves_of_block < 2 * leaves_) {
                found = std::min(found, best_of_block((x * leaves_of_block - leaves_) * bucket, end));
                continue;
            }
            if (x >= leaves_) {
                const std::size_t b = x - leaves_;
                scan(b * bucket, std::min(entries_.size(), (b + 1) * bucket), after, end, found);
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
    std::vector<entry> entries_;
    std::vector<node> nodes_;
    std::vector<sorted_entry> sorted_;  // by place of the block, once questions are dear
    std::vector<std::uint32_t> slot_;   // of each place, in sorted_
    std::uint64_t visits_ = 0;
    std::array<std::size_t, 128> stack_{};  // at most one waiting node a level
};
using containment_tree = basic_containment_tree<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_containment_tree<>;
#endif

}  // namespace stowage::layout::detail
