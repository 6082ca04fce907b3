#pragma once
// Disjoint sets of numbers that are joined, never parted. Source: R. E. Tarjan, "Efficiency of a good but not
// linear set union algorithm" (1975); paths are halved as they are walked.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace stowage::detail {

/// Sets of the numbers below a count, each alone at first, each named by its least member. One thread at a
/// time.
template <class = void>
class basic_disjoint_sets {
public:
    explicit basic_disjoint_sets(std::size_t count) : parent_(count) {
        std::iota(parent_.begin(), parent_.end(), 0U);
    }
    /// The least member of the set of `member`. O(log n), amortised.
    [[nodiscard]] std::uint32_t least(std::uint32_t member) {
        while (parent_[member] != member)
            member = parent_[member] = parent_[parent_[member]];
        return member;
    }
    /// Makes one set of those of `a` and `b`. O(log n), amortised.
    void join(std::uint32_t a, std::uint32_t b) {
        a = least(a);
        b = least(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<std::uint32_t> parent_;
};
using disjoint_sets = basic_disjoint_sets<>;

}  // namespace stowage::detail
