#pragma once
// Several pools, each with a capacity of its own: in which pool does a buffer lie, and where? Pools stand in
// the order of the user's preference: what does not fit into one spills into the next that may take it.
// Source: papers/layout.md, "What users ask for".

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/blame.hpp>
#include <stowage/layout/capacity.hpp>
#include <stowage/layout/detail/pool_assignment.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/validate.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

/// What the search over pools may do.
struct pool_options {
    search_limits limits{};  ///< of the whole search
    /// Up to so many buffers that may choose their pool, all assignments are tried before the answer is
    /// `unknown`.
    std::size_t exhaustive = 16;
    std::size_t spill_rounds =
        16;  ///< how often buffers that stick out of a pool are moved on, for one assignment
};

/// Whether a problem fits into its pools, and how.
struct pool_answer {
    stowage::status status = stowage::status::unknown;  ///< feasible, infeasible (proved) or unknown
    std::vector<std::uint32_t> pools;  ///< one a buffer: its pool; the best found where it is not feasible
    offset_list offsets;               ///< one a buffer, in its pool
    std::vector<std::int64_t>
        arenas;          ///< one a pool: the bytes used; above the capacity where they do not fit
    blame_set blame;     ///< if infeasible and known: buffers that alone do not fit into the pools
    double seconds = 0;  ///< wall-clock time
};

namespace detail {

/// One search over pools.
template <class = void>
class basic_pool_search {
public:
    basic_pool_search(const problem& problem, const pool_options& options, budget& account)
        : problem_(problem), options_(options), account_(account), compact_(checked_sections(problem)),
          assignment_(problem, compact_) {}

    pool_answer operator()() {
        pool_answer answer;
        if (refuted_at_once(answer)) {
            answer.status = status::infeasible;
            complete(answer, assignment_.first_choice(pool_order::size));
            return answer;
        }
        std::int64_t least_excess = std::numeric_limits<std::int64_t>::max();
        for (const pool_order order :
             {pool_order::size, pool_order::area, pool_order::duration, pool_order::balanced}) {
            std::vector<std::uint32_t> pools = assignment_.first_choice(order);
            for (std::size_t round = 0; round <= options_.spill_rounds; ++round) {
                pool_answer attempt;
                complete(attempt, pools);
                const std::int64_t excess = excess_of(attempt);
                if (excess < least_excess) {
                    least_excess = excess;
                    answer = std::move(attempt);
                }
                if (excess == 0) {
                    answer.status = status::feasible;
                    return answer;
                }
                if (account_.exhausted()) return answer;
                if (!assignment_.spill(pools, answer.offsets)) break;
            }
        }
        if (assignment_.free_count() <= options_.exhaustive) try_all(answer);
        return answer;
    }

private:
    [[nodiscard]] std::int64_t excess_of(const pool_answer& answer) const {
        std::int64_t excess = 0;
        for (std::size_t p = 0; p < answer.arenas.size(); ++p) {
            // Capacities may be negative, sums may pass 2^63 - 1: more than half of that is as bad as it
            // gets.
            constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
            const std::int64_t over = answer.arenas[p] - std::max<std::int64_t>(0, problem_.capacities[p]);
            excess = std::min(most, excess + std::clamp<std::int64_t>(over, 0, most));
            if (problem_.capacities[p] < 0) excess = most;
        }
        return excess;
    }

    /// Lays out each pool of an assignment.
    void complete(pool_answer& answer, const std::vector<std::uint32_t>& pools) {
        answer.pools = pools;
        answer.offsets.assign(pools.size(), 0);
        answer.arenas.assign(problem_.capacities.size(), 0);
        for (std::uint32_t p = 0; p < problem_.capacities.size(); ++p) {
            const std::vector<std::size_t> index = members(pools, p);
            const layout::problem part = part_of(problem_, index);
            const std::uint64_t turn = std::max<std::uint64_t>(account_.left() / 8, 2 * index.size() + 1000);
            budget slice = account_.slice(turn);
            const sections form = make_sections(part);
            context context{.account = slice,
                            .lower_bound = std::max(problem_.capacities[p], lower_bound(form).bytes),
                            .decide = true,
                            .compact = &form,
                            .compact_of = &part};
            try {
                offset_list offsets = default_portfolio()(part, context);
                if (offsets.size() != index.size()) offsets = first_fit{}(part);
                for (std::size_t k = 0; k < index.size(); ++k)
                    answer.offsets[index[k]] = offsets[k];
                answer.arenas[p] = arena_of(part, offsets);
            } catch (const layout_error&) {
                // Two pinned buffers meet in this pool: no layout at all, but another assignment may have
                // one.
                if (pins_are_fixed(index)) throw;
                answer.arenas[p] = std::numeric_limits<std::int64_t>::max();
            }
            account_.settle(slice);
        }
    }
    [[nodiscard]] bool pins_are_fixed(const std::vector<std::size_t>& index) const {
        return std::all_of(index.begin(), index.end(), [&](std::size_t i) {
            return !problem_.buffers[i].offset || problem_.buffers[i].pool.has_value();
        });
    }
    [[nodiscard]] std::vector<std::size_t> members(const std::vector<std::uint32_t>& pools,
                                                   std::uint32_t pool) const {
        std::vector<std::size_t> index;
        for (std::size_t i = 0; i < pools.size(); ++i) {
            if (pools[i] == pool) index.push_back(i);
        }
        return index;
    }

