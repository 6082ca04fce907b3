#pragma once
// One device's arena in the simulated allocation of the horizon policy: pieces that are taken, and free
// pieces that remember when their bytes were used last. Source: Turnip (arXiv 2405.16283), simMalloc and
// simMallocOffld as docs/turnip.md restates them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include <stowage/detail/checked.hpp>

namespace stowage::turnip::detail {

/// Pieces by address; they cover the arena. One thread at a time.
template <class = void>
class basic_horizon_arena {
public:
    static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

    explicit basic_horizon_arena(std::int64_t capacity) {
        if (capacity > 0) pieces_.emplace(0, piece{capacity, nobody, -1});
    }

    /// The place for `bytes` > 0 in free bytes whose last use is earliest, outside of free pieces that touch
    /// [not_from, not_to); -1 if there is none. O(pieces).
    [[nodiscard]] std::int64_t free_place(std::int64_t bytes, std::int64_t alignment,
                                          std::int64_t not_from = 0, std::int64_t not_to = 0) const {
        return best_window(
            bytes, alignment,
            [&](std::int64_t first, const piece& p) {
                return p.owner == nobody && (first >= not_to || p.end <= not_from);
            },
            [](const piece& p) { return -p.last_use; });
    }
    /// The place for `bytes` > 0 whose owners are needed latest: the smallest `next_use` of the owners there
    /// is largest. None of them is `pinned`. -1 if there is none. O(pieces).
    template <class Pinned, class NextUse>
    [[nodiscard]] std::int64_t place_of_victims(std::int64_t bytes, std::int64_t alignment, Pinned pinned,
                                                NextUse next_use) const {
        return best_window(
            bytes, alignment,
            [&](std::int64_t, const piece& p) { return p.owner == nobody || !pinned(p.owner); },
            [&](const piece& p) {
                return p.owner == nobody ? std::numeric_limits<std::int64_t>::max() : next_use(p.owner);
            });
    }
    /// The place for `bytes` > 0 that takes the fewest bytes from owners, none of them `pinned`; -1 if there
    /// is none. O(pieces).
    template <class Pinned>
    [[nodiscard]] std::int64_t cheapest_place(std::int64_t bytes, std::int64_t alignment,
                                              Pinned pinned) const {
        const auto owned = [](const auto& entry) {
            return entry.second.owner == nobody ? 0 : entry.second.end - entry.first;
        };
        std::int64_t best = -1;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t sum = 0;  // of [from, to]
        auto from = pieces_.begin();
        for (auto to = pieces_.begin(); to != pieces_.end(); ++to) {
            if (to->second.owner != nobody && pinned(to->second.owner)) {
                from = std::next(to);
                sum = 0;
                continue;
            }
            sum += owned(*to);
            for (; from != std::next(to); ++from) {
                const std::int64_t start = align(from->first, alignment);
                if (start < 0 || to->second.end - start < bytes) break;
                if (sum < least) {
                    least = sum;
                    best = start;
                }
                sum -= owned(*from);
            }
        }
        return best;
    }
    /// Who owns bytes in [first, first + bytes), each once, by address. O(log pieces + owners).
    void owners_in(std::int64_t first, std::int64_t bytes, std::vector<std::uint32_t>& owners) const {
        owners.clear();
        auto at = std::prev(pieces_.upper_bound(first));
        for (; at != pieces_.end() && at->first < first + bytes; ++at) {
            if (at->second.owner != nobody) owners.push_back(at->second.owner);
        }
    }
    /// Everyone who owns bytes, by address. O(pieces).
    void owners(std::vector<std::uint32_t>& all) const {
        all.clear();
        for (const auto& [first, p] : pieces_) {
            if (p.owner != nobody) all.push_back(p.owner);
        }
    }
    /// Takes free bytes. O(log pieces + pieces met).
    void take(std::int64_t first, std::int64_t bytes, std::uint32_t owner) {
        split(first);
        split(first + bytes);
        pieces_.erase(pieces_.lower_bound(first), pieces_.lower_bound(first + bytes));
        pieces_.emplace(first, piece{first + bytes, owner, -1});
    }
    /// Frees the piece that begins at `first`, used last at step `last_use`. O(log pieces).
    void give(std::int64_t first, std::int64_t last_use) {
        piece& p = pieces_.find(first)->second;
        p.owner = nobody;
        p.last_use = last_use;
    }

private:
    struct piece {
        std::int64_t end = 0;
        std::uint32_t owner = nobody;
        std::int64_t last_use = -1;  // of free bytes
    };

    void split(std::int64_t at) {
        auto next = pieces_.lower_bound(at);
        if (next == pieces_.begin()) return;
        const auto before = std::prev(next);
        if (before->second.end <= at) return;
        piece right = before->second;
        before->second.end = at;
        pieces_.emplace_hint(next, at, right);
    }

    /// Of all runs of neighbouring pieces that `may` be taken and are long enough, the one whose smallest
    /// `worth` is largest; among equals the one at the least address. The worths of a window of pieces are
    /// kept as a queue of falling minima, so that each piece enters and leaves once.
    template <class May, class Worth>
    [[nodiscard]] std::int64_t best_window(std::int64_t bytes, std::int64_t alignment, May may,
                                           Worth worth) const {
        struct candidate {
            std::int64_t first = 0;
            std::int64_t worth = 0;
        };
        std::vector<candidate> minima;  // rising worths from `head` on
        std::size_t head = 0;
        std::int64_t best = -1;
        std::int64_t best_worth = std::numeric_limits<std::int64_t>::min();
        auto from = pieces_.begin();
        for (auto to = pieces_.begin(); to != pieces_.end(); ++to) {
            if (!may(to->first, to->second)) {
                from = std::next(to);
                minima.clear();
                head = 0;
                continue;
            }
            const candidate added{to->first, worth(to->second)};
            while (minima.size() > head && minima.back().worth >= added.worth)
                minima.pop_back();
            minima.push_back(added);
            // Shrinks from the left while the rest is still long enough: fewer pieces are never worth less.
            while (true) {
                const std::int64_t start = align(from->first, alignment);
                if (start < 0 || to->second.end - start < bytes) break;
                if (minima[head].worth > best_worth) {
                    best_worth = minima[head].worth;
                    best = start;
                }
                if (minima[head].first == from->first) ++head;
                if (from == to) {
                    minima.clear();
                    head = 0;
                    ++from;
                    break;
                }
                ++from;
            }
        }
        return best;
    }
    /// -1 if that is beyond 2^63 - 1.
    [[nodiscard]] static std::int64_t align(std::int64_t value, std::int64_t alignment) {
        const std::int64_t pad = stowage::detail::padding(value, alignment);
        return value > std::numeric_limits<std::int64_t>::max() - pad ? -1 : value + pad;
    }

    std::map<std::int64_t, piece> pieces_;
};
using horizon_arena = basic_horizon_arena<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_horizon_arena<>;
#endif

}  // namespace stowage::turnip::detail
