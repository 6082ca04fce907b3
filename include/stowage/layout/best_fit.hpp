#pragma once
// Best fit: takes the buffers in a fixed order and puts each at the smallest free stretch of addresses that
// is large enough during its whole lifetime, or above all that it meets if there is none. Source:
// papers/layout.md, "Best fit and first fit".

#include <cstdint>
#include <limits>
#include <string>

#include <stowage/budget.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/fit_engine.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/placement_order.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// Options of best_fit.
struct best_fit_options {
    placement_order order =
        placement_order::size;  ///< which buffer is placed before which; what most planners do
};

/// Lays out by best fit. Honours alignments, pins and gaps; pinned buffers lie first. Ties end in the
/// buffer's index. O(n log n + n r log k) time for n buffers in k sections where a buffer passes r stretches
/// of used addresses; memory O(n log k), in practice O(n). Reentrant. With a context it spends about a unit a
/// microsecond, and returns an empty list when the account runs out or the target is reached. Throws
/// layout_error if two pins are in conflict, overflow_error if a sum of bytes passes 2^63 - 1.
struct best_fit {
    best_fit_options options{};

    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem) const {
        budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
        context free{.account = unlimited};
        offset_list offsets = (*this)(problem, free);
        if (offsets.size() != problem.buffers.size())
            throw overflow_error("best fit: an offset passes 2^63 - 1");
        return offsets;
    }
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        const auto order = detail::ordered_by(problem, compact, options.order);
        return detail::fit_offsets(problem, compact, order, detail::fit::best, context);
    }
    [[nodiscard]] std::string name() const { return "best_fit by " + std::string(to_string(options.order)); }
};

static_assert(simple_layout_policy<best_fit> && searching_layout_policy<best_fit>);

}  // namespace stowage::layout
