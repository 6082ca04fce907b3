#pragma once
// The lifetimes of a problem's items as a sweep over time reads them.

#include <cstdint>
#include <vector>

#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout::detail {

/// The items' lifetimes in the user's time, and the items by birth and by death, ties by index.
struct item_lives {
    std::vector<std::int64_t> lower;
    std::vector<std::int64_t> upper;
    std::vector<std::uint32_t> births;
    std::vector<std::uint32_t> deaths;
};

/// Time as sorted_by_time.
template <class = void>
[[nodiscard]] item_lives lives_of_items(const problem& problem, const sections& compact) {
    item_lives lives;
    lives.lower.reserve(compact.items.size());
    lives.upper.reserve(compact.items.size());
    for (const item& entry : compact.items) {
        lives.lower.push_back(problem.buffers[entry.buffer].lower);
        lives.upper.push_back(problem.buffers[entry.buffer].upper);
    }
    lives.births = sorted_by_time(lives.lower);
    lives.deaths = sorted_by_time(lives.upper);
    return lives;
}

}  // namespace stowage::layout::detail
