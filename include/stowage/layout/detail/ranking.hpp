#pragma once
// Turns a layout::key, with or without noise or learnt factors, into the order in which a skyline prefers the
// items.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <stowage/detail/math.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/key.hpp>

namespace stowage::layout::detail {

/// What one item is ranked by: compared in the order of the members, larger ones first.
struct key_value {
    double first = 0;
    double second = 0;
    double third = 0;
};

/// True where a key's first member is the largest load: factors then act on its second member.
[[nodiscard]] constexpr bool led_by_load(key key) noexcept {
    return key == layout::key::load_width || key == layout::key::load_size;
}

/// The values of `key`, one an item; `loads` is largest_loads(compact), looked at only if led_by_load(key).
/// O(n).
template <class = void>
[[nodiscard]] std::vector<key_value> key_values(const sections& compact, std::span<const std::int64_t> loads,
                                                key key) {
    std::vector<key_value> values(compact.items.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto size = static_cast<double>(compact.items[i].size);
        const auto width = static_cast<double>(compact.items[i].width());
        const auto duration = static_cast<double>(compact.items[i].duration);
        key_value& value = values[i];
        switch (key) {
            case layout::key::size_duration: value = {size * duration, 0, 0}; break;
            case layout::key::load_width: value = {static_cast<double>(loads[i]), width, size}; break;
            case layout::key::duration: value = {duration, size, 0}; break;
            case layout::key::load_size: value = {static_cast<double>(loads[i]), size, width}; break;
            case layout::key::size: value = {size, width, 0}; break;
            case layout::key::width_root_size:
                value = {width * stowage::detail::square_root(size), 0, 0};
                break;
            case layout::key::width_size: value = {width * width * size, 0, 0}; break;
            case layout::key::width: value = {width, size, 0}; break;
            case layout::key::area: value = {size * width, 0, 0}; break;
        }
    }
    return values;
}

/// Multiplies each value by exp(strength × N), N standard normal. O(n).
template <class = void>
void perturb(std::vector<key_value>& values, key key, double strength, stowage::detail::splitmix64& random) {
    for (key_value& value : values) {
        (led_by_load(key) ? value.second : value.first) *=
            stowage::detail::exponential(strength * random.normal());
    }
}

/// Sorts `ranked` stably by falling `member`, 16 bits at a time: numbers that are not negative are in the
/// order of their bits. O(n), but for the 65,536 counts a pass; digits in which no two differ are passed
/// over.
template <class = void>
void sort_by_member(const std::vector<key_value>& values, double key_value::*member,
                    std::vector<std::uint32_t>& ranked) {
    struct entry {
        std::uint64_t bits;  // inverted: the largest first
        std::uint32_t item;
    };
    std::vector<entry> from(ranked.size());
    std::uint64_t some = 0;                              // bits that are set somewhere
    std::uint64_t all = ~static_cast<std::uint64_t>(0);  // and everywhere
    for (std::size_t k = 0; k < from.size(); ++k) {
        from[k] = {~std::bit_cast<std::uint64_t>(values[ranked[k]].*member), ranked[k]};
        some |= from[k].bits;
        all &= from[k].bits;
    }
    std::vector<entry> to(from.size());
    std::vector<std::uint32_t> place;
    constexpr unsigned digit = 16;
    constexpr std::uint64_t mask = (std::uint64_t{1} << digit) - 1;
    for (unsigned shift = 0; shift < 64; shift += digit) {
        if (((some ^ all) >> shift & mask) == 0) continue;
        place.assign(mask + 2, 0);
        for (const entry& e : from)
            ++place[(e.bits >> shift & mask) + 1];
        std::partial_sum(place.begin(), place.end(), place.begin());
        for (const entry& e : from)
            to[place[e.bits >> shift & mask]++] = e;
        from.swap(to);
    }
    for (std::size_t k = 0; k < from.size(); ++k)
        ranked[k] = from[k].item;
}

/// The items in the order of their values, none of which is negative, the best first, ties by index. O(n log
/// n) for few items, O(n) for many.
template <class = void>
void rank(const std::vector<key_value>& values, std::vector<std::uint32_t>& ranked) {
    constexpr std::size_t many = 16'384;
    ranked.resize(values.size());
    std::iota(ranked.begin(), ranked.end(), 0U);
    if (values.size() >= many) {
        sort_by_member(values, &key_value::third, ranked);
        sort_by_member(values, &key_value::second, ranked);
        sort_by_member(values, &key_value::first, ranked);
        return;
    }
    std::sort(ranked.begin(), ranked.end(), [&](std::uint32_t a, std::uint32_t b) {
        const key_value& x = values[a];
        const key_value& y = values[b];
        if (x.first != y.first) return x.first > y.first;
        if (x.second != y.second) return x.second > y.second;
        if (x.third != y.third) return x.third > y.third;
        return a < b;
    });
}

/// The items in the order of `key`; time as rank().
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> ranked_by(const sections& compact, key key) {
    const std::vector<std::int64_t> loads =
        led_by_load(key) ? largest_loads(compact) : std::vector<std::int64_t>{};
    std::vector<std::uint32_t> ranked;
    rank(key_values(compact, loads, key), ranked);
    return ranked;
}

}  // namespace stowage::layout::detail
