#pragma once
// MODeL's addresses for a fixed order (Steiner et al., "MODeL: memory optimizations for deep learning", ICML
// 2023, "pyramid preplacement"): in training, activations that are made early are used late, so that their
// lifetimes nest; the longest-lived buffer goes to the bottom, on it the longest-lived of those that live
// within its lifetime, and so on up. With these fixed, an integer program places the others. A rival: what it
// may prove holds with the pyramid fixed only, and says nothing about the problem.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/layout/best_fit.hpp>
#include <stowage/layout/integer_program.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/solver/concepts.hpp>

namespace stowage::layout {

/// Options of model.
struct model_options {
    bool pyramid = true;          ///< place the pyramid first
    std::size_t pairs = 100'000;  ///< problems with more pairs of buffers alive together get best fit only
    solver::program_limits limits = {.entries = 5'000'000,
                                     .time = std::chrono::seconds(60)};  ///< of the solve
};

namespace detail {

/// Buffers of the pyramid, from the bottom up: each the longest-lived (then the largest, then the first) of
/// those that live within the lifetime of the one below it. Pinned buffers and those with gaps take no part.
/// O(n log n).
template <class = void>
[[nodiscard]] std::vector<std::size_t> pyramid_of(const problem& problem) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const buffer& b = problem.buffers[i];
        if (b.takes_part() && !b.offset && b.gaps.empty()) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
        const buffer& a = problem.buffers[i];
        const buffer& b = problem.buffers[j];
        const std::int64_t lives_a = span_of_time(a.lower, a.upper);
        const std::int64_t lives_b = span_of_time(b.lower, b.upper);
        if (lives_a != lives_b) return lives_a > lives_b;
        if (a.size != b.size) return a.size > b.size;
        return i < j;
    });
    // Longest first, so that each fits into the one below or never will again.
    std::vector<std::size_t> pyramid;
    for (const std::size_t i : order) {
        const buffer& b = problem.buffers[i];
        if (pyramid.empty()) {
            pyramid.push_back(i);
            continue;
        }
        const buffer& below = problem.buffers[pyramid.back()];
        if (b.lower >= below.lower && b.upper <= below.upper) pyramid.push_back(i);
    }
    return pyramid;
}

}  // namespace detail

/// MODeL's layout: pyramid, then integer program from a best fit of the rest. Returns an empty list where the
/// result is not below context.target. Never raises context.lower_bound. O(n log n) beside the solve.
template <solver::mip_solver Solver>
struct model {
    Solver solver{};
    model_options options{};

    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        layout::problem fixed = problem;
        if (options.pyramid) pin_pyramid(fixed);
        layout::context own{.account = context.account, .target = context.target, .seed = context.seed};
        const integer_program<Solver> program{.solver = solver,
                                              .options = {.pairs = options.pairs, .limits = options.limits}};
        offset_list offsets = program(fixed, own);
        if (offsets.empty()) offsets = around_pins(fixed);
        if (offsets.size() != problem.buffers.size() || arena_of(problem, offsets) >= context.target)
            return {};
        return offsets;
    }
    [[nodiscard]] std::string name() const { return "model by " + std::string(solver.name()); }

private:
    static void pin_pyramid(problem& fixed) {
        for (const buffer& b : fixed.buffers) {
            if (b.offset && b.takes_part()) return;  // the user's pins may lie where the pyramid would
        }
        std::int64_t base = 0;
        for (const std::size_t i : detail::pyramid_of(fixed)) {
            buffer& b = fixed.buffers[i];
            base = stowage::detail::align_up(base, detail::common_alignment(fixed.alignment, b.alignment));
            b.offset = base;
            base = stowage::detail::checked_add(base, b.size, "the pyramid");
        }
    }
    static offset_list around_pins(const problem& fixed) {
        budget free({.states = std::numeric_limits<std::uint64_t>::max()});
        layout::context own{.account = free};
        return best_fit{}(fixed, own);
    }
};
template <class Solver>
model(Solver) -> model<Solver>;
template <class Solver>
model(Solver, model_options) -> model<Solver>;

static_assert(searching_layout_policy<model<solver::enumerator>>);

}  // namespace stowage::layout
