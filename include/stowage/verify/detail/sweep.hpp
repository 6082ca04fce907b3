#pragma once
// Rectangles in time x addresses swept over time: finds two that share a byte at a moment, or the largest sum
// of bytes. At each birth only the neighbours by address are looked at, which is enough as long as those
// alive before are disjoint.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace stowage::verify::detail {

/// Bytes [offset, offset + size) of one pool during [lower, upper); size > 0, lower < upper, offset >= 0,
/// offset + size at most 2^63 - 1.
struct rectangle {
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    std::int64_t offset = 0;
    std::int64_t size = 0;
    std::uint32_t pool = 0;
    std::size_t owner = 0;  // whose it is, for the caller
};

/// Two rectangles that share bytes at a moment.
struct conflict {
    std::size_t first = 0;  // positions in the list given; first was alive already
    std::size_t second = 0;
    std::int64_t time = 0;
};

/// The first conflict in time, or nothing; `load[p]` becomes the most bytes alive at one moment in pool p.
/// O(n log n).
template <class = void>
[[nodiscard]] std::optional<conflict> sweep(const std::vector<rectangle>& list,
                                            std::span<std::int64_t> load) {
    struct event {
        std::int64_t time;
        bool birth;  // deaths come first: a rectangle does not hold its upper moment
        std::size_t index;
    };
    std::vector<event> events;
    events.reserve(2 * list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        events.push_back({list[i].lower, true, i});
        events.push_back({list[i].upper, false, i});
    }
    std::sort(events.begin(), events.end(), [](const event& a, const event& b) {
        if (a.time != b.time) return a.time < b.time;
        if (a.birth != b.birth) return b.birth;
        return a.index < b.index;
    });
    using address = std::pair<std::uint32_t, std::int64_t>;
    std::map<address, std::size_t> alive;  // disjoint
    std::vector<std::int64_t> live(load.size(), 0);
    for (const event& e : events) {
        const rectangle& r = list[e.index];
        if (!e.birth) {
            alive.erase({r.pool, r.offset});
            live[r.pool] -= r.size;
            continue;
        }
        const auto above = alive.lower_bound({r.pool, r.offset});
        if (above != alive.end() && above->first.first == r.pool && above->first.second < r.offset + r.size) {
            return conflict{above->second, e.index, e.time};
        }
        if (above != alive.begin()) {
            const rectangle& below = list[std::prev(above)->second];
            if (below.pool == r.pool && r.offset < below.offset + below.size) {
                return conflict{std::prev(above)->second, e.index, e.time};
            }
        }
        alive.emplace_hint(above, address{r.pool, r.offset}, e.index);
        live[r.pool] += r.size;
        load[r.pool] = std::max(load[r.pool], live[r.pool]);
    }
    return std::nullopt;
}

}  // namespace stowage::verify::detail
