#pragma once
// One call from a layout problem to offsets, the proof that there is of them, and who found them.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/error.hpp>
#include <stowage/layout/best_fit.hpp>
#include <stowage/layout/both_ends.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/validate.hpp>
#include <stowage/layout/exact.hpp>
#include <stowage/layout/first_fit.hpp>
#include <stowage/layout/llfb.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/portfolio.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/skylines.hpp>
#include <stowage/status.hpp>
#include <stowage/verify/layout.hpp>

namespace stowage::layout {

/// States that plan() and fit() may spend where the caller gives no limits at all: one to two seconds, which
/// only problems that stay open take. Limits that are given are kept as they are.
inline constexpr std::uint64_t default_states = 1'500'000;

/// What plan() runs where no policy is given: a fit from both ends where few are alive together, skylines by
/// every key, the fits, the exact search; then, where pins or gaps are too many for it, skylines with noise
/// until the account is exhausted.
template <class Tag = void>
[[nodiscard]] auto default_portfolio() {
    return portfolio{
        both_ends{},
        skylines{},
        first_fit{{.order = placement_order::size}},
        best_fit{{.order = placement_order::size}},
        llfb_fit{},
        first_fit{{.order = placement_order::load}},
        best_fit{{.order = placement_order::birth}},
        exact{},
        skylines{{.plain_keys = false, .perturbed_rounds = std::numeric_limits<std::uint64_t>::max()}}};
}

namespace detail {

/// Validates a problem and gives its compact form; the load is summed once, a second time only for the
/// error's names.
template <class = void>
[[nodiscard]] sections checked_sections(const problem& problem) {
    validate_buffers(problem);
    try {
        return make_sections(problem);
    } catch (const overflow_error&) {
        validate(problem);
        throw;
    }
}

/// True for the library's own policies, whose layouts need no check in every run: tests do that.
template <class Policy>
inline constexpr bool needs_no_check = false;
template <>
inline constexpr bool needs_no_check<both_ends> = true;
template <>
inline constexpr bool needs_no_check<skylines> = true;
template <>
inline constexpr bool needs_no_check<first_fit> = true;
template <>
inline constexpr bool needs_no_check<best_fit> = true;
template <>
inline constexpr bool needs_no_check<llfb> = true;
template <>
inline constexpr bool needs_no_check<llfb_fit> = true;
template <>
inline constexpr bool needs_no_check<exact> = true;
template <class... Policies>
inline constexpr bool needs_no_check<portfolio<Policies...>> = (needs_no_check<Policies> && ...);

/// Throws layout_error, naming the policy and what is wrong, unless `offsets` are a layout of the problem,
/// whatever its capacity. O(n log n).
template <class = void>
void require_layout(const problem& problem, const offset_list& offsets, const std::string& policy) {
    layout::problem unlimited;
    if (!problem.capacities.empty()) {
        unlimited = problem;
        unlimited.capacities.clear();
    }
    const verify::verdict verdict =
        verify::check_layout(problem.capacities.empty() ? problem : unlimited, offsets);
    if (!verdict) throw layout_error("the layout of " + policy + " is wrong: " + verdict.reason, {});
}

/// First fit by birth, whatever is left of a budget; empty if an offset passes 2^63 - 1.
template <class = void>
[[nodiscard]] offset_list surely(const problem& problem, const sections& compact) {
    budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
    context free{.account = unlimited, .compact = &compact, .compact_of = &problem};
    offset_list offsets = first_fit{}(problem, free);
    if (offsets.size() != problem.buffers.size()) offsets.clear();
    return offsets;
}

/// The layout that comes before any policy's, so that it does not come on top of a budget of time; empty
/// where there is none, or first fit by birth takes next to no time. Pins, gaps and mixed alignments make
/// every layout slow, and so do many buffers. Gaps are taken as closed where nothing is pinned, which makes
/// it several times as fast.
template <class = void>
[[nodiscard]] offset_list early_layout(const problem& problem, const sections& compact,
                                       const budget& account) {
    constexpr std::size_t many = 20'000;
    if (!account.timed() || (compact.plain() && compact.items.size() <= many)) return {};
    if (compact.gapped && !compact.pinned) {
        budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
        const auto by_item =
            place_by_birth(problem, compact, std::numeric_limits<std::int64_t>::max(), unlimited);
        if (by_item.size() == compact.items.size()) return offsets_by_buffer(problem, compact, by_item);
    }
    return surely(problem, compact);
}

/// Lays out a problem in one pool, first fit by birth if the policy finds nothing, or nothing better than
/// that where it has been made, in its time.
template <layout_policy Policy>
[[nodiscard]] solution plan_one_pool(const problem& problem, const Policy& policy, budget& account,
                                     std::uint64_t seed, std::int64_t proven = 0) {
    const sections compact = checked_sections(problem);
    solution result;
    result.load = compact.max_load();
    offset_list early = early_layout(problem, compact, account);
    context context{.account = account,
                    .lower_bound = std::max(lower_bound(compact, &account).bytes, proven),
                    .seed = seed,
                    .compact = &compact,
                    .compact_of = &problem};
    if (!early.empty()) context.target = arena_of(problem, early);
    const std::int64_t least_worthwhile = context.target;
    if (early.empty() ||
        (context.target > context.lower_bound && affords_layout(account, compact.items.size())))
        result.offsets = apply(policy, problem, context);
    result.found_by = context.found_by.empty() ? name_of(policy) : context.found_by;
    if constexpr (!needs_no_check<Policy>) {
        if (!result.offsets.empty()) require_layout(problem, result.offsets, result.found_by);
    }
    const bool found = result.offsets.size() == problem.buffers.size();
    if (!found || reaches(arena_of(problem, result.offsets), least_worthwhile)) {
        result.offsets = early.empty() ? surely(problem, compact) : std::move(early);
        if (result.offsets.size() != problem.buffers.size())
            throw overflow_error("first fit by birth: an offset passes 2^63 - 1");
        result.found_by = first_fit{}.name();
    }
    result.arena = arena_of(problem, result.offsets);
    result.lower_bound = std::max(result.load, context.lower_bound);
    return result;
}

/// The buffers of one pool; those without a pool lie in pool 0. `index` receives their places in the whole
/// problem.
template <class = void>
[[nodiscard]] problem buffers_of_pool(const problem& whole, std::uint32_t pool,
                                      std::vector<std::size_t>& index) {
    problem part;
    part.alignment = whole.alignment;
    index.clear();
    for (std::size_t i = 0; i < whole.buffers.size(); ++i) {
        if (whole.buffers[i].pool.value_or(0) != pool) continue;
        part.buffers.push_back(whole.buffers[i]);
        part.buffers.back().pool.reset();
        if (part.buffers.back().pool) part.buffers.back().pool = 0;  // the part's only one
        if (!whole.names.empty()) part.names.push_back(whole.describe(i).name);
        index.push_back(i);
    }
    return part;
}

}  // namespace detail

/// Lays out with a policy of the caller's choice on a running account; the solution's time counts from the
/// account's start. If the policy finds nothing before the account is exhausted, the answer is first fit by
/// birth, which takes O(n log n) (O(n r log k) with pins or gaps). With several pools each is laid out by
/// itself, buffers without a pool in pool 0; arena and load are those of the fullest pool. Throws
/// layout_error, naming the policy, if its layout is wrong; layout_error or overflow_error if the problem is
/// not valid (see layout::validate) or two pins are in conflict. `proven`, if given, is a bound that the
/// caller has proven of a problem in one pool: the search ends where it is met. Reentrant.
template <layout_policy Policy>
[[nodiscard]] solution plan(const problem& problem, const Policy& policy, budget& account,
                            std::uint64_t seed = 1, std::int64_t proven = 0) {
    solution result;
    if (problem.capacities.size() <= 1) {
        result = detail::plan_one_pool(problem, policy, account, seed, proven);
    } else {
        // A buffer without a pool could lie elsewhere: only the buffers that must be in a pool bound its
        // arena.
        detail::validate_buffers(problem);
        result.offsets.assign(problem.buffers.size(), 0);
        std::vector<std::size_t> index;
        for (std::uint32_t pool = 0; pool < problem.capacities.size(); ++pool) {
            const layout::problem part = detail::buffers_of_pool(problem, pool, index);
            const solution of_pool = detail::plan_one_pool(part, policy, account, seed);
            for (std::size_t k = 0; k < index.size(); ++k)
                result.offsets[index[k]] = of_pool.offsets[k];
            bool all_bound = true;
            for (const std::size_t i : index) {
                all_bound = all_bound && (problem.buffers[i].pool || !problem.buffers[i].takes_part());
            }
            if (all_bound) result.lower_bound = std::max(result.lower_bound, of_pool.lower_bound);
            result.load = std::max(result.load, of_pool.load);
            if (of_pool.arena > result.arena || result.found_by.empty()) result.found_by = of_pool.found_by;
            result.arena = std::max(result.arena, of_pool.arena);
        }
    }
    result.status = result.arena == result.lower_bound ? status::optimal : status::feasible;
    result.seconds = std::chrono::duration<double>(account.elapsed()).count();
    return result;
}

/// The same with limits instead of an account. A limit in states is at least one a buffer, which is enough
/// for a skyline or two of any size.
template <layout_policy Policy>
[[nodiscard]] solution plan(const problem& problem, const Policy& policy, search_limits limits = {}) {
    limits.states = std::max<std::uint64_t>(limits.states, problem.buffers.size());
    budget account(limits);
    return plan(problem, policy, account, limits.seed);
}

/// Lays out with the default portfolio: the best offsets that it finds within the limits, and at once when
/// they are proven optimal. Example: `auto answer = layout::plan(problem, {.seed = 7}); answer.offsets[3];`
template <class Tag = void>
[[nodiscard]] solution plan(const problem& problem,
                            const search_limits& limits = {.states = default_states}) {
    return plan(problem, default_portfolio<Tag>(), limits);
}

// The default is instantiated once a program where that asks for it: docs/cookbook.md, "Pay for the planner
// once".
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template void detail::require_layout(const problem&, const offset_list&,
                                                       const std::string&);
STOWAGE_TEMPLATES template solution plan(const problem&, const decltype(default_portfolio())&, budget&,
                                         std::uint64_t, std::int64_t);
#endif

}  // namespace stowage::layout
