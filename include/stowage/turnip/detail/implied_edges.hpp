#pragma once
// Drops the edges that longer paths imply, without an n x n matrix: bitsets in blocks of 512 columns. Source:
// papers/offload.md, "For the implementer"; papers/turnip.md, pitfall 10.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/turnip/memgraph.hpp>

namespace stowage::turnip::detail {

/// Removes every edge u -> v for which another path leads from u to v. Edges lead from smaller to larger
/// indices, none occurs twice; they come back sorted by `from`, then `to`. O(n m / 64) time at worst, less
/// where edges are short; n x 64 bytes beside the edges.
template <class = void>
void drop_implied_edges(std::size_t vertices, std::vector<edge>& edges) {
    constexpr std::size_t words = 8;
    constexpr std::size_t columns = words * 64;
    using row = std::array<std::uint64_t, words>;
    std::sort(edges.begin(), edges.end(),
              [](const edge& a, const edge& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
    std::vector<std::uint32_t> first(vertices + 1, 0);
    for (const edge& e : edges)
        ++first[e.from + 1];
    for (std::size_t v = 0; v < vertices; ++v)
        first[v + 1] += first[v];
    // The rows that a block needs begin at the least vertex with an edge into it.
    std::vector<std::size_t> lowest((vertices + columns - 1) / columns, vertices);
    for (const edge& e : edges)
        lowest[e.to / columns] = std::min(lowest[e.to / columns], static_cast<std::size_t>(e.from));
    std::vector<row> reaches(vertices);
    std::vector<char> implied(edges.size(), 0);
    for (std::size_t block = 0; block < vertices; block += columns) {
        const std::size_t top = std::min(vertices, block + columns);
        const std::size_t bottom = lowest[block / columns];
        for (std::size_t v = top; v-- > bottom;) {
            row mine{};
            for (std::uint32_t e = first[v]; e < first[v + 1]; ++e) {
                const std::size_t w = edges[e].to;
                if (w >= top) break;
                if (w >= block) {
                    const std::size_t bit = w - block;
                    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
                    if ((mine[bit / 64] & mask) != 0) implied[e] = 1;
                    mine[bit / 64] |= mask;
                }
                for (std::size_t k = 0; k < words; ++k)
                    mine[k] |= reaches[w][k];
            }
            reaches[v] = mine;
        }
    }
    std::size_t kept = 0;
    for (std::size_t e = 0; e < edges.size(); ++e) {
        if (implied[e] == 0) edges[kept++] = edges[e];
    }
    edges.resize(kept);
}

}  // namespace stowage::turnip::detail
