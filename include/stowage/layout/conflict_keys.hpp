#pragma once
// Conflict-driven keys as a policy: a slack-aware skyline stops at the first section that it wastes, the keys
// of the buffers still to come over it grow, and it runs again. For whom: problems of 500 to 3,000 buffers;
// poor on very irregular ones. Source: papers/layout.md, 3.

#include <cstdint>
#include <string>

#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/key_search.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// Options of conflict_keys; it is insensitive to them.
struct conflict_keys_options {
    std::uint32_t runs_an_episode = 100;  ///< runs before the next key starts afresh; at least 1
    double strength = 0.2;  ///< a key over a conflict is multiplied by exp(strength × U), U uniform in [0, 1)
};

/// Looks for a layout that meets context.lower_bound until the account runs out; an empty list if it finds
/// none, or with pins or gaps, which skylines know nothing of. Each run costs O(n log n); memory O(n).
/// Deterministic for one seed; ties end in the buffer's index. Reentrant.
struct conflict_keys {
    conflict_keys_options options{};

    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        if (compact.pinned || compact.gapped || problem.capacities.size() > 1 || compact.items.empty())
            return {};
        detail::key_search_base base(compact);
        detail::learnt_keys keys(base, context.seed, options.runs_an_episode, options.strength);
        if (!keys.run(context.lower_bound, context.account)) return {};
        return detail::offsets_by_buffer(problem, compact, base.offsets);
    }
    [[nodiscard]] std::string name() const { return "conflict keys"; }
};

static_assert(searching_layout_policy<conflict_keys>);
static_assert(!simple_layout_policy<conflict_keys>, "without a context it does not know the bound");

}  // namespace stowage::layout
