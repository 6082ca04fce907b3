#include <stowage/layout/planned_arena.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <string>
#include <vector>

#include <stowage/layout/caching_arena.hpp>

using namespace stowage;
using layout::arena_error;

namespace {

struct alignas(4096) page {
    std::array<std::byte, 4096> bytes{};
};

layout::problem four() {
    layout::problem p;
    p.buffers = {{.lower = 0, .upper = 2, .size = 64},
                 {.lower = 1, .upper = 3, .size = 128},
                 {.lower = 2, .upper = 4, .size = 100, .alignment = 4},
                 {.lower = 3, .upper = 4, .size = 20}};
    p.names = {"a", "b", "c", "d"};
    p.alignment = 4;
    return p;
}

const std::vector<std::int64_t> places = {128, 0, 128, 0};

layout::replay recorded() {
    return {four(), places};
}

std::string refusal(auto call) {
    try {
        call();
    } catch (const arena_error& e) {
        return e.what();
    }
    return "nothing was refused";
}

/// Gives the bytes of one array, and counts.
struct own_fallback {
    std::vector<std::byte>* store;
    int* given;
    void* allocate(std::size_t bytes, std::size_t) {
        ++*given;
        return bytes <= store->size() ? store->data() : nullptr;
    }
    void deallocate(void*, std::size_t, std::size_t) { --*given; }
};
struct without_deallocate {
    void* allocate(std::size_t, std::size_t);
};

static_assert(layout::fallback_policy<own_fallback>);
static_assert(!layout::fallback_policy<without_deallocate>);

}  // namespace

TEST_CASE("each buffer lies at its planned place") {
    page block;
    layout::planned_arena arena(recorded(), block.bytes);
    CHECK(arena.arena_bytes() == 228);
    CHECK(arena.place("a") == block.bytes.data() + 128);
    CHECK(arena.place("b") == block.bytes.data());
    arena.release("a");
    CHECK(arena.place("c") == block.bytes.data() + 128);
    arena.release("b");
    CHECK(arena.place("d") == block.bytes.data());
}

TEST_CASE("bytes that another still holds are refused, naming both") {
    page block;
    layout::planned_arena arena(recorded(), block.bytes);
    (void)arena.place("a");
    CHECK(refusal([&] { (void)arena.place("c"); }) ==
          "buffer 2 (c): its bytes are still held by buffer 0 (a)");
    (void)arena.place("d");
    try {
        (void)arena.place("b");
        FAIL("b was placed on d");
    } catch (const arena_error& e) {
        CHECK(e.buffer_concerned().index == 1);
        CHECK(e.other_concerned().name == "d");
    }
    arena.release("d");
    CHECK_NOTHROW((void)arena.place("b"));
}

TEST_CASE("plain requests that are not the next of the plan are refused with what was due") {
    page block;
    layout::planned_arena arena(recorded(), block.bytes);
    CHECK(refusal([&] { (void)arena.allocate(65); }) ==
          "buffer 0 (a): a request of 65 bytes is not planned here, the next one is its 64");
    CHECK(arena.unplanned_requests() == 1);
    CHECK(arena.allocate(64) == block.bytes.data() + 128);
    (void)arena.allocate(128);
    CHECK(refusal([&] { (void)arena.allocate(100, 4); }) ==
          "buffer 2 (c): its bytes are still held by buffer 0 (a)");
    arena.deallocate(block.bytes.data() + 128, 64);
    CHECK(arena.allocate(100, 4) == block.bytes.data() + 128);
    arena.deallocate(block.bytes.data(), 128);
    (void)arena.allocate(20, 4);
    CHECK(refusal([&] { (void)arena.allocate(20, 4); }) ==
          "a request of 20 bytes is not planned here, the last buffer of the plan was before it");
    arena.rewind();
    CHECK(arena.allocate(64) == block.bytes.data() + 128);
}

