#pragma once
// The program `layout` when a capacity is given: does the problem fit, and if not, which buffers alone do
// not.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <stowage/layout.hpp>
#include <stowage/layout/branch_and_bound.hpp>
#include <stowage/layout/valley_search.hpp>

namespace layout_program {

using stowage::budget;
using stowage::status;
namespace layout = stowage::layout;

/// The buffers at `index` as a problem of one pool without a limit.
[[nodiscard]] inline layout::problem part_of(const layout::problem& whole,
                                             const std::vector<std::size_t>& index) {
    layout::problem part;
    part.alignment = whole.alignment;
    for (const std::size_t i : index) {
        part.buffers.push_back(whole.buffers[i]);
        part.buffers.back().pool.reset();
        part.names.push_back(whole.names[i]);
    }
    return part;
}

/// Whether a problem of one pool fits, by the bounds and by the complete searches.
[[nodiscard]] inline layout::decision decide(const layout::problem& problem, std::int64_t capacity,
                                             budget& account, std::uint64_t seed) {
    layout::decision answer;
    if (layout::lower_bound(problem).bytes > capacity) {
        answer.status = status::infeasible;
        return answer;
    }
    answer = layout::valley_search{}.decide(problem, capacity, account, seed);
    if (answer.status == status::unknown) {
        answer = layout::branch_and_bound{}.decide(problem, capacity, account);
    }
    return answer;
}

/// Buffers that alone do not fit, for a problem of one pool that is known not to fit. Each one is left out
/// that is proven to be innocent: without it the others still do not fit.
[[nodiscard]] inline std::vector<std::size_t> blame(const layout::problem& problem, std::int64_t capacity,
                                                    std::uint64_t seed) {
    constexpr std::size_t most_trials = 200;
    constexpr std::uint64_t states_a_trial = 2'000;
    const layout::arena_bound bound = layout::lower_bound(problem);
    std::vector<std::size_t> guilty;
    if (bound.bytes > capacity) {
        guilty = bound.buffers;
    } else {
        for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
            if (problem.buffers[i].takes_part()) guilty.push_back(i);
        }
    }
    std::sort(guilty.begin(), guilty.end(), [&](std::size_t a, std::size_t b) {
        const auto& x = problem.buffers[a];
        const auto& y = problem.buffers[b];
        return x.size != y.size ? x.size < y.size : a > b;
    });
    if (bound.bytes > capacity && bound.reason == layout::bound_reason::load) {
        std::int64_t sum = bound.bytes;
        std::erase_if(guilty, [&](std::size_t i) {
            const bool innocent = sum - problem.buffers[i].size > capacity;
            if (innocent) sum -= problem.buffers[i].size;
            return innocent;
        });
    }
    for (std::size_t k = 0, trials = 0; k < guilty.size() && trials < most_trials; ++trials) {
        std::vector<std::size_t> others = guilty;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
        budget account({.states = states_a_trial});
        if (decide(part_of(problem, others), capacity, account, seed).status == status::infeasible)
            guilty = std::move(others);
        else
            ++k;
    }
    std::sort(guilty.begin(), guilty.end());
    return guilty;
}

}  // namespace layout_program
