#pragma once
// Who is to blame when a problem does not fit: a small set of buffers that alone does not fit either. Below
// the load it is thinned from those alive at the peak; above it a deletion filter asks the exact search again
// and again. Source: papers/layout.md, "Blame".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/decision.hpp>
#include <stowage/layout/detail/exact_decision.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

/// Buffers that alone do not fit.
struct blame_set {
    std::vector<std::size_t> buffers;  ///< ascending; empty if nothing is proven
    bool minimal = false;              ///< proven: without any one of them the others fit
};

namespace detail {

/// Some of the buffers of a problem, as a problem.
template <class = void>
[[nodiscard]] problem part_of(const problem& whole, std::span<const std::size_t> buffers) {
    problem part;
    part.alignment = whole.alignment;
    part.buffers.reserve(buffers.size());
    for (const std::size_t i : buffers)
        part.buffers.push_back(whole.buffers[i]);
    return part;
}

/// Buffers alive together, thinned until their rounded sizes less the largest pad just pass the capacity
/// (where they must: nothing else would be infeasible). The larger ones stay, so that few suffice. O(n log
/// n).
template <class = void>
[[nodiscard]] std::vector<std::size_t> thin_clique(const problem& problem, std::vector<std::size_t> alive,
                                                   std::int64_t step, std::int64_t capacity) {
    __extension__ using wide = __int128;
    const auto pad = [&](std::size_t i) { return pad_of(problem.buffers[i].size, step); };
    const auto rounded = [&](std::size_t i) { return wide{problem.buffers[i].size} + pad(i); };
    std::sort(alive.begin(), alive.end(), [&](std::size_t a, std::size_t b) {
        return rounded(a) != rounded(b) ? rounded(a) > rounded(b) : a < b;
    });
    for (;;) {
        wide sum = 0;
        std::size_t widest = 0;  // the place of the largest pad
        std::size_t taken = 0;
        while (taken < alive.size() && sum - (taken > 0 ? pad(alive[widest]) : 0) <= capacity) {
            if (taken > 0 && pad(alive[taken]) > pad(alive[widest])) widest = taken;
            sum += rounded(alive[taken++]);
        }
        alive.resize(taken);
        // Only the one with the largest pad can weigh less than the last one taken.
        std::int64_t next_pad = 0;
        for (std::size_t k = 0; k < taken; ++k) {
            if (k != widest) next_pad = std::max(next_pad, pad(alive[k]));
        }
        if (taken < 2 || sum - rounded(alive[widest]) - next_pad <= capacity) return alive;
        alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(widest));
    }
}

/// What a question about a part of the buffers can be answered with.
enum class filter_answer : std::uint8_t { drop, keep, open, stop };

/// A deletion filter: drops chunks of n/4, n/8, ..., 1 buffers where `ask(rest)` says that the rest still
/// does not fit. True if the set is minimal: the last pass tried each one and every answer was a proof.
template <class Ask>
[[nodiscard]] bool deletion_filter(std::vector<std::size_t>& kept, Ask ask) {
    std::vector<std::size_t> rest;
    for (std::size_t chunk = std::max<std::size_t>(1, kept.size() / 4);;
         chunk = std::max<std::size_t>(1, chunk / 2)) {
        bool dropped = false;
        bool proven = true;
        for (std::size_t from = 0; from < kept.size();) {
            const std::size_t to = std::min(kept.size(), from + chunk);
            rest.assign(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(from));
            rest.insert(rest.end(), kept.begin() + static_cast<std::ptrdiff_t>(to), kept.end());
            const filter_answer answer = ask(rest);
            if (answer == filter_answer::stop) return false;
            proven = proven && answer != filter_answer::open;
            if (answer == filter_answer::drop) {
                kept.swap(rest);
                dropped = true;
            } else {
                from = to;
            }
        }
        // What was needed stays needed in a smaller set, but an open question may be answered there.
        if (chunk == 1 && (proven || !dropped)) return proven;
    }
}

}  // namespace detail

/// A set of buffers that does not fit within `capacity`, of a valid problem (one pool) that is known not to:
/// minimal if every question that the filter asked was answered before the account ran out. Below the lower
/// bound it is found in O(n log n), without search where all have one alignment and no pin. `unit_limit` is
/// what one question of the filter may spend.
template <class = void>
[[nodiscard]] blame_set blame(const problem& problem, std::int64_t capacity, budget& account,
                              std::uint64_t unit_limit = 50'000) {
    const arena_bound bound = lower_bound(problem);
    blame_set result;
    if (bound.bytes > capacity) {
        if (bound.reason == bound_reason::pin) return {bound.buffers, true};
        result.buffers = detail::thin_clique(problem, bound.buffers, bound.step, capacity);
        // Of one alignment, unpinned, they can be stacked with the largest pad on top: less than all of them
        // fit.
        result.minimal = std::all_of(result.buffers.begin(), result.buffers.end(), [&](std::size_t i) {
            const buffer& b = problem.buffers[i];
            return !b.offset && detail::common_alignment(problem.alignment, b.alignment) == bound.step;
        });
    } else {
        for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
            if (problem.buffers[i].takes_part()) result.buffers.push_back(i);
        }
        // In the order of time, so that chunks are whole stretches of it.
        std::sort(result.buffers.begin(), result.buffers.end(), [&](std::size_t a, std::size_t b) {
            const buffer& x = problem.buffers[a];
            const buffer& y = problem.buffers[b];
            if (x.lower != y.lower) return x.lower < y.lower;
            return x.upper != y.upper ? x.upper < y.upper : a < b;
        });
    }
    if (!result.minimal) {
        result.minimal = detail::deletion_filter(result.buffers, [&](const std::vector<std::size_t>& rest) {
            if (account.exhausted()) return detail::filter_answer::stop;
            account.spend(1 + rest.size() / 16);
            budget part = account.slice(unit_limit);
            const status answer =
                detail::decide_exactly(detail::part_of(problem, rest), capacity, part).status;
            account.settle(part);
            if (answer == status::unknown) return detail::filter_answer::open;
            return answer == status::infeasible ? detail::filter_answer::drop : detail::filter_answer::keep;
        });
    }
    std::sort(result.buffers.begin(), result.buffers.end());
    return result;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template blame_set blame(const problem&, std::int64_t, budget&, std::uint64_t);
#endif

}  // namespace stowage::layout