TEST_CASE("the alignment of base + offset is checked") {
    page block;
    // The block's start is off by two: the plan's alignment of 4 cannot hold.
    CHECK(refusal([&] { layout::planned_arena arena(recorded(), std::span(block.bytes).subspan(2)); }) ==
          "buffer 0 (a): the block's address puts it off its alignment 4");
    layout::planned_arena arena(recorded(), std::span(block.bytes).subspan(4));
    CHECK(refusal([&] { (void)arena.allocate(64, 8); }) ==
          "buffer 0 (a): asked for at alignment 8, which its place does not have");
    CHECK_NOTHROW((void)arena.allocate(64, 4));
    using doubles = std::vector<double, layout::arena_allocator<double, layout::planned_arena<>>>;
    CHECK(refusal([&] { doubles values(2, layout::allocator_for<double>(arena, "b")); }) ==
          "buffer 1 (b): asked for at alignment 8, which its place does not have");
    CHECK(!arena.is_alive("b"));
}

TEST_CASE("a block that is too small is refused at once") {
    page block;
    CHECK(refusal([&] { layout::planned_arena arena(recorded(), std::span(block.bytes).first(227)); }) ==
          "buffer 2 (c): it ends at 228, the block has 227 bytes");
    CHECK_NOTHROW(layout::planned_arena(recorded(), std::span(block.bytes).first(228)));
    CHECK_NOTHROW(layout::planned_arena(layout::replay{}, std::span<std::byte>{}));
}

TEST_CASE("what is not planned goes to the fallback") {
    page block;
    SUBCASE("a memory resource") {
        std::array<std::byte, 256> more{};
        std::pmr::monotonic_buffer_resource upstream(more.data(), more.size(),
                                                     std::pmr::null_memory_resource());
        layout::planned_arena arena(recorded(), block.bytes, &upstream);
        auto* const other = static_cast<std::byte*>(arena.allocate(48));
        CHECK(layout::detail::is_inside(other, more));
        CHECK(arena.allocate(64) == block.bytes.data() + 128);
        arena.deallocate(other, 48);
        CHECK(arena.unplanned_requests() == 1);
        CHECK(refusal([&] { (void)arena.place("x"); }) == "buffer (x): it is not part of the plan");
    }
    SUBCASE("none: refused") {
        layout::planned_arena arena(recorded(), block.bytes,
                                    static_cast<std::pmr::memory_resource*>(nullptr));
        CHECK(refusal([&] { (void)arena.allocate(48); }) != "nothing was refused");
    }
    SUBCASE("a policy of one's own") {
        std::vector<std::byte> store(50);
        int given = 0;
        layout::planned_arena<own_fallback> arena(recorded(), block.bytes, {&store, &given});
        void* const other = arena.allocate(48);
        CHECK(other == store.data());
        CHECK(given == 1);
        arena.deallocate(other, 48);
        CHECK(given == 0);
        CHECK(refusal([&] { (void)arena.allocate(51); }) != "nothing was refused");
    }
    SUBCASE("the caching allocator over another block") {
        page second;
        layout::caching_arena<> caching(layout::replay{}, second.bytes, {},
                                        {.rounding = 64, .small_request = 256, .small_segment = 512});
        layout::planned_arena arena(recorded(), block.bytes, &caching);
        void* const other = arena.allocate(48);
        CHECK(other == second.bytes.data());
        CHECK(caching.allocated_bytes() == 64);
        arena.deallocate(other, 48);
        CHECK(caching.allocated_bytes() == 0);
    }
}

TEST_CASE("a buffer with a gap is released and born again") {
    page block;
    layout::problem p;
    p.buffers = {{.lower = 0, .upper = 6, .size = 16, .gaps = {{2, 4}}},
                 {.lower = 2, .upper = 4, .size = 32}};
    p.names = {"split", "guest"};
    const std::vector<std::int64_t> zero = {0, 0};
    layout::planned_arena arena(layout::replay(p, zero), block.bytes);
    void* const first = arena.allocate(16);
    arena.deallocate(first, 16);
    void* const guest = arena.allocate(32);
    CHECK(guest == first);
    arena.deallocate(guest, 32);
    CHECK(arena.allocate(16) == first);
}
