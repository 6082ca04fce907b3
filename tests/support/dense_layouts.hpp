#pragma once
// Dense fills: problems in which every section is full at the load, so that a good part of them has no layout
// at the load. Small random problems nearly always have one, and would leave every proof of "infeasible"
// untested.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/problem.hpp>

namespace dense_layouts {

/// Problem of about `n` buffers with `height` bytes alive at every moment; sizes 1 to `largest`.
inline stowage::layout::problem fill(std::size_t n, std::int64_t height, std::int64_t largest,
                                     stowage::detail::splitmix64& random) {
    stowage::layout::problem result;
    std::vector<std::size_t> alive;
    std::int64_t room = height;
    std::int64_t now = 0;
    const auto refill = [&] {
        while (room > 0) {
            stowage::layout::buffer b;
            b.lower = now;
            const auto limit = static_cast<std::uint64_t>(std::min(room, largest));
            // One in two takes all the room that it may: that is what a fragmented strip cannot give.
            b.size = static_cast<std::int64_t>(random.below(2) == 0 ? limit : 1 + random.below(limit));
            room -= b.size;
            alive.push_back(result.buffers.size());
            result.buffers.push_back(b);
        }
    };
    refill();
    while (result.buffers.size() < n) {
        ++now;
        const std::size_t deaths = std::min<std::size_t>(alive.size(), 1 + random.below(3));
        for (std::size_t k = 0; k < deaths; ++k) {
            const std::size_t at = random.below(alive.size());
            stowage::layout::buffer& b = result.buffers[alive[at]];
            b.upper = now;
            room += b.size;
            alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(at));
        }
        refill();
    }
    for (const std::size_t i : alive)
        result.buffers[i].upper = now + 1;
    return result;
}

}  // namespace dense_layouts
