#pragma once
// The search that proves layouts: asks "feasible at the bound?" first, with every engine of the room in turn,
// since the first layout that meets the bound is optimal. Source: papers/layout.md, "Algorithms, in the order
// to run them".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <stowage/budget.hpp>
#include <stowage/error.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/branch_and_bound.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/exact_run.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/simpler_problem.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/skylines.hpp>
#include <stowage/layout/valley_rules.hpp>

namespace stowage::layout {

/// What the exact policy may do.
struct exact_options {
    valley_rules rules{};     ///< rules of the valley search; the use of the bound and the pivot vary
    std::size_t small = 600;  ///< up to so many buffers the complete searches come first
    std::size_t middling =
        4000;  ///< up to so many they come after the searches over keys; beyond, not at all
    std::uint64_t width_limit = 4'000'000;  ///< nor where the buffers span more sections than this in all
    bool keys = true;                       ///< conflict-driven and perturbed keys take part
    bool between = true;  ///< also search at capacities between the bound and the best arena so far
    std::size_t canonical =
        200;  ///< up to so many buffers with pins, gaps or mixed alignments the branch and bound goes first
    std::int64_t common_alignment =
        4096;  ///< larger problems are also tried with gaps closed and one alignment, if that is at most this
};

/// Looks for a layout at context.lower_bound until the account runs out; returns the best one below
/// context.target that it meets on the way, or an empty list, and raises the bound where it refutes it. Meant
/// to follow layout::skylines in a portfolio. Valley search, section growing, conflict-driven and perturbed
/// keys take turns in growing slices. Small problems with pins, gaps or mixed alignments first go to the
/// canonical branch and bound, those with gaps or mixed alignments then with the gaps closed and the
/// alignments made equal to the searches for plain ones (their layouts are layouts of the problem). The
/// valley search is complete with pins and mixed alignments; with gaps it refutes only what is infeasible
/// with the pieces apart. With pins or gaps noisy first fits stand in for the keys of skylines. Deterministic
/// for one seed unless a clock ran out; memory linear in the buffers' widths (sections spanned).
struct exact {
    exact_options options{};

    template <class Tag = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        if (compact.items.empty() || problem.capacities.size() > 1) return {};
        offset_list best;
        if (!compact.plain() && compact.items.size() <= options.canonical &&
            canonical(problem, context, best))
            return best;
        if ((compact.gapped || compact.mixed_alignment) && !compact.pinned) {
            keep(simpler(problem, context), problem, context, best);
            if (context.target <= context.lower_bound) return best;
        }
        detail::exact_settings settings{options.rules, options.small, options.middling, options.keys,
                                        options.between};
        if (detail::total_width(compact) > options.width_limit) settings.small = settings.middling = 0;
        // The skylines of the race know neither pins nor gaps: first fits by noisy keys stand in for them.
        if (options.keys && (compact.pinned || compact.gapped) && compact.items.size() > options.canonical)
            keep(noisy_fits(problem, compact, context), problem, context, best);
        const std::string found_by = context.found_by;
        keep(detail::basic_exact_run<Tag>(problem, compact, context, settings)(), problem, context, best);
        if (context.found_by.empty()) context.found_by = found_by;
        return best;
    }
    [[nodiscard]] std::string name() const { return "exact"; }

private:
    /// Keeps a layout that is better than the target, which it lowers.
    template <class = void>
    static void keep(offset_list offsets, const problem& problem, context& context, offset_list& best) {
        if (offsets.empty()) return;
        context.target = arena_of(problem, offsets);
        best = std::move(offsets);
    }
    /// The branch and bound with a part of the account; true if it has ended, so that nothing better exists.
    template <class = void>
    [[nodiscard]] bool canonical(const problem& problem, context& context, offset_list& best) const {
        const std::uint64_t share = problem.buffers.size() <= 24 ? 2 : 8;
        budget part = context.account.slice(std::min<std::uint64_t>(context.account.left() / share, 200'000));
        layout::context own{.account = part,
                            .lower_bound = context.lower_bound,
                            .target = context.target,
                            .seed = context.seed};
        offset_list offsets = branch_and_bound{}(problem, own);
        const bool ended = !part.exhausted();
        context.account.settle(part);
        context.lower_bound = own.lower_bound;
        if (!offsets.empty()) context.found_by = "branch and bound";
        keep(std::move(offsets), problem, context, best);
        return ended;
    }
    /// First fits by keys with noise, with a part of the account.
    template <class = void>
    [[nodiscard]] static offset_list noisy_fits(const problem& problem, const detail::sections& compact,
                                                context& context) {
        budget part = context.account.slice(std::min<std::uint64_t>(context.account.left() / 8, 150'000));
        layout::context own{.account = part,
                            .lower_bound = context.lower_bound,
                            .target = context.target,
                            .seed = context.seed,
                            .compact = &compact,
                            .compact_of = &problem};
        const skylines fits{
            {.plain_keys = false, .perturbed_rounds = std::numeric_limits<std::uint64_t>::max()}};
        offset_list offsets = fits(problem, own);
        context.account.settle(part);
        if (!offsets.empty()) context.found_by = own.found_by;
        return offsets;
    }
    /// What the searches for plain problems make of a stricter one, with half of the states left (of a clock
    /// about half a second): a layout below the target or an empty list. Their bound is that of the stricter
    /// problem, so it is not kept.
    template <class = void>
    [[nodiscard]] offset_list simpler(const problem& problem, context& context) const {
        if (!detail::affords_layout(context.account, 2 * problem.buffers.size())) return {};
        const layout::problem strict = detail::simpler_problem(problem, options.common_alignment);
        detail::sections compact;
        try {
            compact = detail::make_sections(strict);
        } catch (const overflow_error&) {
            return {};  // with the gaps closed the sum passes 2^63 - 1
        }
        if (!compact.plain()) return {};
        const std::uint64_t most = context.account.timed() ? 500'000 : context.account.left() / 2;
        budget part = context.account.slice(most);
        layout::context own{.account = part,
                            .lower_bound = std::max(context.lower_bound,
                                                    detail::lower_bound(compact, &context.account).bytes),
                            .target = context.target,
                            .seed = context.seed,
                            .compact = &compact,
                            .compact_of = &strict};
        offset_list offsets = own.lower_bound < own.target ? (*this)(strict, own) : offset_list{};
        context.account.settle(part);
        if (!offsets.empty()) context.found_by = own.found_by + ", gaps closed and alignments equal";
        return offsets;
    }
};

static_assert(searching_layout_policy<exact>);
static_assert(!simple_layout_policy<exact>, "without a context it does not know the bound");

}  // namespace stowage::layout
