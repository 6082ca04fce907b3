#include <stowage/layout/caching_arena.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <string>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/caching_allocator.hpp>

using namespace stowage;
using layout::arena_error;

namespace {

struct alignas(512) large_block {
    std::array<std::byte, 1 << 20> bytes{};
};

constexpr layout::caching_options small_figures{.rounding = 64,
                                                .small_request = 256,
                                                .small_segment = 512,
                                                .large_request = 1024,
                                                .large_segment = 2048,
                                                .segment_rounding = 512};

std::string refusal(auto call) {
    try {
        call();
    } catch (const arena_error& e) {
        return e.what();
    }
    return "nothing was refused";
}

}  // namespace

TEST_CASE("it places as the simulation does, and reserves as much") {
    static large_block block;
    detail::splitmix64 random(17);
    for (int round = 0; round < 40; ++round) {
        layout::problem p;
        for (int i = 0; i < 60; ++i) {
            layout::buffer b;
            b.lower = static_cast<std::int64_t>(random.below(30));
            b.upper = b.lower + static_cast<std::int64_t>(random.below(9));
            b.size = static_cast<std::int64_t>(random.below(random.below(5) == 0 ? 3000 : 300));
            p.buffers.push_back(b);
        }
        const layout::caching_usage simulated = layout::simulate_caching(p, small_figures);
        layout::caching_arena<> arena(layout::replay(p, simulated.offsets), block.bytes, {}, small_figures);
        for (std::int64_t time = 0; time < 50; ++time) {
            for (std::size_t i = 0; i < p.buffers.size(); ++i) {
                if (p.buffers[i].takes_part() && p.buffers[i].upper == time) arena.release(i);
            }
            for (std::size_t i = 0; i < p.buffers.size(); ++i) {
                if (!p.buffers[i].takes_part() || p.buffers[i].lower != time) continue;
                REQUIRE(arena.place(i) == block.bytes.data() + simulated.offsets[i]);
            }
        }
        CHECK(arena.arena_bytes() == simulated.reserved);
        CHECK(arena.allocated_bytes() == 0);
    }
}

TEST_CASE("segments stay from run to run") {
    static large_block block;
    layout::caching_arena arena(layout::replay{}, std::span<std::byte>(block.bytes),
                                static_cast<std::pmr::memory_resource*>(nullptr), small_figures);
    (void)arena.allocate(100);
    (void)arena.allocate(600);
    CHECK(arena.arena_bytes() == 512 + 2048);
    CHECK(arena.allocated_bytes() == 128 + 640);
    arena.rewind();
    CHECK(arena.allocated_bytes() == 0);
    (void)arena.allocate(600);
    (void)arena.allocate(512);
    CHECK(arena.arena_bytes() == 512 + 2048);
}

TEST_CASE("what does not fit the block goes to the fallback or is refused") {
    static large_block block;
    const std::span<std::byte> small = std::span(block.bytes).first(600);
    layout::problem p;
    p.buffers = {{.lower = 0, .upper = 1, .size = 700}};
    p.names = {"wide"};
    const std::vector<std::int64_t> zero = {0};
    layout::caching_arena<> refusing(layout::replay(p, zero), small, {}, small_figures);
    CHECK(refusal([&] { (void)refusing.place("wide"); }) ==
          "buffer 0 (wide): 700 bytes do not fit: segments hold 0 of the block's 600");
    CHECK(!refusing.is_alive("wide"));
    CHECK_NOTHROW((void)refusing.allocate(200));
    CHECK(refusal([&] { (void)refusing.allocate(700); }) ==
          "700 bytes do not fit: segments hold 512 of the block's 600, at alignment " +
              std::to_string(alignof(std::max_align_t)));
    CHECK(refusal([&] { (void)refusing.allocate(16, 128); }) != "nothing was refused");
    std::array<std::byte, 2048> more{};
    std::pmr::monotonic_buffer_resource upstream(more.data(), more.size(), std::pmr::null_memory_resource());
    layout::caching_arena forwarding(layout::replay{}, small, &upstream, small_figures);
    void* const memory = forwarding.allocate(700);
    CHECK(layout::detail::is_inside(static_cast<std::byte*>(memory), more));
    forwarding.deallocate(memory, 700);
}

TEST_CASE("the block must be aligned") {
    static large_block block;
    CHECK(refusal([&] {
              layout::caching_arena<> arena(layout::replay{}, std::span(block.bytes).subspan(64), {});
          }) == "the block's address is no multiple of 512");
}
