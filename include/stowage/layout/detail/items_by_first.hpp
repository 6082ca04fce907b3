#pragma once
// Items in the order in which they begin, so that those that begin in some sections have places in a row:
// what the trees of skylines are asked about.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <stowage/layout/detail/sections.hpp>

namespace stowage::layout::detail {

/// Made once a problem. O(n log m + k) for n items in k sections, at most m of which begin in one.
template <class = void>
struct basic_items_by_first {
    /// Of the items that `takes(index)` is true for.
    template <class Takes>
    basic_items_by_first(const sections& compact, Takes takes) : position(compact.items.size(), 0) {
        const auto first_of = [&](std::uint32_t i) {
            return static_cast<std::size_t>(compact.items[i].range.first);
        };
        start.assign(static_cast<std::size_t>(compact.count()) + 2, 0);
        for (std::uint32_t i = 0; i < compact.items.size(); ++i) {
            if (takes(i)) ++start[first_of(i) + 2];
        }
        std::partial_sum(start.begin(), start.end(), start.begin());
        items.resize(start.back());
        for (std::uint32_t i = 0; i < compact.items.size(); ++i) {
            if (takes(i)) items[start[first_of(i) + 1]++] = i;
        }
        start.pop_back();
        for (std::size_t s = 0; s + 1 < start.size(); ++s) {
            std::sort(items.begin() + start[s], items.begin() + start[s + 1],
                      [&](std::uint32_t a, std::uint32_t b) {
                          const std::int32_t x = compact.items[a].range.last;
                          const std::int32_t y = compact.items[b].range.last;
                          return x != y ? x < y : a < b;
                      });
        }
        for (std::size_t k = 0; k < items.size(); ++k)
            position[items[k]] = static_cast<std::uint32_t>(k);
    }
    /// The first place whose item begins in `section` or later.
    [[nodiscard]] std::uint32_t from(std::int32_t section) const {
        return start[static_cast<std::size_t>(section)];
    }

    std::vector<std::uint32_t> items;     ///< by (first section, last section, index)
    std::vector<std::uint32_t> position;  ///< per item: its place there
    std::vector<std::uint32_t> start;     ///< per section: the first place of those that begin there or later
};
using items_by_first = basic_items_by_first<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template struct basic_items_by_first<>;
#endif

}  // namespace stowage::layout::detail
