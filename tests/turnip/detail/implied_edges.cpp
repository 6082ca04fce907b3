#include <stowage/turnip/detail/implied_edges.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

namespace turnip = stowage::turnip;

namespace {

/// True if a path of at least `least` edges leads from `from` to `to`.
bool has_path(const std::vector<turnip::edge>& edges, std::size_t vertices, std::uint32_t from,
              std::uint32_t to, int least) {
    std::vector<int> longest(vertices, -1);
    longest[from] = 0;
    for (std::uint32_t v = from; v <= to; ++v) {
        for (const turnip::edge& e : edges) {
            if (e.to == v && longest[e.from] >= 0) longest[v] = std::max(longest[v], longest[e.from] + 1);
        }
    }
    return longest[to] >= least;
}

}  // namespace

TEST_CASE("exactly the edges that longer paths imply are dropped") {
    stowage::detail::splitmix64 random(9);
    for (int round = 0; round < 150; ++round) {
        const std::size_t vertices = 2 + random.below(14);
        std::vector<turnip::edge> all;
        for (std::uint32_t u = 0; u < vertices; ++u) {
            for (std::uint32_t v = u + 1; v < vertices; ++v) {
                if (random.below(3) == 0) all.push_back({u, v, turnip::edge_kind::memory});
            }
        }
        std::vector<turnip::edge> kept = all;
        turnip::detail::drop_implied_edges(vertices, kept);
        std::size_t needed = 0;
        for (const turnip::edge& e : all)
            needed += has_path(all, vertices, e.from, e.to, 2) ? 0 : 1;
        CHECK(kept.size() == needed);
        for (const turnip::edge& e : kept)
            CHECK_FALSE(has_path(all, vertices, e.from, e.to, 2));
    }
}

TEST_CASE("blocks of columns meet: a long chain with every shortcut keeps the chain") {
    constexpr std::uint32_t vertices = 1'500;
    std::vector<turnip::edge> edges;
    for (std::uint32_t v = 1; v < vertices; ++v) {
        edges.push_back({v - 1, v, turnip::edge_kind::data});
        for (const std::uint32_t far : {2U, 511U, 512U, 1'100U}) {
            if (v >= far) edges.push_back({v - far, v, turnip::edge_kind::memory});
        }
    }
    turnip::detail::drop_implied_edges(vertices, edges);
    CHECK(edges.size() == vertices - 1);
}
