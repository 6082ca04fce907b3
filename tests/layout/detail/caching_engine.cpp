#include <stowage/layout/detail/caching_engine.hpp>

#include <doctest/doctest.h>

#include <vector>

#include <stowage/detail/random.hpp>

using namespace stowage;
using layout::detail::caching_engine;

TEST_CASE("blocks in use are disjoint, within the capacity and aligned, and all comes back") {
    detail::splitmix64 random(12);
    constexpr std::int64_t capacity = 40 * 2048;
    caching_engine engine({.rounding = 16,
                           .small_request = 128,
                           .small_segment = 1024,
                           .large_request = 4096,
                           .large_segment = 8192,
                           .segment_rounding = 2048},
                          48, capacity);
    struct use {
        caching_engine::block_id id;
        std::int64_t size;
    };
    std::vector<use> alive;
    int refused = 0;
    for (int step = 0; step < 4000; ++step) {
        if (!alive.empty() && random.below(5) < 2) {
            const std::size_t k = random.below(alive.size());
            engine.release(alive[k].id);
            alive[k] = alive.back();
            alive.pop_back();
            continue;
        }
        const auto size = static_cast<std::int64_t>(1 + random.below(random.below(4) == 0 ? 6000 : 200));
        const auto id = engine.allocate(size);
        if (id == caching_engine::none) {
            ++refused;
            continue;
        }
        REQUIRE(engine.address(id) % 48 == 0);
        REQUIRE(engine.address(id) + size <= capacity);
        for (const use& other : alive) {
            const std::int64_t at = engine.address(other.id);
            REQUIRE((at + other.size <= engine.address(id) || engine.address(id) + size <= at));
        }
        alive.push_back({id, size});
    }
    CHECK(refused > 0);
    for (const use& other : alive)
        engine.release(other.id);
    CHECK(engine.allocated() == 0);
    CHECK(engine.reserved() <= capacity);
    // Everything is merged again: a large segment serves a request of nearly its size.
    const std::int64_t reserved = engine.reserved();
    (void)engine.allocate(8000);
    CHECK(engine.reserved() == reserved);
}

TEST_CASE("alignments have a common multiple or are refused") {
    CHECK(caching_engine::common_multiple(512, 24) == 1536);
    CHECK_THROWS_AS((void)caching_engine::common_multiple((std::int64_t{1} << 40) + 1, std::int64_t{1} << 40),
                    layout_error);
    CHECK_THROWS_AS(caching_engine({.segment_rounding = 0}), layout_error);
    CHECK_THROWS_AS(caching_engine({.large_segment = 1}), layout_error);
}
