#include <stowage/layout/caching_allocator.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/units.hpp>
#include <stowage/verify/layout.hpp>

using namespace stowage;
using layout::buffer;
using layout::caching_usage;
using layout::problem;
using layout::simulate_caching;

namespace {

/// PyTorch's allocator in its plainest form: lists walked from end to end.
class plain_allocator {
public:
    std::int64_t allocate(std::int64_t size) {
        size = (size + 511) / 512 * 512;
        const bool small = size <= MiB;
        std::size_t best = blocks.size();
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const block& b = blocks[i];
            if (b.used || b.small != small || b.size < size) continue;
            if (best == blocks.size() || b.size < blocks[best].size) best = i;
        }
        if (best == blocks.size()) {
            std::int64_t segment = 2 * MiB;
            if (!small) segment = size < 10 * MiB ? 20 * MiB : (size + 2 * MiB - 1) / (2 * MiB) * (2 * MiB);
            blocks.push_back({reserved, segment, segments++, small, false});
            reserved += segment;
        }
        const std::int64_t rest = blocks[best].size - size;
        if (small ? rest >= 512 : rest > MiB) {
            block other = blocks[best];
            other.address += size;
            other.size = rest;
            blocks[best].size = size;
            blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(best) + 1, other);
        }
        blocks[best].used = true;
        return blocks[best].address;
    }
    void release(std::int64_t address) {
        std::size_t i = 0;
        while (blocks[i].address != address)
            ++i;
        blocks[i].used = false;
        const auto join = [&](std::size_t k) {
            if (k + 1 >= blocks.size() || blocks[k].used || blocks[k + 1].used) return;
            if (blocks[k].segment != blocks[k + 1].segment) return;
            blocks[k].size += blocks[k + 1].size;
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(k) + 1);
        };
        join(i);
        if (i > 0) join(i - 1);
    }
    std::int64_t reserved = 0;

private:
    struct block {
        std::int64_t address;
        std::int64_t size;
        int segment;
        bool small;
        bool used;
    };
    std::vector<block> blocks;  // by address
    int segments = 0;
};

problem lifetimes(std::vector<buffer> buffers) {
    problem p;
    p.buffers = std::move(buffers);
    return p;
}

struct without_buffers {
    layout::offset_list operator()(int) const { return {}; }
};

static_assert(layout::layout_policy<layout::caching_allocator>);
static_assert(!layout::searching_layout_policy<layout::caching_allocator>);
static_assert(!layout::layout_policy<without_buffers>);

}  // namespace

TEST_CASE("segments by the size of a request") {
    const auto reserved = [](std::int64_t size) {
        return simulate_caching(lifetimes({{.lower = 0, .upper = 1, .size = size}})).reserved;
    };
    CHECK(reserved(0) == 0);
    CHECK(reserved(1) == 2 * MiB);
    CHECK(reserved(MiB) == 2 * MiB);
    CHECK(reserved(MiB + 1) == 20 * MiB);
    CHECK(reserved(10 * MiB - 512) == 20 * MiB);
    CHECK(reserved(10 * MiB - 511) == 10 * MiB);
    CHECK(reserved(10 * MiB) == 10 * MiB);
    CHECK(reserved(10 * MiB + 1) == 12 * MiB);
}

TEST_CASE("what is left over is split off where it is worth it") {
    // Small: from 512 bytes on; a second buffer lies behind the first.
    caching_usage small = simulate_caching(
        lifetimes({{.lower = 0, .upper = 2, .size = 1}, {.lower = 0, .upper = 2, .size = 513}}));
    CHECK(small.offsets == layout::offset_list{0, 512});
    CHECK(small.allocated_peak == 512 + 1024);
    CHECK(small.requested_peak == 514);
    // Large: only where more than 1 MiB is left; else the block keeps it.
    caching_usage whole = simulate_caching(
        lifetimes({{.lower = 0, .upper = 1, .size = 12 * MiB}, {.lower = 1, .upper = 2, .size = 11 * MiB}}));
    CHECK(whole.reserved == 12 * MiB);
    CHECK(whole.allocated_peak == 12 * MiB);
    caching_usage parted = simulate_caching(lifetimes({{.lower = 0, .upper = 1, .size = 12 * MiB},
                                                       {.lower = 1, .upper = 3, .size = 11 * MiB - 512},
                                                       {.lower = 2, .upper = 3, .size = MiB + 512}}));
    CHECK(parted.reserved == 12 * MiB);
    CHECK(parted.offsets == layout::offset_list{0, 0, 11 * MiB - 512});
}

TEST_CASE("the smallest block that fits is taken, and free neighbours are merged") {
    // Blocks of 3, 2 and 3 units; the first and the last are freed, then a request of 2 units comes: it takes
    // neither the free 3 at the front nor the tail, but the smaller of them.
    const caching_usage best = simulate_caching(lifetimes({{.lower = 0, .upper = 1, .size = 3 * 512},
                                                           {.lower = 0, .upper = 9, .size = 512},
                                                           {.lower = 0, .upper = 1, .size = 2 * 512},
                                                           {.lower = 0, .upper = 9, .size = 512},
                                                           {.lower = 1, .upper = 9, .size = 2 * 512}}));
    CHECK(best.offsets[4] == 4 * 512);
    // Two neighbours freed at one moment make one block of their sum.
    const caching_usage merged = simulate_caching(lifetimes({{.lower = 0, .upper = 1, .size = MiB},
                                                             {.lower = 0, .upper = 1, .size = MiB / 2},
                                                             {.lower = 0, .upper = 9, .size = MiB / 2},
                                                             {.lower = 1, .upper = 9, .size = MiB}}));
    CHECK(merged.reserved == 2 * MiB);
    CHECK(merged.offsets[3] == 0);
}

