#pragma once
// Which bytes of a device's arena are in use, by whom, at one moment of the stower's sweep.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include <stowage/detail/checked.hpp>

namespace stowage::turnip::detail {

/// Used ranges by address. One thread at a time.
template <class = void>
class basic_arena_map {
public:
    struct range {
        std::int64_t upper;
        std::uint32_t owner;
    };
    using used_map = std::map<std::int64_t, range>;

    explicit basic_arena_map(std::int64_t capacity) : capacity_(capacity) {}
    /// True if [lower, lower + bytes) is free and inside. O(log n).
    [[nodiscard]] bool is_free(std::int64_t lower, std::int64_t bytes) const {
        if (lower < 0 || bytes > capacity_ || lower > capacity_ - bytes) return false;
        auto next = used_.lower_bound(lower);
        if (next != used_.end() && next->first < lower + bytes) return false;
        return next == used_.begin() || std::prev(next)->second.upper <= lower;
    }
    void take(std::int64_t lower, std::int64_t bytes, std::uint32_t owner) {
        used_.emplace(lower, range{lower + bytes, owner});
    }
    void give(std::int64_t lower) { used_.erase(lower); }
    /// The smallest free place for `bytes`, outside of [not_from, not_to); -1 if there is none. O(n).
    [[nodiscard]] std::int64_t snuggest(std::int64_t bytes, std::int64_t alignment, std::int64_t not_from = 0,
                                        std::int64_t not_to = 0) const {
        std::int64_t best = -1;
        std::int64_t least = 0;
        const auto offer = [&](std::int64_t lower, std::int64_t upper) {
            const std::int64_t rest = lower % alignment;
            const std::int64_t at = rest == 0 ? lower : lower + (alignment - rest);
            if (at < lower || upper - at < bytes) return;
            if (best >= 0 && upper - lower >= least) return;
            best = at;
            least = upper - lower;
        };
        const auto consider = [&](std::int64_t lower, std::int64_t upper) {
            if (not_from >= upper || not_to <= lower || not_from == not_to) {
                offer(lower, upper);
            } else {
                if (not_from > lower) offer(lower, not_from);
                if (not_to < upper) offer(not_to, upper);
            }
        };
        std::int64_t from = 0;
        for (const auto& [lower, used] : used_) {
            if (lower > from) consider(from, lower);
            from = used.upper;
        }
        if (from < capacity_) consider(from, capacity_);
        return best;
    }
    [[nodiscard]] const used_map& used() const noexcept { return used_; }
    [[nodiscard]] std::int64_t capacity() const noexcept { return capacity_; }

private:
    std::int64_t capacity_;
    used_map used_;
};
using arena_map = basic_arena_map<>;

}  // namespace stowage::turnip::detail
