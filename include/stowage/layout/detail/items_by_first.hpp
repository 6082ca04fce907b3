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

/// Made once a problem. O(n log n + k) for n items in k sections.
template <class = void>
struct basic_items_by_first {
    /// Of the items that `takes(index)` is true for.
    template <class Takes>
    basic_items_by_first(const sections& compact, Takes takes) : position(compact.items.size(), 0) {
        for (std::uint32_t i = 0; i < compact.items.size(); ++i) {
            if (takes(i)) items.push_back(i);
        }
        std::sort(items.begin(), items.end(), [&](std::uint32_t a, std::uint32_t b) {
            const section_range x = compact.items[a].range;
            const section_range y = compact.items[b].range;
            if (x.first != y.first) return x.first < y.first;
            return x.last != y.last ? x.last < y.last : a < b;
        });
        start.assign(static_cast<std::size_t>(compact.count()) + 1, 0);
        for (std::size_t k = 0; k < items.size(); ++k) {
            position[items[k]] = static_cast<std::uint32_t>(k);
            ++start[static_cast<std::size_t>(compact.items[items[k]].range.first) + 1];
        }
        std::partial_sum(start.begin(), start.end(), start.begin());
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
