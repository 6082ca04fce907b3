#pragma once
// A set of small integers as a tree of 64-bit words, each of which says which words below it are not empty:
// neighbours in O(log64 n), and no allocation after construction.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/error.hpp>

namespace stowage::layout::detail {

/// A subset of 0 .. count - 1.
template <class = void>
class basic_rank_set {
public:
    basic_rank_set() = default;
    /// An empty set that may hold numbers below `count`.
    explicit basic_rank_set(std::size_t count) {
        do {
            count = (count + 63) / 64;
            levels_.emplace_back(count, 0);
        } while (count > 1);
    }

    [[nodiscard]] bool contains(std::size_t value) const noexcept {
        return ((levels_[0][value / 64] >> (value % 64)) & 1U) != 0;
    }
    void insert(std::size_t value) noexcept {
        for (auto& level : levels_) {
            level[value / 64] |= std::uint64_t{1} << (value % 64);
            value /= 64;
        }
    }
    void erase(std::size_t value) noexcept {
        for (auto& level : levels_) {
            level[value / 64] &= ~(std::uint64_t{1} << (value % 64));
            if (level[value / 64] != 0) return;
            value /= 64;
        }
    }
    /// The least member at or above `value`; no_index if there is none.
    [[nodiscard]] std::size_t at_or_above(std::size_t value) const noexcept {
        for (std::size_t k = 0; k < levels_.size(); ++k) {
            if (value / 64 >= levels_[k].size()) return no_index;
            const std::uint64_t word = levels_[k][value / 64] >> (value % 64);
            if (word != 0) {
                value += static_cast<std::size_t>(std::countr_zero(word));
                while (k-- > 0)
                    value = value * 64 + static_cast<std::size_t>(std::countr_zero(levels_[k][value]));
                return value;
            }
            value = value / 64 + 1;
        }
        return no_index;
    }
    /// The greatest member below `value`; no_index if there is none.
    [[nodiscard]] std::size_t below(std::size_t value) const noexcept {
        for (std::size_t k = 0; k < levels_.size() && value > 0; ++k) {
            const std::size_t last = value - 1;
            const std::uint64_t word = levels_[k][last / 64] << (63 - last % 64);
            if (word != 0) {
                value = last - static_cast<std::size_t>(std::countl_zero(word));
                while (k-- > 0)
                    value = value * 64 + 63 - static_cast<std::size_t>(std::countl_zero(levels_[k][value]));
                return value;
            }
            value = last / 64;
        }
        return no_index;
    }
    /// Removes every member. O(members).
    void clear() noexcept {
        for (std::size_t value = at_or_above(0); value != no_index; value = at_or_above(value + 1))
            erase(value);
    }

private:
    std::vector<std::vector<std::uint64_t>> levels_;  // 0: the members
};
using rank_set = basic_rank_set<>;

}  // namespace stowage::layout::detail
