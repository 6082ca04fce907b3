#include <stowage/turnip/detail/max_flow.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

using stowage::turnip::detail::max_flow;

namespace {

struct arc {
    std::uint32_t from;
    std::uint32_t to;
    std::int64_t capacity;
};

/// The least cut of a few nodes, by trying all.
std::int64_t least_cut(std::uint32_t nodes, const std::vector<arc>& arcs) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t before = 0; before < (1U << nodes); ++before) {
        if ((before & 3U) != 1U) continue;  // the source is before, the sink is not
        std::int64_t cut = 0;
        for (const arc& a : arcs) {
            if ((before >> a.from & 1U) != 0 && (before >> a.to & 1U) == 0) cut += a.capacity;
        }
        least = std::min(least, cut);
    }
    return least;
}

}  // namespace

TEST_CASE("the largest flow is the least cut, and stopped early no more than that") {
    stowage::detail::splitmix64 random(1);
    for (int round = 0; round < 400; ++round) {
        const auto nodes = static_cast<std::uint32_t>(2 + random.below(7));
        std::vector<arc> arcs;
        for (std::uint64_t k = random.below(20); k-- > 0;) {
            arcs.push_back({static_cast<std::uint32_t>(random.below(nodes)),
                            static_cast<std::uint32_t>(random.below(nodes)),
                            static_cast<std::int64_t>(random.below(9))});
        }
        for (const std::size_t phases : {1U, 100U}) {
            max_flow flow;
            for (std::uint32_t n = 2; n < nodes; ++n)
                CHECK(flow.add_node() == n);
            for (const arc& a : arcs)
                flow.add_edge(a.from, a.to, a.capacity);
            const std::int64_t found = flow(phases);
            const std::int64_t cut = least_cut(nodes, arcs);
            CHECK(found <= cut);
            if (phases > 1) CHECK(found == cut);
        }
    }
}
