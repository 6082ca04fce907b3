#include <stowage/order/detail/max_flow.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/detail/random.hpp>

namespace {

using stowage::order::detail::flow_network;

struct arc {
    std::uint32_t from;
    std::uint32_t to;
    std::int64_t capacity;
};

// The least capacity of all cuts, and the least and the greatest source side that have it.
struct cut {
    std::int64_t capacity = std::numeric_limits<std::int64_t>::max();
    std::uint32_t least = 0;
    std::uint32_t greatest = 0;
};

cut brute_force(std::uint32_t nodes, const std::vector<arc>& arcs, std::uint32_t source, std::uint32_t sink) {
    cut best;
    for (std::uint32_t set = 0; set < 1U << nodes; ++set) {
        if ((set >> source & 1U) == 0 || (set >> sink & 1U) != 0) continue;
        std::int64_t capacity = 0;
        bool finite = true;
        for (const arc& a : arcs) {
            if ((set >> a.from & 1U) == 0 || (set >> a.to & 1U) != 0) continue;
            if (a.capacity == flow_network::infinite) finite = false;
            if (finite) capacity += a.capacity;
        }
        if (!finite || capacity > best.capacity) continue;
        if (capacity < best.capacity) best = {capacity, set, set};
        best.least &= set;
        best.greatest |= set;
    }
    return best;
}

std::uint32_t bits(const std::vector<std::uint8_t>& mark) {
    std::uint32_t set = 0;
    for (std::size_t i = 0; i < mark.size(); ++i)
        set |= static_cast<std::uint32_t>(mark[i] != 0) << i;
    return set;
}

}  // namespace

TEST_CASE("flow, least and greatest cut agree with all cuts of random networks") {
    stowage::detail::splitmix64 random(7);
    flow_network network;
    std::vector<std::uint8_t> mark;
    for (int trial = 0; trial < 500; ++trial) {
        const auto nodes = static_cast<std::uint32_t>(2 + random.below(7));
        network.reset(nodes);
        std::vector<arc> arcs;
        for (std::uint64_t k = random.below(3 * nodes); k > 0; --k) {
            arc a{static_cast<std::uint32_t>(random.below(nodes)),
                  static_cast<std::uint32_t>(random.below(nodes)),
                  static_cast<std::int64_t>(random.below(12))};
            if (a.to != 1 && a.from != 0 && random.below(4) == 0) a.capacity = flow_network::infinite;
            arcs.push_back(a);
            network.add_arc(a.from, a.to, a.capacity);
        }
        network.finish();
        const cut expected = brute_force(nodes, arcs, 0, 1);
        const std::int64_t part = network.augment(0, 1, expected.capacity / 2);
        CHECK(part >= expected.capacity / 2);
        CHECK(part + network.augment(0, 1) == expected.capacity);
        network.mark_reached_from(0, mark);
        CHECK(bits(mark) == expected.least);
        network.mark_reaching(1, mark);
        CHECK((bits(mark) ^ ((1U << nodes) - 1)) == expected.greatest);
    }
}

TEST_CASE("flow between other nodes, and back to an earlier state") {
    flow_network network;
    network.reset(4);
    network.add_arc(0, 2, 5);
    network.add_arc(2, 1, 3);
    network.add_arc(2, 3, 4);
    network.add_arc(3, 1, 9);
    network.add_arc(2, 2, 8);
    network.add_arc(0, 1, 0);
    network.finish();
    CHECK(network.node_count() == 4);
    CHECK(network.arc_count() == 8);
    CHECK(network.augment(0, 1) == 5);
    const auto saved = network.residual();
    CHECK(network.augment(2, 1) == 2);
    CHECK(network.augment(3, 1) == 5);
    network.restore(saved);
    CHECK(network.augment(3, 1, 1) >= 1);
}

TEST_CASE("capacities up to 2^63 - 1 in sum") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    flow_network network;
    network.reset(4);
    network.add_arc(0, 2, most - 10);
    network.add_arc(2, 3, flow_network::infinite);
    network.add_arc(3, 1, 6);
    network.add_arc(2, 1, 4);
    network.finish();
    CHECK(network.augment(0, 1) == 10);
}

TEST_CASE("a long path needs no deep stack") {
    flow_network network;
    constexpr std::uint32_t count = 200'000;
    network.reset(count);
    network.add_arc(0, 2, 7);
    for (std::uint32_t i = 2; i + 1 < count; ++i)
        network.add_arc(i, i + 1, flow_network::infinite);
    network.add_arc(count - 1, 1, 5);
    network.finish();
    CHECK(network.augment(0, 1) == 5);
    CHECK(network.visited() > count);
}

TEST_CASE("flow that is stopped after some lengths of paths is no more than the least cut") {
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
            flow_network network;
            network.reset(2);
            for (std::uint32_t n = 2; n < nodes; ++n)
                CHECK(network.add_node() == n);
            for (const arc& a : arcs)
                network.add_arc(a.from, a.to, a.capacity);
            network.finish();
            const std::int64_t found = network.augment(0, 1, flow_network::infinite, phases);
            const std::int64_t least = brute_force(nodes, arcs, 0, 1).capacity;
            CHECK(found <= least);
            if (phases > 1) CHECK(found == least);
        }
    }
}
