#pragma once
// The least arena of all orders and layouts, by the rule of roam/granule.hpp: a search for orders in counted
// sizes proves a bound, or finds an order in which a smaller arena may be possible.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/bounds.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/roam/granule.hpp>
#include <stowage/roam/plan.hpp>

namespace stowage::roam {

/// A bound on the arena of every plan of a program.
struct proven_arena {
    std::int64_t bytes = 0;      ///< no plan has a smaller arena
    arena_witness witness = {};  ///< why
};

/// Asks whether some order leaves room for an arena below `arena` (> 0), by searching the least peak in
/// counted sizes. Raises `proven` to `arena` if none does; gives an order that may, or none. `known`, a legal
/// order, is the first candidate. Time as the search, which stops when the account does.
template <order::searching_order_policy Search>
[[nodiscard]] order::sequence undercut(const counted_program& program, std::int64_t arena,
                                       std::span<const operator_index> known, const Search& search,
                                       budget& account, std::uint64_t seed, proven_arena& proven) {
    const std::int64_t top = program.round(arena);
    const std::int64_t most = top - program.granule();
    const std::int64_t threshold = top - arena + 1;
    const tensor_graph counted = program.counted(threshold);
    account.spend(1 + counted.operator_count() / 50);
    const std::int64_t peak = peak_bytes(counted, known);
    if (peak <= most) return {known.begin(), known.end()};
    order::context shared{.account = account, .incumbent = known, .incumbent_peak = peak, .seed = seed};
    order::sequence found = search(counted, shared);
    if (shared.lower_bound > most && arena > proven.bytes) {
        proven = {arena,
                  {.granule = program.granule(),
                   .threshold = threshold,
                   .bytes = top,
                   .by = std::move(shared.witness)}};
    }
    if (!found.empty() && peak_bytes(counted, found) > most) found.clear();
    return found;
}

/// The bound that follows from a lower bound on the least peak in rounded sizes (`rounded`, with its witness)
/// and from min cuts in counted sizes, for the least threshold at which they prove one; `order` is the best
/// order known. A few searches of order::bounds, at most one for each halving of the number of pads.
template <class = void>
[[nodiscard]] proven_arena arena_bound_by_cuts(const counted_program& program, std::int64_t rounded,
                                               const order::bound_witness& witness,
                                               std::span<const operator_index> order, budget& account,
                                               std::uint64_t seed = 1) {
    const std::int64_t top = program.round(rounded);
    proven_arena proven;
    if (top == 0) return proven;
    proven.witness = {
        .granule = program.granule(), .threshold = program.no_threshold(), .bytes = top, .by = witness};
    proven.bytes = proven.witness.arena_bound();
    const std::span<const std::int64_t> pads = program.pads();
    std::size_t low = 0;
    std::size_t high = pads.empty() ? 0 : pads.size() - 1;  // that much is proven
    while (low < high && !account.exhausted()) {
        const std::size_t middle = low + (high - low) / 2;
        const std::int64_t claim = top - pads[middle];
        (void)undercut(program, claim, order, order::bounds{}, account, seed, proven);
        if (proven.bytes >= claim) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return proven;
}

}  // namespace stowage::roam
