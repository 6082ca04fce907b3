#pragma once
// Section growing as a policy: the valley search on some neighbouring sections first, then on more and more,
// each time led by the offsets found before. For whom: hard problems of some hundred buffers. Source:
// papers/layout.md, 6.

#include <cstdint>
#include <string>
#include <utility>

#include <stowage/budget.hpp>
#include <stowage/layout/decision.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/section_grower.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

/// Options of section_growing.
struct section_growing_options {
    valley_rules rules{};  ///< rules of the valley search; the pivot varies
    /// Problems whose buffers span more sections than this in all are refused: the answer is unknown.
    std::uint64_t width_limit = 4'000'000;
};

/// Decides and lays out like valley_search, and takes the same problems. What is infeasible on some of the
/// sections is infeasible on all, so that "no" is a proof here too.
struct section_growing {
    section_growing_options options{};

    /// Is there a layout of the valid `problem` within `capacity` bytes? `unknown` when the account runs out.
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
    [[nodiscard]] std::string name() const { return "section growing"; }

private:
    template <class = void>
    [[nodiscard]] decision decide(const problem& problem, const detail::sections& compact,
                                  std::int64_t capacity, budget& account, std::uint64_t seed) const {
        decision answer;
        if (problem.capacities.size() > 1 || detail::total_width(compact) > options.width_limit)
            return answer;
        if (capacity < 0 || compact.items.empty()) {
            answer.status = capacity < 0 ? status::infeasible : status::feasible;
            if (capacity >= 0) answer.offsets = detail::offsets_by_buffer(problem, compact, {});
            return answer;
        }
        const detail::strip whole = detail::make_strip(compact, capacity);
        detail::section_grower grower(whole, detail::durations_of(compact), seed);
        answer.status = grower.run(options.rules, account);
        answer.nodes = grower.nodes();
        if (answer.status == status::feasible) {
            answer.offsets = detail::offsets_in_bytes(problem, compact, whole, grower.offsets());
        }
        return answer;
    }
};

static_assert(searching_layout_policy<section_growing>);
static_assert(!simple_layout_policy<section_growing>, "without a context it does not know the bound");

}  // namespace stowage::layout
