// One contract for every arena over a replay.
#include <stowage/layout/replay_arena.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/layout/caching_arena.hpp>
#include <stowage/layout/planned_arena.hpp>
#include <stowage/roam/plan.hpp>
#include <support/random_plans.hpp>
#include "support/counted_allocations.hpp"

using namespace stowage;
using layout::arena_error;

namespace {

struct alignas(512) block_512 {
    std::array<std::byte, 1 << 16> bytes;
};

std::span<std::byte> a_block() {
    static block_512 block;
    return block.bytes;
}

/// Three buffers, the third at the first one's place after it; one without bytes, one without a lifetime.
layout::replay three() {
    layout::problem p;
    p.buffers = {{.lower = 0, .upper = 2, .size = 64, .alignment = 32},
                 {.lower = 1, .upper = 3, .size = 128},
                 {.lower = 2, .upper = 4, .size = 64},
                 {.lower = 0, .upper = 4, .size = 0},
                 {.lower = 1, .upper = 1, .size = 10}};
    p.names = {"a", "b", "c", "nothing", "never"};
    const std::vector<std::int64_t> offsets = {0, 64, 0, 0, 0};
    return {p, offsets};
}

constexpr layout::caching_options small_figures{.rounding = 64,
                                                .small_request = 256,
                                                .small_segment = 512,
                                                .large_request = 1024,
                                                .large_segment = 2048,
                                                .segment_rounding = 512};

template <class Arena>
Arena make(layout::replay recorded, std::span<std::byte> block);
template <>
layout::planned_arena<> make(layout::replay recorded, std::span<std::byte> block) {
    return layout::planned_arena(std::move(recorded), block);
}
template <>
layout::caching_arena<> make(layout::replay recorded, std::span<std::byte> block) {
    return layout::caching_arena<>(std::move(recorded), block, {}, small_figures);
}

template <class Call>
arena_error refused(Call call) {
    try {
        call();
    } catch (const arena_error& e) {
        return e;
    }
    FAIL("nothing was refused");
    return arena_error("");
}

// An arena without one thing each; the concept must miss it.
struct without_rewind : std::pmr::memory_resource {
    template <class Who>
    void* place(const Who&);
    template <class Who>
    void release(const Who&);
    bool is_alive(std::size_t) const;
    const layout::replay& recorded() const;
    std::span<std::byte> block() const;
    std::int64_t arena_bytes() const;
};
struct with_rewind : without_rewind {
    void rewind() noexcept;
};
struct without_names : with_rewind {
    void* place(std::size_t);
};
struct rewind_that_throws : without_rewind {
    void rewind();
};

static_assert(layout::replay_arena<with_rewind>);
static_assert(!layout::replay_arena<without_rewind>);
static_assert(!layout::replay_arena<without_names>);
static_assert(!layout::replay_arena<rewind_that_throws>);
static_assert(!layout::replay_arena<int>);

}  // namespace

TEST_CASE_TEMPLATE("buffers are served by index, id and name", Arena, layout::planned_arena<>,
                   layout::caching_arena<>) {
    Arena arena = make<Arena>(three(), a_block());
    void* const a = arena.place(std::size_t{0});
    void* const b = arena.place(buffer_id{1});
    CHECK(layout::detail::is_aligned(a, 32));
    CHECK(layout::detail::is_inside(static_cast<std::byte*>(b), arena.block()));
    CHECK(arena.is_alive("a"));
    CHECK(!arena.is_alive("c"));
    arena.release("a");
    CHECK(!arena.is_alive(std::size_t{0}));
    void* const c = arena.place("c");
    CHECK(c == a);
    arena.release(std::size_t{1});
    arena.release(buffer_id{2});
    CHECK(!arena.is_alive("b"));
    CHECK(arena.arena_bytes() > 0);
}

TEST_CASE_TEMPLATE("what was not planned is refused by name", Arena, layout::planned_arena<>,
                   layout::caching_arena<>) {
    Arena arena = make<Arena>(three(), a_block());
    CHECK(refused([&] { (void)arena.place("activation"); }).buffer_concerned().name == "activation");
    CHECK(refused([&] { (void)arena.place("never"); }).buffer_concerned().index == 4);
    CHECK(refused([&] { (void)arena.place(std::size_t{9}); }).buffer_concerned().index == 9);
    CHECK(refused([&] { (void)arena.place(operator_id{0}); }).rule() ==
          "the plan has no workspace of operator 0");
    CHECK(refused([&] { arena.release("activation"); }).buffer_concerned().name == "activation");
}

TEST_CASE_TEMPLATE("twice allocated or twice released is an error that names the buffer", Arena,
                   layout::planned_arena<>, layout::caching_arena<>) {
    Arena arena = make<Arena>(three(), a_block());
    (void)arena.place("b");
    const arena_error twice = refused([&] { (void)arena.place("b"); });
    CHECK(std::string(twice.what()) == "buffer 1 (b): it is allocated already");
    arena.release("b");
    const arena_error again = refused([&] { arena.release("b"); });
    CHECK(std::string(again.what()) == "buffer 1 (b): released, but it is not allocated");
    CHECK_NOTHROW((void)arena.place("b"));
}

TEST_CASE_TEMPLATE("a buffer without bytes takes part in nothing", Arena, layout::planned_arena<>,
                   layout::caching_arena<>) {
    Arena arena = make<Arena>(three(), a_block());
    (void)arena.place("a");
    CHECK(arena.place("nothing") != nullptr);
    CHECK(arena.place("nothing") != nullptr);
    CHECK(!arena.is_alive("nothing"));
    arena.release("nothing");
    {
        const std::vector<char, layout::arena_allocator<char, Arena>> empty(
            layout::allocator_for<char>(arena, "nothing"));
        auto bound = layout::allocator_for<char>(arena, "nothing");
        char* const none = bound.allocate(0);
        bound.deallocate(none, 0);
    }
    CHECK(arena.is_alive("a"));
}

