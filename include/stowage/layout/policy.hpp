#pragma once
// What a layout policy is: a function object from a problem to offsets. Any callable of the right shape is
// one, so a user's own lambda composes with the library's policies in layout::portfolio.

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

namespace detail {
struct sections;

/// True if a wall-clock limit leaves time for a layout of so many items: setting up the problem, and what a
/// policy does before it first looks at the clock, take some 300 ns an item.
template <class = void>
[[nodiscard]] bool affords_layout(const budget& account, std::size_t items) {
    return account.affords(std::chrono::nanoseconds(300 * items));
}

/// True if it leaves time for what a search over keys does before each run: some 150 ns an item to rank them
/// and to set up a skyline.
template <class = void>
[[nodiscard]] bool affords_ranking(const budget& account, std::size_t items) {
    return account.affords(std::chrono::nanoseconds(150 * items));
}
}  // namespace detail

/// Offsets of one layout, one a buffer. A search that found none worth having returns an empty list.
using offset_list = std::vector<std::int64_t>;

/// What a search is given beside the problem, and what it tells back. One thread at a time.
struct context {
    budget& account;               ///< what may be spent
    std::int64_t lower_bound = 0;  ///< proven least arena; a policy stops when it meets it, and may raise it
    std::int64_t target = std::numeric_limits<std::int64_t>::max();  ///< an arena below this is worth having
    std::uint64_t seed = 1;                                          ///< seed of every random choice
    bool decide =
        false;  ///< the bound is a capacity asked about: stop also when it has been raised, so refuted
    const detail::sections* compact =
        nullptr;  ///< for the library: the compact form of `*compact_of`, if made already
    const problem* compact_of = nullptr;  ///< for the library: see `compact`
    std::string found_by{};  ///< set by policies made of others: the name of the one whose layout is returned
};

/// A layout, what is proven of it, and who found it.
struct solution {
    offset_list offsets;                       ///< one a buffer; empty where there is no layout
    std::int64_t arena = 0;                    ///< the largest offset + size of a buffer that takes part
    std::int64_t load = 0;                     ///< the largest sum of sizes alive at one moment
    std::int64_t lower_bound = 0;              ///< proven: no layout has a smaller arena
    stowage::status status = status::unknown;  ///< optimal if arena == lower_bound
    std::string found_by;                      ///< name of the policy
    double seconds = 0;                        ///< wall-clock time
};

/// A policy that needs nothing but the problem.
template <class P>
concept simple_layout_policy = std::copy_constructible<P> &&
    requires(const P& policy, const problem& problem) {
    { policy(problem) } -> std::convertible_to<offset_list>;
};

/// A policy that searches: it is given a context with its budget and the proven bound.
template <class P>
concept searching_layout_policy = std::copy_constructible<P> &&
    requires(const P& policy, const problem& problem, context& context) {
    { policy(problem, context) } -> std::convertible_to<offset_list>;
};

/// Something that lays out: callable as `offset_list(const problem&)` or `offset_list(const problem&,
/// context&)`.
template <class P>
concept layout_policy = simple_layout_policy<P> || searching_layout_policy<P>;

/// Calls a policy of either shape.
template <layout_policy P>
[[nodiscard]] offset_list apply(const P& policy, const problem& problem, context& context) {
    if constexpr (searching_layout_policy<P>) {
        return policy(problem, context);
    } else {
        return policy(problem);
    }
}

/// The arena of a layout: the largest offset + size over the buffers that take part, of the fullest pool.
/// O(n).
template <class = void>
[[nodiscard]] std::int64_t arena_of(const problem& problem, std::span<const std::int64_t> offsets) {
    std::int64_t arena = 0;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const buffer& b = problem.buffers[i];
        if (!b.takes_part()) continue;
        // A wrong policy may give any number; it is found out later, here only the sum must not wrap.
        constexpr std::int64_t top = std::numeric_limits<std::int64_t>::max();
        arena = std::max(arena, offsets[i] > top - b.size ? top : offsets[i] + b.size);
    }
    return arena;
}

}  // namespace stowage::layout
