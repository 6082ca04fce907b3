#include <stowage/turnip/detail/homecoming.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

namespace {

using stowage::turnip::detail::homecomer;
using stowage::turnip::detail::newcomer;
using stowage::turnip::detail::shelf;

/// Keeps the book of who lies where; a move that overlaps itself, or a sending away, is an error.
struct book {
    std::map<std::uint32_t, std::int64_t> address;
    std::map<std::uint32_t, std::int64_t> bytes;
    std::size_t moves = 0;
    [[nodiscard]] std::int64_t address_of(std::uint32_t owner) const { return address.at(owner); }
    void moved(std::uint32_t owner, std::int64_t from, std::int64_t to) {
        CHECK(address.at(owner) == from);
        CHECK((to + bytes.at(owner) <= from || from + bytes.at(owner) <= to));
        address.at(owner) = to;
        ++moves;
    }
    void sent_away(std::uint32_t, std::int64_t, std::vector<newcomer>&) { CHECK(false); }
};

/// Puts residents of these sizes side by side in the order of `places`.
void seat(shelf& arena, book& hooks, const std::vector<std::int64_t>& sizes,
          const std::vector<std::uint32_t>& places) {
    std::int64_t top = 0;
    for (const std::uint32_t owner : places) {
        std::vector<newcomer> one{{.owner = owner, .bytes = sizes[owner], .wanted = top}};
        REQUIRE(arena.place(one, hooks));
        hooks.address[owner] = one.front().address;
        hooks.bytes[owner] = sizes[owner];
        top += sizes[owner];
    }
}

}  // namespace

TEST_CASE("two that lie in each other's place need one hole, and stay where there is none") {
    for (const std::int64_t spare : {4, 0}) {
        CAPTURE(spare);
        shelf arena(8 + spare);
        book hooks;
        seat(arena, hooks, {4, 4}, {0, 1});
        walk_home(arena, {{.owner = 0, .bytes = 4, .home = 4}, {.owner = 1, .bytes = 4, .home = 0}}, hooks);
        CHECK(hooks.address_of(0) == (spare > 0 ? 4 : 0));
        CHECK(hooks.moves == (spare > 0 ? 3 : 0));
    }
}

TEST_CASE("one whose home overlaps where it lies steps aside first") {
    shelf arena(12);
    book hooks;
    seat(arena, hooks, {4}, {0});
    walk_home(arena, {{.owner = 0, .bytes = 4, .home = 2}}, hooks);
    CHECK(hooks.address_of(0) == 2);
    CHECK(hooks.moves == 2);
}

TEST_CASE("with room for the largest in two pieces of it, everyone gets home") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        stowage::detail::splitmix64 random(seed);
        std::vector<std::int64_t> sizes;
        for (int k = 0; k < 12; ++k)
            sizes.push_back(1 + static_cast<std::int64_t>(random.below(9)));
        const std::int64_t sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
        shelf arena(sum + 3 * 9);
        book hooks;
        std::vector<std::uint32_t> places(sizes.size());
        std::iota(places.begin(), places.end(), 0U);
        const auto shuffle = [&] {
            for (std::size_t k = places.size(); k > 1; --k)
                std::swap(places[k - 1], places[random.below(k)]);
        };
        shuffle();
        seat(arena, hooks, sizes, places);
        shuffle();
        std::vector<homecomer> coming;
        std::int64_t top = 0;
        for (const std::uint32_t owner : places) {
            coming.push_back({.owner = owner, .bytes = sizes[owner], .home = top});
            top += sizes[owner];
        }
        walk_home(arena, coming, hooks);
        std::size_t home = 0;
        for (const homecomer& one : coming)
            home += hooks.address_of(one.owner) == one.home ? 1 : 0;
        CHECK(home == coming.size());
    }
}
