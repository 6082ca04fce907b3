#include <stowage/detail/disjoint_sets.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>

using stowage::detail::disjoint_sets;

TEST_CASE("each set is named by its least member, whatever was joined in which order") {
    stowage::detail::splitmix64 random(7);
    for (int round = 0; round < 200; ++round) {
        constexpr std::uint32_t count = 30;
        disjoint_sets sets(count);
        std::vector<std::uint32_t> name(count);
        for (std::uint32_t i = 0; i < count; ++i)
            name[i] = i;
        for (std::uint64_t joins = random.below(count); joins > 0; --joins) {
            const auto a = static_cast<std::uint32_t>(random.below(count));
            const auto b = static_cast<std::uint32_t>(random.below(count));
            sets.join(a, b);
            const std::uint32_t from = name[a] < name[b] ? name[b] : name[a];
            const std::uint32_t to = name[a] < name[b] ? name[a] : name[b];
            for (std::uint32_t& of : name)
                of = of == from ? to : of;
        }
        for (std::uint32_t i = 0; i < count; ++i)
            REQUIRE(sets.least(i) == name[i]);
    }
}
