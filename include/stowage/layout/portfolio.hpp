#pragma once
// Several layout policies in a row: the best answer is kept, and the first that meets the lower bound, so
// that it is proven optimal, ends the search. Source: papers/layout.md, "stop when the arena meets the
// bound".

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

namespace detail {

/// A policy's own name(), if it has one.
template <class Policy>
[[nodiscard]] std::string name_of(const Policy& policy) {
    if constexpr (requires { std::string(policy.name()); }) {
        return std::string(policy.name());
    } else {
        return "unnamed policy";
    }
}

}  // namespace detail

/// Runs its policies in order, each told by context::target what the best arena so far is, keeps the layout
/// with the smallest arena (the first of equal ones), and stops when it meets context::lower_bound or the
/// account is exhausted. context::found_by names the policy whose layout is returned. A portfolio is a
/// policy, so they nest: `portfolio{llfb{}, my_policy{}, portfolio{...}}`. It adds O(n) a policy to what they
/// cost.
template <layout_policy... Policies>
class portfolio {
public:
    explicit portfolio(Policies... policies) : policies_(std::move(policies)...) {}

    /// The best layout with an arena below context::target; empty if there is none.
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        best_so_far best{{}, context.target, {}, context.lower_bound};
        std::apply(
            [&](const Policies&... policies) {
                // The fold ends at the first policy after which there is nothing more to do.
                static_cast<void>((... || improve(policies, problem, context, best)));
            },
            policies_);
        context.target = best.arena;
        context.found_by = std::move(best.found_by);
        return std::move(best.offsets);
    }
    [[nodiscard]] std::string name() const { return "portfolio"; }

    /// This portfolio with one more policy at its end.
    template <layout_policy Policy>
    [[nodiscard]] auto then(Policy policy) const {
        return std::apply(
            [&](const Policies&... policies) {
                return portfolio<Policies..., Policy>(policies..., std::move(policy));
            },
            policies_);
    }

private:
    struct best_so_far {
        offset_list offsets;
        std::int64_t arena;
        std::string found_by;
        std::int64_t bound;  // as it was at the start
    };

    /// True once no other policy is to be tried.
    template <class Policy>
    static bool improve(const Policy& policy, const problem& problem, context& context, best_so_far& best) {
        // What it does before it first looks at the clock must not come on top of a budget.
        if (context.account.exhausted() || !detail::affords_layout(context.account, problem.buffers.size()))
            return true;
        context.target = best.arena;
        context.found_by.clear();
        offset_list offsets = apply(policy, problem, context);
        // The policy may have proven that nothing better exists, or that the capacity asked about does not
        // do.
        const bool proven =
            best.arena <= context.lower_bound || (context.decide && context.lower_bound > best.bound);
        if (offsets.size() != problem.buffers.size()) return proven;
        const std::int64_t arena = arena_of(problem, offsets);
        if (detail::reaches(arena, best.arena)) return proven;
        best.arena = arena;
        best.offsets = std::move(offsets);
        best.found_by = context.found_by.empty() ? detail::name_of(policy) : context.found_by;
        return proven || best.arena <= context.lower_bound;
    }

    std::tuple<Policies...> policies_;
};

}  // namespace stowage::layout