TEST_CASE("a buffer is freed after its last operator, before the next one allocates") {
    program p;
    const auto a = p.add_buffer({.bytes = 12 * MiB});
    const auto b = p.add_buffer({.bytes = 12 * MiB});
    const auto c = p.add_buffer({.bytes = 12 * MiB});
    p.add_operator({.writes = {a}});
    p.add_operator({.reads = {a}, .writes = {b}});
    p.add_operator({.reads = {b}, .writes = {c}});
    const tensor_graph graph = make_tensor_graph(p);
    const caching_usage chain = simulate_caching(graph, program_order(graph));
    CHECK(chain.reserved == 24 * MiB);
    CHECK(chain.segments == 2);
    CHECK(chain.offsets == layout::offset_list{0, 12 * MiB, 0});
}

TEST_CASE("nothing is asked for zero sizes and empty lifetimes") {
    const caching_usage none = simulate_caching(
        lifetimes({{.lower = 0, .upper = 5, .size = 0}, {.lower = 3, .upper = 3, .size = 100}}));
    CHECK(none.reserved == 0);
    CHECK(none.offsets == layout::offset_list{0, 0});
    CHECK(simulate_caching(problem{}).reserved == 0);
}

TEST_CASE("the simulation agrees with lists walked from end to end") {
    detail::splitmix64 random(3);
    for (int round = 0; round < 60; ++round) {
        problem p;
        const std::size_t count = 1 + random.below(120);
        for (std::size_t i = 0; i < count; ++i) {
            buffer b;
            b.lower = static_cast<std::int64_t>(random.below(60));
            b.upper = b.lower + 1 + static_cast<std::int64_t>(random.below(20));
            constexpr std::int64_t scale[] = {600, 3 * 1024, MiB / 2, 2 * MiB, 4 * MiB, 25 * MiB};
            const auto most = static_cast<std::uint64_t>(scale[random.below(std::size(scale))]);
            b.size = static_cast<std::int64_t>(1 + random.below(most));
            p.buffers.push_back(b);
        }
        plain_allocator plain;
        layout::offset_list expected(count, 0);
        for (std::int64_t time = 0; time < 100; ++time) {
            for (std::size_t i = 0; i < count; ++i) {
                if (p.buffers[i].upper == time) plain.release(expected[i]);
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (p.buffers[i].lower == time) expected[i] = plain.allocate(p.buffers[i].size);
            }
        }
        const caching_usage found = simulate_caching(p);
        REQUIRE(found.offsets == expected);
        CHECK(found.reserved == plain.reserved);
    }
}

TEST_CASE("as a policy it makes valid layouts at any alignment") {
    detail::splitmix64 random(8);
    for (int round = 0; round < 80; ++round) {
        problem p;
        p.alignment = static_cast<std::int64_t>(1 + random.below(3)) * (round % 2 == 0 ? 1 : 512);
        for (std::size_t i = 0; i < 60; ++i) {
            buffer b;
            b.lower = static_cast<std::int64_t>(random.below(40));
            b.upper = b.lower + static_cast<std::int64_t>(random.below(20));
            b.size = static_cast<std::int64_t>(random.below(random.below(4) == 0 ? 5 * MiB : 40 * KiB));
            b.alignment = random.below(5) == 0 ? 1536 : 1;
            p.buffers.push_back(b);
        }
        const layout::offset_list offsets = layout::caching_allocator{}(p);
        const verify::verdict found = verify::check_layout(p, offsets);
        REQUIRE_MESSAGE(found.ok, found.reason);
    }
}

TEST_CASE("other figures, and what is refused") {
    const problem p = lifetimes({{.lower = 0, .upper = 1, .size = 5}});
    layout::caching_options options{.rounding = 4,
                                    .small_request = 8,
                                    .small_segment = 16,
                                    .large_request = 64,
                                    .large_segment = 128,
                                    .segment_rounding = 32};
    CHECK(simulate_caching(p, options).reserved == 16);
    CHECK(simulate_caching(p, options).allocated_peak == 8);
    options.small_segment = 7;
    CHECK_THROWS_AS((void)simulate_caching(p, options), layout_error);
    CHECK_THROWS_AS((void)simulate_caching(p, {.rounding = 0}), layout_error);
    problem pinned = p;
    pinned.buffers[0].offset = 0;
    pinned.names = {"fixed"};
    try {
        (void)simulate_caching(pinned);
        FAIL("a pin was taken");
    } catch (const layout_error& e) {
        CHECK(e.buffer_concerned().name == "fixed");
    }
    problem huge = lifetimes({{.lower = 0, .upper = 2, .size = std::int64_t{1} << 62},
                              {.lower = 0, .upper = 2, .size = std::int64_t{1} << 62}});
    CHECK_THROWS_AS((void)simulate_caching(huge), overflow_error);
}
