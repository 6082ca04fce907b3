#pragma once
// First fit: takes the buffers in a fixed order and puts each at the lowest place where it is free during its
// whole lifetime. Source: the allocator of most planners (TVM, ExecuTorch, XLA's heap simulator);
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

/// Options of first_fit.
struct first_fit_options {
    placement_order order =
        placement_order::birth;  ///< which buffer is placed before which; the first answer of every plan, as
                                 ///< it is never far off and costs least
};

/// Lays out by first fit. Honours alignments, pins and gaps; pinned buffers lie first. Ties end in the
/// buffer's index. O(n log n + n r log k) time for n buffers in k sections where a buffer passes r stretches
/// of used addresses; memory O(n log k), in practice O(n). Reentrant. With a context it spends about a unit a
/// microsecond, and returns an empty list when the account runs out or the target is reached. Throws
/// layout_error if two pins are in conflict, overflow_error if a sum of bytes passes 2^63 - 1.
struct first_fit {
    first_fit_options options{};

    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem) const {
        budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
        context free{.account = unlimited};
        offset_list offsets = (*this)(problem, free);
        if (offsets.size() != problem.buffers.size())
            throw overflow_error("first fit: an offset passes 2^63 - 1");
        return offsets;
    }
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        if (options.order == placement_order::birth && !compact.pinned && !compact.gapped) {
            const auto offsets = detail::place_by_birth(problem, compact, context.target, context.account);
            if (offsets.size() != compact.items.size()) return {};
            return detail::offsets_by_buffer(problem, compact, offsets);
        }
        const auto order = detail::ordered_by(problem, compact, options.order);
        return detail::fit_offsets(problem, compact, order, detail::fit::first, context);
    }
    [[nodiscard]] std::string name() const { return "first_fit by " + std::string(to_string(options.order)); }
};

static_assert(simple_layout_policy<first_fit> && searching_layout_policy<first_fit>);

}  // namespace stowage::layout
