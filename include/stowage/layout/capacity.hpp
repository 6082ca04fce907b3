#pragma once
// "Does it fit?": feasible with the layout, infeasible with a blame set and the size that would do, or
// unknown. Source: papers/layout.md, "What users ask for": no public tool has blame set, certificate and
// re-planning together.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/blame.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/validate.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

/// Whether a problem fits, and what to do if it does not.
struct capacity_answer {
    stowage::status status = stowage::status::unknown;  ///< feasible, infeasible (proved) or unknown
    offset_list offsets;  ///< the best layout found: it fits if feasible, else it shows least_capacity
    std::int64_t least_capacity = 0;  ///< the least capacity known to do: the arena of `offsets`
    std::int64_t lower_bound = 0;     ///< proven: no smaller capacity does
    std::int64_t load = 0;            ///< the largest sum of sizes alive at one moment
    blame_set blame;                  ///< if infeasible: buffers that alone do not fit
    std::string found_by;             ///< name of the policy that found `offsets`
    double seconds = 0;               ///< wall-clock time
};

/// Decides whether a valid problem (one pool) fits within `capacity` bytes, by a policy that is told the
/// capacity as the bound to meet. If the policy proves that it does not, or the bound does, a blame set is
/// sought with a third of what is left of the account, and the rest goes into a layout of a smaller arena.
/// Throws layout_error or overflow_error if the problem is not valid. Example: `layout::fit(problem, 1 << 20,
/// {.time = 100ms}).status`.
template <layout_policy Policy>
[[nodiscard]] capacity_answer fit(const problem& problem, std::int64_t capacity, const Policy& policy,
                                  const search_limits& limits = {.states = default_states}) {
    budget account(limits);
    const detail::sections compact = detail::checked_sections(problem);
    capacity_answer answer;
    answer.load = compact.max_load();
    std::int64_t target = std::numeric_limits<std::int64_t>::max();
    answer.offsets = detail::early_layout(problem, compact, account);
    if (!answer.offsets.empty()) {
        target = arena_of(problem, answer.offsets);
        answer.found_by = first_fit{}.name();
    }
    answer.lower_bound = detail::lower_bound(compact, &account).bytes;
    const auto improve = [&](std::int64_t bound, bool decide) {
        context context{.account = account,
                        .lower_bound = bound,
                        .target = target,
                        .seed = limits.seed,
                        .decide = decide,
                        .compact = &compact,
                        .compact_of = &problem};
        offset_list offsets = apply(policy, problem, context);
        if (offsets.size() == problem.buffers.size()) {
            const std::int64_t arena = arena_of(problem, offsets);
            if (answer.offsets.empty() || arena < target) {
                target = arena;
                answer.offsets = std::move(offsets);
                answer.found_by = context.found_by.empty() ? detail::name_of(policy) : context.found_by;
            }
        }
        return context.lower_bound;
    };
    const bool open = answer.lower_bound <= capacity;
    if (open) {
        const std::int64_t proven = improve(capacity, true);
        // A bound above the capacity is a proof; the capacity itself was only assumed.
        if (proven > capacity) answer.lower_bound = proven;
    }
    if (answer.lower_bound > capacity) {
        answer.status = status::infeasible;
        budget part = account.slice(account.left() / 3);
        answer.blame = blame(problem, capacity, part);
        account.settle(part);
        answer.lower_bound = std::max(answer.lower_bound, improve(answer.lower_bound, false));
    }
    if (answer.offsets.size() != problem.buffers.size()) {
        budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
        context free{.account = unlimited, .compact = &compact, .compact_of = &problem};
        answer.offsets = first_fit{}(problem, free);
        if (answer.offsets.size() != problem.buffers.size()) {
            throw overflow_error("first fit by birth: an offset passes 2^63 - 1");
        }
        answer.found_by = first_fit{}.name();
    }
    answer.least_capacity = arena_of(problem, answer.offsets);
    if (answer.least_capacity <= capacity) answer.status = status::feasible;
    answer.seconds = std::chrono::duration<double>(account.elapsed()).count();
    return answer;
}

/// The same with the default portfolio.
template <class = void>
[[nodiscard]] capacity_answer fit(const problem& problem, std::int64_t capacity,
                                  const search_limits& limits = {.states = default_states}) {
    return fit(problem, capacity, default_portfolio(), limits);
}

}  // namespace stowage::layout
