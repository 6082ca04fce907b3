#pragma once
// The complete search for layouts: is there one within a capacity? For whom: small and middling problems (to
// some thousand buffers) that the skylines leave above the bound; it finds the layout, or proves that there
// is none. Source: papers/layout.md, "Valley search"; the rules and their reasons are at valley_rules.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/decision.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_restarts.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

/// What the valley search may do.
struct valley_search_options {
    valley_rules rules{};  ///< the rules to use; all of them by default
    bool vary =
        true;  ///< change pivots and the use of the bound from restart to restart; off: as `rules` says
    /// Problems whose buffers span more sections than this in all are refused (the search keeps a list a
    /// section): the answer is unknown.
    std::uint64_t width_limit = 4'000'000;
};

/// Decides and lays out by the valley search with restarts, in one pool. Complete with pins and alignments of
/// any kind; where buffers have gaps it finds layouts, and refutes only what is infeasible with each piece
/// at an offset of its own. Memory: the sum over buffers of the sections that they span, and 64 MiB for
/// refuted states. Deterministic for one seed unless a clock ran out. Ties: the index.
struct valley_search {
    valley_search_options options{};

    [[nodiscard]] std::string name() const { return "valley search"; }
    /// Is there a layout of the valid `problem` within `capacity` bytes? Ends with `unknown` when the account
    /// does.
    template <class = void>
    [[nodiscard]] decision decide(const problem& problem, std::int64_t capacity, budget& account,
                                  std::uint64_t seed = 1) const {
        return decide(problem, detail::make_sections(problem), capacity, account, seed);
    }
    /// The layout at the proven bound if it is found before the account runs out, else an empty list; raises
    /// the bound where it proves that there is none.
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        for (;;) {
            decision answer = decide(problem, compact, context.lower_bound, context.account, context.seed);
            if (answer.status != status::infeasible) return std::move(answer.offsets);
            context.lower_bound = detail::next_arena(compact, context.lower_bound);
            if (context.decide) return offset_list{};
        }
    }

private:
    template <class = void>
    [[nodiscard]] decision decide(const problem& problem, const detail::sections& compact,
                                  std::int64_t capacity, budget& account, std::uint64_t seed) const {
        decision answer;
        if (problem.capacities.size() > 1 || detail::total_width(compact) > options.width_limit)
            return answer;
        if (capacity < 0) {
            answer.status = status::infeasible;
        } else {
            if (compact.gapped) {
                // A small part of the account: what is found is found by the other question.
                budget part = account.slice(std::min<std::uint64_t>(account.left() / 4, 200'000));
                const detail::strip apart = detail::make_strip(compact, capacity, true);
                detail::valley_restarts refuting(apart, detail::durations_of(compact), seed);
                answer.status = refuting.run(options.rules, options.vary, part);
                answer.nodes = refuting.nodes();
                account.settle(part);
                if (answer.status == status::infeasible) return answer;
            }
            const detail::strip whole = detail::make_strip(compact, capacity);
            detail::valley_restarts restarts(whole, detail::durations_of(compact), seed);
            answer.status = restarts.run(options.rules, options.vary, account);
            answer.nodes += restarts.nodes();
            if (answer.status == status::feasible) {
                answer.offsets = detail::offsets_in_bytes(problem, compact, whole, restarts.offsets());
            }
        }
        return answer;
    }
};

static_assert(searching_layout_policy<valley_search>);

}  // namespace stowage::layout
