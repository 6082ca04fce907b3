#pragma once
// How many bytes are free at each step: add to a range, ask for the least of a range.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stowage::turnip::detail {

/// Range add and range minimum over steps, without recursion; O(log n) each, 32 bytes a step at most. One
/// thread at a time.
template <class = void>
class basic_capacity_tree {
public:
    explicit basic_capacity_tree(std::span<const std::int64_t> values) {
        while (leaves_ < values.size())
            leaves_ *= 2;
        least_.assign(2 * leaves_, std::numeric_limits<std::int64_t>::max() / 4);
        added_.assign(leaves_, 0);
        std::copy(values.begin(), values.end(), least_.begin() + static_cast<std::ptrdiff_t>(leaves_));
        for (std::size_t node = leaves_; node-- > 1;)
            least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
    }
    /// Adds `bytes` to every step of [lower, upper].
    void add(std::size_t lower, std::size_t upper, std::int64_t bytes) {
        std::size_t l = lower + leaves_;
        std::size_t r = upper + leaves_;
        const std::size_t l0 = l;
        const std::size_t r0 = r;
        for (++r; l < r; l /= 2, r /= 2) {
            if (l % 2 == 1) apply(l++, bytes);
            if (r % 2 == 1) apply(--r, bytes);
        }
        renew(l0);
        renew(r0);
    }
    /// The least value of [lower, upper].
    [[nodiscard]] std::int64_t least(std::size_t lower, std::size_t upper) const {
        std::size_t l = lower + leaves_;
        std::size_t r = upper + leaves_;
        std::int64_t left = least_[l];
        std::int64_t right = least_[r];
        while (l / 2 != r / 2) {
            if (l % 2 == 0) left = std::min(left, least_[l + 1]);
            if (r % 2 == 1) right = std::min(right, least_[r - 1]);
            l /= 2;
            r /= 2;
            left += added_[l];
            right += added_[r];
        }
        std::int64_t result = std::min(left, right);
        for (l /= 2; l > 0; l /= 2)
            result += added_[l];
        return result;
    }
    /// A step of [lower, upper] with the least value: the first of them.
    [[nodiscard]] std::size_t least_step(std::size_t lower, std::size_t upper) const {
        // The nodes that make up the range, left to right, each with what its ancestors add.
        std::size_t best = 0;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t best_above = 0;
        const auto offer = [&](std::size_t node) {
            std::int64_t above = 0;
            for (std::size_t a = node / 2; a > 0; a /= 2)
                above += added_[a];
            const std::int64_t value = least_[node] + above;
            if (value < least || (value == least && leftmost(node) < leftmost(best))) {
                least = value;
                best = node;
                best_above = above;
            }
        };
        std::size_t l = lower + leaves_;
        std::size_t r = upper + leaves_ + 1;
        for (; l < r; l /= 2, r /= 2) {
            if (l % 2 == 1) offer(l++);
            if (r % 2 == 1) offer(--r);
        }
        while (best < leaves_) {
            best_above += added_[best];
            best = least_[2 * best] + best_above == least ? 2 * best : 2 * best + 1;
        }
        return best - leaves_;
    }

private:
    [[nodiscard]] std::size_t leftmost(std::size_t node) const {
        while (node != 0 && node < leaves_)
            node *= 2;
        return node;
    }
    void apply(std::size_t node, std::int64_t bytes) {
        least_[node] += bytes;
        if (node < leaves_) added_[node] += bytes;
    }
    void renew(std::size_t node) {
        for (node /= 2; node > 0; node /= 2)
            least_[node] = std::min(least_[2 * node], least_[2 * node + 1]) + added_[node];
    }
    std::size_t leaves_ = 2;
    std::vector<std::int64_t> least_;
    std::vector<std::int64_t> added_;
};
using capacity_tree = basic_capacity_tree<>;

}  // namespace stowage::turnip::detail
