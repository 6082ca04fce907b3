#include <stowage/turnip/detail/arena_map.hpp>

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>
#include <stowage/turnip/detail/shelf.hpp>

namespace {

using stowage::detail::splitmix64;
using stowage::turnip::detail::arena_map;

/// The free ranges of the map, from its used ones.
std::vector<std::pair<std::int64_t, std::int64_t>> free_ranges(const arena_map& map) {
    std::vector<std::pair<std::int64_t, std::int64_t>> list;
    std::int64_t from = 0;
    for (const auto& [lower, used] : map.used()) {
        if (lower > from) list.emplace_back(from, lower);
        from = used.upper;
    }
    if (from < map.capacity()) list.emplace_back(from, map.capacity());
    return list;
}

/// The size of the smallest free piece outside of [not_from, not_to) with an aligned place; -1 if none.
std::int64_t snuggest_size(const arena_map& map, std::int64_t bytes, std::int64_t alignment,
                           std::int64_t not_from, std::int64_t not_to) {
    std::int64_t best = -1;
    const auto offer = [&](std::int64_t lower, std::int64_t upper) {
        const std::int64_t at = (lower + alignment - 1) / alignment * alignment;
        if (upper - at >= bytes && (best < 0 || upper - lower < best)) best = upper - lower;
    };
    for (const auto& [lower, upper] : free_ranges(map)) {
        if (not_from == not_to || not_from >= upper || not_to <= lower) {
            offer(lower, upper);
        } else {
            offer(lower, not_from);
            offer(not_to, upper);
        }
    }
    return best;
}

/// The piece outside of [not_from, not_to) that `at` lies in.
std::int64_t size_of_piece(const arena_map& map, std::int64_t at, std::int64_t not_from,
                           std::int64_t not_to) {
    for (auto [lower, upper] : free_ranges(map)) {
        if (at < lower || at >= upper) continue;
        if (not_from == not_to || not_from >= upper || not_to <= lower) return upper - lower;
        return at < not_from ? not_from - lower : upper - not_to;
    }
    return -1;
}

/// Counts what a shelf tells it.
struct counting_hooks {
    std::int64_t bytes_moved = 0;
    std::vector<std::int64_t> sizes;  // by owner
    std::size_t sent = 0;
    void moved(std::uint32_t owner, std::int64_t from, std::int64_t to) {
        const std::int64_t distance = from < to ? to - from : from - to;
        CHECK(distance >= sizes[owner]);
        bytes_moved += sizes[owner];
    }
    void sent_away(std::uint32_t, std::int64_t, std::vector<stowage::turnip::detail::newcomer>&) { ++sent; }
};

}  // namespace

TEST_CASE("free ranges are those that the used ones leave, and the snuggest place is one of the smallest") {
    splitmix64 random(11);
    for (int round = 0; round < 40; ++round) {
        arena_map map(64 + static_cast<std::int64_t>(random.below(64)));
        std::vector<std::int64_t> taken;
        for (int step = 0; step < 60; ++step) {
            const auto bytes = 1 + static_cast<std::int64_t>(random.below(12));
            const auto alignment = std::int64_t{1} << random.below(4);
            const auto lower = static_cast<std::int64_t>(random.below(60));
            const auto upper = lower + static_cast<std::int64_t>(random.below(20));
            const std::int64_t at = map.snuggest(bytes, alignment, lower, upper);
            const std::int64_t size = snuggest_size(map, bytes, alignment, lower, upper);
            REQUIRE((at < 0) == (size < 0));
            if (at >= 0) {
                CHECK(map.is_free(at, bytes));
                CHECK(at % alignment == 0);
                CHECK((lower == upper || at + bytes <= lower || at >= upper));
                CHECK(size_of_piece(map, at, lower, upper) == size);
            }
            if (at >= 0 && random.below(3) != 0) {
                map.take(at, bytes, 0);
                taken.push_back(at);
            } else if (!taken.empty()) {
                const std::size_t k = random.below(taken.size());
                map.give(taken[k]);
                taken[k] = taken.back();
                taken.pop_back();
            }
            std::vector<std::pair<std::int64_t, std::int64_t>> by_size;
            for (const auto& [from, to] : free_ranges(map))
                by_size.emplace_back(to - from, from);
            CHECK(by_size.size() == map.free().size());
            for (const auto& entry : by_size)
                CHECK(map.free().count(entry) == 1);
        }
    }
}

TEST_CASE("where the free bytes are in two places, a shelf moves the fewest bytes that make room") {
    using namespace stowage::turnip::detail;
    counting_hooks hooks;
    hooks.sizes = {4, 2, 3, 1, 5};
    basic_shelf<> arena(15);
    // 0: [0, 4), 1: [4, 6), 2: [6, 9), 3: [9, 10); then 1 leaves. Free: [4, 6) and [10, 15).
    std::vector<newcomer> first;
    std::int64_t wanted = 0;
    for (std::uint32_t owner = 0; owner < 4; ++owner) {
        first.push_back({.owner = owner, .bytes = hooks.sizes[owner], .wanted = wanted});
        wanted += hooks.sizes[owner];
    }
    REQUIRE(arena.place(first, hooks));
    arena.give(4);
    // Six bytes fit nowhere; the byte at 9 moves to [4, 6), and [9, 15) is free.
    std::vector<newcomer> large{{.owner = 4, .bytes = 6}};
    REQUIRE(arena.place(large, hooks));
    CHECK(large.front().address == 9);
    CHECK(hooks.bytes_moved == 1);
    CHECK(hooks.sent == 0);
}
