#pragma once
// The end of a run on one device: what lies elsewhere than it must goes home by moves inside the device, as
// long as there is room to step aside. Moves cost no byte to or from the host.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <stowage/turnip/detail/shelf.hpp>

namespace stowage::turnip::detail {

/// A resident of a shelf and the address where it must be in the end. Homes do not overlap.
struct homecomer {
    std::uint32_t owner = 0;
    std::int64_t bytes = 0;
    std::int64_t home = 0;
};

/// What a walk home asks beside what a shelf does: where a resident is now.
template <class Hooks>
concept home_hooks = shelf_hooks<Hooks> && requires(const Hooks& hooks, std::uint32_t owner) {
    { hooks.address_of(owner) } -> std::convertible_to<std::int64_t>;
};

/// Moves each to its home where that is free or can be cleared; those that could not go are left where they
/// are. Homes are cleared for the largest first: whoever is home never has to move again. O(log residents) a
/// move; to clear a home is given up for all after a hundred thousand tries.
template <home_hooks Hooks>
void walk_home(shelf& arena, std::vector<homecomer> coming, Hooks& hooks) {
    constexpr int most_passes = 16;
    constexpr std::size_t most_clears = 100'000;
    std::sort(coming.begin(), coming.end(), [](const homecomer& a, const homecomer& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.owner < b.owner;
    });
    const auto go = [&](const homecomer& one) {
        const std::int64_t from = hooks.address_of(one.owner);
        if (from == one.home) return true;
        if (!arena.map().is_free(one.home, one.bytes)) return false;
        arena.move(from, one.home, hooks);
        return true;
    };
    // A move may free the place of another.
    for (int pass = 0; pass < most_passes && !coming.empty(); ++pass) {
        const std::size_t before = coming.size();
        std::erase_if(coming, go);
        if (coming.size() == before) break;
    }
    std::size_t clears = 0;
    for (bool again = true; again && clears < most_clears;) {
        const std::size_t before = coming.size();
        std::erase_if(coming, [&](const homecomer& one) {
            if (go(one)) return true;
            if (++clears > most_clears) return false;
            return arena.clear(one.home, one.home + one.bytes, hooks) && go(one);
        });
        again = coming.size() < before;
    }
}

}  // namespace stowage::turnip::detail