    /// Proofs without search: a buffer larger than every pool it may be in; those of one pool alone; all
    /// bytes together.
    bool refuted_at_once(pool_answer& answer) {
        const auto& capacities = problem_.capacities;
        for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
            if (problem_.buffers[i].takes_part() && !assignment_.has_room(i)) {
                answer.blame = {{i}, true};
                return true;
            }
        }
        __extension__ using wide = __int128;
        wide sum = 0;
        for (const std::int64_t capacity : capacities)
            sum += std::max<std::int64_t>(capacity, 0);
        if (compact_.max_load() > sum) {
            const load_witness peak = load_bound(problem_);
            answer.blame.buffers = thin_clique(problem_, peak.buffers, 1, static_cast<std::int64_t>(sum));
            std::sort(answer.blame.buffers.begin(), answer.blame.buffers.end());
            return true;
        }
        for (std::uint32_t p = 0; p < capacities.size(); ++p) {
            std::vector<std::size_t> fixed;
            for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
                if (problem_.buffers[i].pool == p) fixed.push_back(i);
            }
            const layout::problem part = part_of(problem_, fixed);
            budget slice = account_.slice(account_.left() / 16);
            const bool refuted = lower_bound(part).bytes > capacities[p] ||
                                 decide_exactly(part, capacities[p], slice).status == status::infeasible;
            if (refuted) answer.blame = blame(part, capacities[p], slice);
            account_.settle(slice);
            if (!refuted) continue;
            for (std::size_t& i : answer.blame.buffers)
                i = fixed[i];
            return true;
        }
        return false;
    }

    /// All assignments of the buffers that may choose, those whose loads fit alone; exact decisions at the
    /// leaves.
    void try_all(pool_answer& answer) {
        bool all_refuted = true;
        assignment_.start_all();
        while (assignment_.next_of_all(account_)) {
            const std::vector<std::uint32_t>& pools = assignment_.current();
            bool fits = true;
            for (std::uint32_t p = 0; p < problem_.capacities.size() && fits; ++p) {
                const std::vector<std::size_t> index = members(pools, p);
                budget slice = account_.slice(std::max<std::uint64_t>(account_.left() / 8, 1000));
                const decision one = decide_exactly(part_of(problem_, index), problem_.capacities[p], slice);
                account_.settle(slice);
                fits = one.status == status::feasible;
                if (one.status == status::unknown) all_refuted = false;
            }
            if (!fits) continue;
            complete_exactly(answer, pools);
            return;
        }
        if (all_refuted && !account_.exhausted()) answer.status = status::infeasible;
    }
    void complete_exactly(pool_answer& answer, const std::vector<std::uint32_t>& pools) {
        answer.status = status::feasible;
        answer.pools = pools;
        for (std::uint32_t p = 0; p < problem_.capacities.size(); ++p) {
            const std::vector<std::size_t> index = members(pools, p);
            const layout::problem part = part_of(problem_, index);
            budget again({.states = std::numeric_limits<std::uint64_t>::max()});  // answered a moment ago
            const decision one = decide_exactly(part, problem_.capacities[p], again);
            for (std::size_t k = 0; k < index.size(); ++k)
                answer.offsets[index[k]] = one.offsets[k];
            answer.arenas[p] = arena_of(part, one.offsets);
        }
    }

    const problem& problem_;
    const pool_options& options_;
    budget& account_;
    sections compact_;
    pool_assignment assignment_;
};
using pool_search = basic_pool_search<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_pool_search<>;
#endif

}  // namespace detail

/// Lays out a valid problem into its pools (problem.capacities, at least one). A buffer with a pool lies
/// there, one without in any; earlier pools are preferred. `infeasible` is proven: by one buffer, one pool's
/// own buffers or the bytes alive at one moment, or, for few buffers that may choose, by trying all
/// assignments. Throws layout_error or overflow_error if the problem is not valid. O(n log n) an assignment
/// beside the layouts. Example: `problem.capacities = {1 << 20, 64 << 20};
/// layout::fit_pools(problem).pools[7]`.
template <class = void>
[[nodiscard]] pool_answer fit_pools(const problem& problem, const pool_options& options = {}) {
    if (problem.capacities.empty()) throw layout_error("no pool has a capacity", {});
    budget account(options.limits);
    pool_answer answer = detail::pool_search(problem, options, account)();
    answer.seconds = std::chrono::duration<double>(account.elapsed()).count();
    return answer;
}

}  // namespace stowage::layout
