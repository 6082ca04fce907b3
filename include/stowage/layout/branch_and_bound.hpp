#pragma once
// Canonical branch and bound as a policy: exact on everything that a problem can have in one pool (pins,
// gaps, alignments of their own), for small problems; the rival of the valley search on plain ones, which it
// shares no code with. Source: minimalloc (Moffitt, ASPLOS 2023), see detail/canonical_search.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/decision.hpp>
#include <stowage/layout/detail/canonical_search.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

/// What the branch and bound may do.
struct branch_and_bound_options {
    canonical_rules rules{};  ///< the rules to use; all of them by default
    /// Problems whose buffers span more sections than this in all are refused: a node looks at every buffer,
    /// so the search is for small ones.
    std::uint64_t width_limit = 1'000'000;
};

/// Finds a layout of least arena, or decides about a capacity, until the account runs out. Takes pins, gaps
/// and mixed alignments; one pool. A node costs O(buffers + what the placed one meets). Deterministic; ties
/// end in the index.
struct branch_and_bound {
    branch_and_bound_options options{};

    [[nodiscard]] std::string name() const { return "branch and bound"; }
    /// Is there a layout of the valid `problem` within `capacity` bytes?
    template <class = void>
    [[nodiscard]] decision decide(const problem& problem, std::int64_t capacity, budget& account) const {
        const detail::sections compact = detail::make_sections(problem);
        decision answer;
        if (too_large(problem, compact)) return answer;
        detail::canonical_search search(compact);
        search.start(capacity, options.rules);
        if (advance(search, account, answer.nodes)) {
            answer.status = status::feasible;
            answer.offsets = detail::offsets_by_buffer(problem, compact, search.offsets());
        } else if (!search.stopped()) {
            answer.status = status::infeasible;
        }
        return answer;
    }

    /// The best layout found with an arena below context.target, the optimum where the search ends; an empty
    /// list where there is none. Stops at context.lower_bound, and raises that to what is proven.
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        offset_list best;
        if (too_large(problem, compact)) return best;
        detail::canonical_search search(compact);
        std::int64_t target = context.target;
        search.start(target - (target == std::numeric_limits<std::int64_t>::max() ? 0 : 1), options.rules);
        std::uint64_t nodes = 0;
        while (advance(search, context.account, nodes)) {
            target = detail::arena_of_items(compact, search.offsets());
            best = detail::offsets_by_buffer(problem, compact, search.offsets());
            if (target <= context.lower_bound) return best;
            search.tighten(target - 1);
        }
        if (!search.stopped()) context.lower_bound = std::max(context.lower_bound, target);
        return best;
    }

private:
    template <class = void>
    [[nodiscard]] bool too_large(const problem& problem, const detail::sections& compact) const {
        std::uint64_t width = 0;
        for (const detail::item& entry : compact.items)
            width += static_cast<std::uint64_t>(entry.width());
        return problem.capacities.size() > 1 || width > options.width_limit;
    }
    template <class = void>
    static bool advance(detail::canonical_search& search, budget& account, std::uint64_t& nodes) {
        std::uint64_t booked = search.work();
        return search.next([&] {
            const std::uint64_t units = 1 + (search.work() - booked) / 400;
            booked = search.work();
            ++nodes;
            return account.spend(units);
        });
    }
};

static_assert(searching_layout_policy<branch_and_bound>);

}  // namespace stowage::layout
