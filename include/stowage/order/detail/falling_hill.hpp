#pragma once
// Bounds at single operators, tried in the order of their least known hill (papers/order.md, rule 11): the
// hill of v in any order is at least the bound at v, so that the first operator whose least hill is not above
// the best bound so far ends the search with the largest bound of all operators.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/order/detail/workbench.hpp>

namespace stowage::order::detail {

/// Calls `visit` for operators by falling hill, the first of equal ones first, as long as the hill is above
/// what `bound` then returns and `visit` returns true. O(n) and O(log n) an operator visited.
template <class Hill, class Bound, class Visit>
void by_falling_hill(std::size_t operators, Hill hill, Bound bound, Visit visit) {
    std::vector<std::pair<std::int64_t, operator_index>> heap;
    for (operator_index op = 0; op < operators; ++op) {
        if (hill(op) > bound()) heap.emplace_back(hill(op), op);
    }
    const auto lower = [](const auto& a, const auto& b) {
        return std::tie(a.first, b.second) < std::tie(b.first, a.second);
    };
    std::make_heap(heap.begin(), heap.end(), lower);
    while (!heap.empty() && heap.front().first > bound()) {
        if (!visit(heap.front().second)) return;
        std::pop_heap(heap.begin(), heap.end(), lower);
        heap.pop_back();
    }
}

/// Raises the bound of the bench to the largest min cut of all operators, or as far as `most_units` more, and
/// the account, allow; at least one cut is made, if there is time for it. True if it went to the end.
template <class = void>
bool raise_by_min_cuts(workbench& bench, std::uint64_t most_units) {
    cut_library& cuts = bench.cuts();
    const std::uint64_t start = cuts.units();
    bool whole = true;
    by_falling_hill(
        bench.problem().operator_count(), [&](operator_index op) { return bench.least_hill(op); },
        [&] { return bench.lower_bound(); },
        [&](operator_index op) {
            if (!cuts.knows(op) && !bench.affords_cut()) {
                whole = false;
                return false;
            }
            const std::uint64_t before = cuts.units();
            bench.raise(cuts.least_hill(op), "min cut", op);
            bench.account().spend(cuts.units() - before);
            whole = cuts.units() - start <= most_units && !bench.account().exhausted();
            return whole;
        });
    return whole || bench.proven();
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template bool raise_by_min_cuts(workbench&, std::uint64_t);
#endif

}  // namespace stowage::order::detail