TEST_CASE_TEMPLATE("plain requests in the order of births are the planned buffers", Arena,
                   layout::planned_arena<>, layout::caching_arena<>) {
    Arena arena = make<Arena>(three(), a_block());
    for (int run = 0; run < 3; ++run) {
        std::pmr::memory_resource& resource = arena;
        void* const a = resource.allocate(64, 32);
        void* const b = resource.allocate(128);
        resource.deallocate(a, 64, 32);
        void* const c = resource.allocate(64);
        CHECK(a == c);
        CHECK(b != c);
        resource.deallocate(b, 128);
        resource.deallocate(c, 64);
        resource.deallocate(c, 64);  // not alive: ignored
        arena.rewind();
    }
}

TEST_CASE_TEMPLATE("rewinding gives everything back, and what comes back late is ignored", Arena,
                   layout::planned_arena<>, layout::caching_arena<>) {
    Arena arena = make<Arena>(three(), a_block());
    void* const a = arena.place("a");
    (void)arena.place("b");
    arena.rewind();
    CHECK(!arena.is_alive("a"));
    CHECK(!arena.is_alive("b"));
    arena.deallocate(a, 64, 32);
    CHECK_NOTHROW((void)arena.place("a"));
    CHECK_NOTHROW((void)arena.place("b"));
}

TEST_CASE_TEMPLATE("a container bound to a buffer lies at its place", Arena, layout::planned_arena<>,
                   layout::caching_arena<>) {
    Arena arena = make<Arena>(three(), a_block());
    using floats = std::vector<float, layout::arena_allocator<float, Arena>>;
    {
        floats values(16, 1.5F, layout::allocator_for<float>(arena, "a"));
        CHECK(layout::detail::is_inside(reinterpret_cast<std::byte*>(values.data()), arena.block()));
        CHECK(arena.is_alive("a"));
        floats moved = std::move(values);
        CHECK(moved.size() == 16);
        CHECK(moved[15] == 1.5F);
        // It cannot grow: its buffer is taken.
        CHECK(refused([&] { moved.push_back(1.0F); }).buffer_concerned().name == "a");
    }
    CHECK(!arena.is_alive("a"));
    const auto too_large = [&] { floats values(17, layout::allocator_for<float>(arena, "a")); };
    CHECK(refused(too_large).rule() == "asked for 68 bytes, the plan has 64");
    CHECK(!arena.is_alive("a"));
    CHECK(refused([&] { (void)layout::allocator_for<float>(arena, "x"); }).buffer_concerned().name == "x");
    floats unbound{layout::arena_allocator<float, Arena>(arena)};
    unbound.reserve(16);
    CHECK(unbound.get_allocator() == layout::arena_allocator<int, Arena>(arena));
    const std::pmr::vector<std::byte> polymorphic(128, &arena);
    CHECK(layout::detail::is_inside(polymorphic.data(), arena.block()));
}

TEST_CASE_TEMPLATE("nothing is allocated while an arena serves", Arena, layout::planned_arena<>,
                   layout::caching_arena<>) {
    Arena arena = make<Arena>(three(), a_block());
    const auto run = [&] {
        (void)arena.place("a");
        (void)arena.place(std::size_t{1});
        arena.release("a");
        void* const c = arena.place(buffer_id{2});
        arena.deallocate(c, 64);
        arena.rewind();
        void* const plain = arena.allocate(64, 32);
        (void)arena.allocate(128);
        arena.deallocate(plain, 64, 32);
        arena.rewind();
    };
    run();  // the caching allocator has seen its blocks from here on
    const std::size_t before = test::allocations;
    for (int k = 0; k < 10; ++k)
        run();
    CHECK(test::allocations == before);
}

TEST_CASE_TEMPLATE("plans of random programs are replayed, run after run, without two on one byte", Arena,
                   layout::planned_arena<>, layout::caching_arena<>) {
    detail::splitmix64 random(31);
    for (int round = 0; round < 100; ++round) {
        const program p = test::wide_program(random);
        const tensor_graph graph = make_tensor_graph(p);
        const plan made = test::random_plan(p, graph, random, 32);
        Arena arena = make<Arena>(layout::make_replay(graph, made), a_block());
        const std::vector<test::holder> holders = test::holders(p, made.order);
        const auto who = [](const test::holder& h) { return std::byte(h.index + (h.workspace ? 128 : 0)); };
        for (int run = 0; run < 2; ++run) {
            std::vector<std::span<std::byte>> at(holders.size());
            for (std::size_t t = 0; t < made.order.size(); ++t) {
                for (std::size_t k = 0; k < holders.size(); ++k) {
                    const test::holder& h = holders[k];
                    const auto index = static_cast<std::uint32_t>(h.index);
                    if (h.first != t) continue;
                    void* const memory =
                        h.workspace ? arena.place(operator_id{index}) : arena.place(buffer_id{index});
                    at[k] = {static_cast<std::byte*>(memory), static_cast<std::size_t>(h.size)};
                    for (std::byte& byte : at[k])
                        byte = who(h);
                }
                for (std::size_t k = 0; k < holders.size(); ++k) {
                    const test::holder& h = holders[k];
                    if (h.first > t || h.last < t) continue;
                    for (const std::byte byte : at[k])
                        REQUIRE(byte == who(h));
                }
                for (const test::holder& h : holders) {
                    const auto index = static_cast<std::uint32_t>(h.index);
                    if (h.last != t) continue;
                    if (h.workspace) arena.release(operator_id{index});
                    if (!h.workspace) arena.release(buffer_id{index});
                }
            }
            arena.rewind();
        }
    }
}
