#pragma once
// Which bytes of a device's arena are in use, by whom, at one moment of the stower's sweep, and which free
// ranges lie between them, by size: long programs ask for places much more often than residents come and go.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <stowage/detail/checked.hpp>

namespace stowage::turnip::detail {

/// Used ranges by address, free ranges by size. One thread at a time.
template <class = void>
class basic_arena_map {
public:
    struct range {
        std::int64_t upper;
        std::uint32_t owner;
    };
    using used_map = std::map<std::int64_t, range>;
    using free_set = std::set<std::pair<std::int64_t, std::int64_t>>;

    explicit basic_arena_map(std::int64_t capacity) : capacity_(capacity) { add_free(0, capacity); }
    /// True if [lower, lower + bytes) is free and inside. O(log n).
    [[nodiscard]] bool is_free(std::int64_t lower, std::int64_t bytes) const {
        if (lower < 0 || bytes > capacity_ || lower > capacity_ - bytes) return false;
        const auto next = used_.lower_bound(lower);
        return lower + bytes <= begin_of(next) && end_before(next) <= lower;
    }
    /// [lower, lower + bytes) is free. O(log n).
    void take(std::int64_t lower, std::int64_t bytes, std::uint32_t owner) {
        const auto next = used_.lower_bound(lower);
        const std::int64_t from = end_before(next);
        const std::int64_t to = begin_of(next);
        free_.erase({to - from, from});
        add_free(from, lower);
        add_free(lower + bytes, to);
        used_.emplace_hint(next, lower, range{lower + bytes, owner});
    }
    /// A used range begins at `lower`. O(log n).
    void give(std::int64_t lower) {
        const auto at = used_.find(lower);
        const std::int64_t from = end_before(at);
        const std::int64_t to = begin_of(std::next(at));
        if (from < lower) free_.erase({lower - from, from});
        if (at->second.upper < to) free_.erase({to - at->second.upper, at->second.upper});
        add_free(from, to);
        used_.erase(at);
    }
    /// The smallest free place for `bytes`, outside of [not_from, not_to); -1 if there is none. O(log n +
    /// free ranges that are large enough, but misaligned or met by [not_from, not_to)).
    [[nodiscard]] std::int64_t snuggest(std::int64_t bytes, std::int64_t alignment, std::int64_t not_from = 0,
                                        std::int64_t not_to = 0) const {
        std::int64_t best = -1;
        std::int64_t least = 0;
        const auto offer = [&](std::int64_t lower, std::int64_t upper) {
            const std::int64_t at = lower + stowage::detail::padding(lower, alignment);
            if (at < lower || upper - at < bytes) return;
            const std::int64_t size = upper - lower;
            if (best >= 0 && (size != least ? size > least : at > best)) return;
            best = at;
            least = size;
        };
        const bool all = not_from == not_to;
        for (auto it = free_.lower_bound({bytes, 0}); it != free_.end(); ++it) {
            const auto [size, lower] = *it;
            if (best >= 0 && size > least) break;
            if (all || not_from >= lower + size || not_to <= lower) offer(lower, lower + size);
        }
        if (all) return best;
        // What [not_from, not_to) leaves of the ranges that it meets at its ends.
        const std::int64_t from = end_before(used_.lower_bound(not_from));
        if (from < not_from) offer(from, not_from);
        const auto after = used_.lower_bound(not_to);
        const std::int64_t to = begin_of(after);
        if (end_before(after) <= not_to && not_to < to) offer(not_to, to);
        return best;
    }
    [[nodiscard]] const used_map& used() const noexcept { return used_; }
    /// Free ranges: size and address, the smallest first.
    [[nodiscard]] const free_set& free() const noexcept { return free_; }
    [[nodiscard]] std::int64_t capacity() const noexcept { return capacity_; }

private:
    /// Where the used range before `at` ends, or the arena begins.
    [[nodiscard]] std::int64_t end_before(used_map::const_iterator at) const {
        return at == used_.begin() ? 0 : std::prev(at)->second.upper;
    }
    /// Where `at` begins, or the arena ends.
    [[nodiscard]] std::int64_t begin_of(used_map::const_iterator at) const {
        return at == used_.end() ? capacity_ : at->first;
    }
    void add_free(std::int64_t lower, std::int64_t upper) {
        if (lower < upper) free_.emplace(upper - lower, lower);
    }
    std::int64_t capacity_;
    used_map used_;
    free_set free_;
};
using arena_map = basic_arena_map<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_arena_map<>;
#endif

}  // namespace stowage::turnip::detail
