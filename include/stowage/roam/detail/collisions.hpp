#pragma once
// What collides once the layouts of leaves are put together, and which of two that do has to move.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/roam/subgraph_tree.hpp>

namespace stowage::roam::detail {

/// Offsets of a problem's items as leaf after leaf gives them. Keeps a reference to the problem.
template <class = void>
class basic_fixed_places {
public:
    /// Pinned items are placed from the start.
    explicit basic_fixed_places(const layout::problem& problem)
        : problem_(&problem), offsets_(problem.buffers.size(), -1) {
        for (std::size_t i = 0; i < offsets_.size(); ++i) {
            if (problem.buffers[i].takes_part() && problem.buffers[i].offset)
                offsets_[i] = *problem.buffers[i].offset;
        }
    }

    /// Places the items of a leaf, but the pinned ones, at their offsets above `base`.
    void add(const subgraph& leaf, const std::vector<std::int64_t>& offsets, std::int64_t base) {
        for (std::size_t k = 0; k < leaf.items.size(); ++k) {
            const std::uint32_t item = leaf.items[k].item;
            if (problem_->buffers[item].offset || !problem_->buffers[item].takes_part()) continue;
            offsets_[item] = stowage::detail::checked_add(base, offsets[k], "an offset");
        }
    }

    /// The least base at or above `base`, a multiple of `step`, at which the leaf collides with nothing that
    /// is placed. O(rounds * n log n).
    [[nodiscard]] std::int64_t lift(const subgraph& leaf, const std::vector<std::int64_t>& offsets,
                                    std::int64_t base, std::int64_t step) const {
        while (true) {
            std::int64_t needed = base;
            basic_fixed_places trial = *this;
            trial.add(leaf, offsets, base);
            std::vector<std::int64_t> own(offsets_.size(), -1);
            for (std::size_t k = 0; k < leaf.items.size(); ++k)
                own[leaf.items[k].item] = offsets[k];
            trial.sweep([&](std::uint32_t a, std::uint32_t b) {
                const std::uint32_t mine = offsets_[a] < 0 ? a : b;
                const std::uint32_t other = mine == a ? b : a;
                if (offsets_[mine] < 0 && offsets_[other] >= 0)
                    needed = std::max(needed, end_of(other) - own[mine]);
                return other;
            });
            needed = stowage::detail::align_up(needed, step);
            if (needed == base) return base;
            base = needed;
        }
    }

    /// The items that have to move so that the rest collide with nothing, ascending: of two that collide the
    /// one that stays is pinned, else an activation, else larger and longer-lived. O(n log n).
    [[nodiscard]] std::vector<std::uint32_t> colliding(const subgraph_tree& tree) const {
        std::vector<std::uint8_t> rank(offsets_.size(), 0);
        for (const std::size_t leaf : tree.leaves) {
            for (const leaf_item& entry : tree.nodes[leaf].items)
                rank[entry.item] = entry.activation ? 1 : 0;
        }
        for (std::size_t i = 0; i < offsets_.size(); ++i)
            rank[i] = problem_->buffers[i].offset ? 2 : rank[i];
        std::vector<bool> moves(offsets_.size(), false);
        const auto stays = [&](std::uint32_t a, std::uint32_t b) {
            const auto weight = [&](std::uint32_t i) {
                const layout::buffer& item = problem_->buffers[i];
                return stowage::detail::saturating_multiply(item.size, item.upper - item.lower);
            };
            if (rank[a] != rank[b]) return rank[a] > rank[b];
            return weight(a) != weight(b) ? weight(a) > weight(b) : a < b;
        };
        sweep([&](std::uint32_t a, std::uint32_t b) {
            const std::uint32_t loser = stays(a, b) ? b : a;
            moves[loser] = true;
            return loser;
        });
        std::vector<std::uint32_t> result;
        for (std::uint32_t i = 0; i < moves.size(); ++i) {
            const layout::buffer& item = problem_->buffers[i];
            if (offsets_[i] < 0 || item.offset) continue;
            const bool aligned = offsets_[i] % item.alignment == 0 && offsets_[i] % problem_->alignment == 0;
            if (moves[i] || !aligned) result.push_back(i);
        }
        return result;
    }

    /// The problem with everything pinned that is not in `moving` (ascending). O(n).
    [[nodiscard]] layout::problem fixed_but(const std::vector<std::uint32_t>& moving) const {
        layout::problem result = *problem_;
        for (std::uint32_t i = 0; i < offsets_.size(); ++i) {
            if (offsets_[i] < 0) continue;
            result.buffers[i].offset = offsets_[i];
        }
        for (const std::uint32_t i : moving)
            result.buffers[i].offset.reset();
        return result;
    }

private:
    [[nodiscard]] std::int64_t end_of(std::uint32_t item) const {
        return stowage::detail::checked_add(offsets_[item], problem_->buffers[item].size, "an offset");
    }
    /// Goes through time and asks `loser(newcomer, other)` which of two that collide goes away; those that
    /// have not gone never collide. Pinned items come first of those born at one moment.
    template <class Loser>
    void sweep(const Loser& loser) const {
        std::vector<std::uint32_t> by_birth;
        for (std::uint32_t i = 0; i < offsets_.size(); ++i) {
            if (offsets_[i] >= 0) by_birth.push_back(i);
        }
        std::vector<std::uint32_t> by_death = by_birth;
        const auto& buffers = problem_->buffers;
        std::stable_sort(by_birth.begin(), by_birth.end(), [&](std::uint32_t a, std::uint32_t b) {
            return buffers[a].lower < buffers[b].lower;
        });
        std::stable_sort(by_death.begin(), by_death.end(), [&](std::uint32_t a, std::uint32_t b) {
            return buffers[a].upper < buffers[b].upper;
        });
        std::map<std::int64_t, std::uint32_t> alive;  // by offset; disjoint
        auto dying = by_death.begin();
        for (const std::uint32_t item : by_birth) {
            for (; dying != by_death.end() && buffers[*dying].upper <= buffers[item].lower; ++dying) {
                const auto found = alive.find(offsets_[*dying]);
                if (found != alive.end() && found->second == *dying) alive.erase(found);
            }
            bool here = true;
            const std::int64_t end = end_of(item);
            auto other = alive.upper_bound(offsets_[item]);
            if (other != alive.begin() && end_of(std::prev(other)->second) > offsets_[item]) --other;
            std::vector<std::uint32_t> gone;
            for (; other != alive.end() && other->first < end; ++other) {
                if (loser(item, other->second) == item) {
                    here = false;
                } else {
                    gone.push_back(other->second);
                }
            }
            for (const std::uint32_t lost : gone)
                alive.erase(offsets_[lost]);
            if (here) alive.emplace(offsets_[item], item);
        }
    }

    const layout::problem* problem_;
    std::vector<std::int64_t> offsets_;  // -1: not placed
};
using fixed_places = basic_fixed_places<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_fixed_places<>;
#endif

}  // namespace stowage::roam::detail
