#pragma once
// One exact decision for any problem in one pool: the valley search where it is complete; where buffers have
// gaps it may find a layout, or refute the problem with their pieces apart, and the canonical branch and
// bound has the last word.

#include <algorithm>
#include <cstdint>

#include <stowage/budget.hpp>
#include <stowage/layout/branch_and_bound.hpp>
#include <stowage/layout/decision.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/valley_search.hpp>

namespace stowage::layout::detail {

/// Is there a layout of the valid `problem` (one pool) within `capacity`? `unknown` when the account runs
/// out.
template <class = void>
[[nodiscard]] decision decide_exactly(const problem& problem, std::int64_t capacity, budget& account,
                                      std::uint64_t seed = 1) {
    if (!make_sections(problem).gapped) return valley_search{}.decide(problem, capacity, account, seed);
    budget part = account.slice(std::min<std::uint64_t>(account.left() / 2, 200'000));
    decision answer = valley_search{}.decide(problem, capacity, part, seed);
    account.settle(part);
    if (answer.status != status::unknown) return answer;
    return branch_and_bound{}.decide(problem, capacity, account);
}

}  // namespace stowage::layout::detail
