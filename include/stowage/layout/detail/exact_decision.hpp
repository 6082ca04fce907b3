#pragma once
// One exact decision for any problem in one pool: the valley search where it is sound, else the canonical
// branch and bound, which knows pins, gaps and alignments of their own.

#include <cstdint>

#include <stowage/budget.hpp>
#include <stowage/layout/branch_and_bound.hpp>
#include <stowage/layout/decision.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/valley_search.hpp>

namespace stowage::layout::detail {

/// Is there a layout of the valid `problem` (one pool) within `capacity`? `unknown` when the account runs
/// out.
template <class = void>
[[nodiscard]] decision decide_exactly(const problem& problem, std::int64_t capacity, budget& account,
                                      std::uint64_t seed = 1) {
    if (is_strip(problem, make_sections(problem)))
        return valley_search{}.decide(problem, capacity, account, seed);
    return branch_and_bound{}.decide(problem, capacity, account);
}

}  // namespace stowage::layout::detail
