#pragma once
// ROAM's integer program for layouts as a policy, with any solver of the solver room. An oracle for small
// leaves: big-M programs of more than some twenty buffers are out of reach of any solver, and exact
// combinatorial search (valley_search, branch_and_bound) is what scales. Source: ROAM, "Memory layout
// optimization"; papers/roam.md, "The two integer programs".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/best_fit.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/offset_program.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/llfb.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/solver/enumerator.hpp>
#include <stowage/solver/within_budget.hpp>

namespace stowage::layout {

/// Options of integer_program.
struct integer_program_options {
    std::size_t pairs = 2'000;        ///< problems with more pairs of buffers alive together are refused
    bool warm_start = true;           ///< begin from the better of best fit and LLFB
    solver::program_limits limits{};  ///< of the solve
};

/// Lays out by integer program. Takes pins, gaps and alignments of any kind, in one pool; refuses (an empty
/// list) several pools, more pairs or entries than its options allow, and sizes more than 2^50 units apart.
/// Returns an empty list where it found nothing below context.target; raises context.lower_bound to what the
/// solver proves. Faults of the solver never cost the warm start. Deterministic if the solver is, unless a
/// clock ends it.
template <solver::mip_solver Solver = solver::enumerator>
struct integer_program {
    Solver solver{};
    integer_program_options options{};

    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        if (problem.capacities.size() > 1) return {};
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        if (compact.items.empty()) return offset_list(detail::offsets_by_buffer(problem, compact, {}));
        std::optional<std::vector<detail::item_pair>> pairs = detail::meeting_pairs(compact, options.pairs);
        if (!pairs) return {};
        context.lower_bound = std::max(context.lower_bound, detail::lower_bound(compact).bytes);
        found best{{}, context.target};
        if (options.warm_start) take_heuristics(problem, compact, *pairs, best);
        if (best.arena > context.lower_bound) search(compact, std::move(*pairs), context, best);
        if (best.offsets.empty()) return {};
        return detail::offsets_by_buffer(problem, compact, best.offsets);
    }
    [[nodiscard]] std::string name() const { return "integer program by " + std::string(solver.name()); }

private:
    /// The best layout so far, by item, and its arena; without one the arena is what it must be below.
    struct found {
        std::vector<std::int64_t> offsets;
        std::int64_t arena;
        void offer(std::vector<std::int64_t> other, const detail::sections& compact) {
            const std::int64_t arena_of_other = detail::arena_of_items(compact, other);
            if (arena_of_other >= arena) return;
            arena = arena_of_other;
            offsets = std::move(other);
        }
    };

    static void take_heuristics(const problem& problem, const detail::sections& compact,
                                const std::vector<detail::item_pair>& pairs, found& best) {
        budget free({.states = std::numeric_limits<std::uint64_t>::max()});
        const auto offer = [&](const auto& policy) {
            layout::context own{.account = free, .compact = &compact, .compact_of = &problem};
            const offset_list offsets = policy(problem, own);
            if (offsets.size() != problem.buffers.size()) return;
            std::vector<std::int64_t> by_item;
            by_item.reserve(compact.items.size());
            for (const detail::item& entry : compact.items)
                by_item.push_back(offsets[entry.buffer]);
            // Pushed down, its offsets are sums of sizes, as the program's are.
            if (auto lower = detail::push_down<std::int64_t>(compact, pairs, by_item))
                best.offer(std::move(*lower), compact);
        };
        offer(best_fit{});
        offer(llfb{});
    }
    /// The arena that the program may have at most: the best one's, or what is below the target.
    [[nodiscard]] static std::int64_t largest_arena(const detail::sections& compact, const found& best) {
        if (!best.offsets.empty()) return best.arena;
        if (best.arena != std::numeric_limits<std::int64_t>::max()) return best.arena - 1;
        std::int64_t sum = 0;  // all on top of each other, each aligned, above the highest pin
        for (const detail::item& entry : compact.items) {
            if (entry.pinned()) sum = std::max(sum, stowage::detail::checked_add(entry.pin, entry.size));
        }
        for (const detail::item& entry : compact.items) {
            if (entry.pinned()) continue;
            sum = stowage::detail::align_up(sum, entry.alignment);
            sum = stowage::detail::checked_add(sum, entry.size, "an arena");
        }
        return sum;
    }
    void search(const detail::sections& compact, std::vector<detail::item_pair> pairs, context& context,
                found& best) const {
        const std::int64_t most = largest_arena(compact, best);
        const detail::offset_program posed(compact, std::move(pairs), context.lower_bound, most);
        if (!posed.expressible() || posed.program().entry_count() > options.limits.entries) return;
        solver::options how{.seed = context.seed};
        if (!best.offsets.empty()) how.start = posed.values_of(best.offsets);
        const solver::result answer =
            solver::solve_within(solver, posed.program(), how, options.limits, context.account);
        if (answer.has_values()) {
            if (auto offsets = posed.offsets_of(answer.values)) best.offer(std::move(*offsets), compact);
        }
        std::int64_t proven = context.lower_bound;
        if (answer.status == status::infeasible) {
            if (best.arena != std::numeric_limits<std::int64_t>::max()) proven = best.arena;
        } else if (answer.bound > 0) {
            proven = posed.bytes(answer.bound);
        }
        context.lower_bound = std::max(context.lower_bound, std::min(proven, best.arena));
    }
};
template <class Solver>
integer_program(Solver) -> integer_program<Solver>;
template <class Solver>
integer_program(Solver, integer_program_options) -> integer_program<Solver>;

static_assert(searching_layout_policy<integer_program<>>);

}  // namespace stowage::layout
