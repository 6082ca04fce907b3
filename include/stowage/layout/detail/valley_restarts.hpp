#pragma once
// Restarts of the valley search: its run times are heavy-tailed, so many short runs beat a long one (Luby,
// Sinclair, Zuckerman 1993). Each run learns from the dead ends of the last, and refuted states are kept from
// one to the next.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/learnt_factors.hpp>
#include <stowage/layout/detail/strip.hpp>
#include <stowage/layout/detail/valley_engine.hpp>
#include <stowage/layout/valley_rules.hpp>
#include <stowage/status.hpp>

namespace stowage::layout::detail {

/// Restarts at one capacity; call run() as often as wanted, it goes on where it was.
/// First each key once, then episodes of restarts that learn (see learnt_factors).
template <class = void>
class basic_valley_restarts {
public:
    /// `whole` must outlive this; `durations` are those of its blocks. `slow_only` leaves out the
    /// first runs and the quick lessons, which have failed at a nearby capacity.
    basic_valley_restarts(const strip& whole, std::vector<std::int64_t> durations, std::uint64_t seed,
                          bool slow_only = false)
        : whole_(whole), durations_(std::move(durations)), engine_(whole.blocks, whole.sections),
          random_(seed), slow_only_(slow_only), factors_(engine_, durations_) {}
    /// Runs until there is an answer or the account runs out. Where `vary` is set, the pivot and the use of
    /// the bound change from episode to episode: which serves a problem best cannot be told before.
    status run(const valley_rules& rules, bool vary, budget& account) {
        while (!account.exhausted()) {
            valley_rules here = rules;
            // Where there is no layout, only a run that is long enough can say so: an eighth of the work goes
            // into ever longer ones.
            const bool lengthy = runs_ >= 2 * runs_an_episode && nodes_ >= 8 * lengthy_nodes_;
            const bool first = !slow_only_ && runs_ < block_keys;
            const status answer = lengthy ? long_run(here, account)
                                  : first ? first_run(here, account)
                                          : learn(here, vary, account);
            nodes_ += engine_.nodes();
            if (answer != status::unknown) return answer;
            // A run that the account has cut short teaches nothing and is begun again.
            if (lengthy) {
                lengthy_nodes_ += engine_.nodes();
            } else if (!account.exhausted()) {
                ++runs_;
            }
        }
        return status::unknown;
    }
    /// Offsets of the blocks, in units of the strip, after `feasible`.
    [[nodiscard]] const std::vector<std::int64_t>& offsets() const noexcept { return engine_.offsets(); }
    /// Nodes of all runs.
    [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }

private:
    static constexpr std::size_t runs_an_episode = 30;
    static constexpr std::array other_keys = {block_key::duration, block_key::width, block_key::area,
                                              block_key::section_area, block_key::width_squared};

    status first_run(const valley_rules& rules, budget& account) {
        return solve(static_cast<block_key>(runs_), rules, 2, account);
    }
    status long_run(const valley_rules& rules, budget& account) {
        return solve(block_key::size, rules, 4 + nodes_ / (2 * whole_.blocks.size() + 1), account);
    }
    status learn(valley_rules& rules, bool vary, budget& account) {
        const std::size_t run = slow_only_ ? runs_ : runs_ - block_keys;
        const std::size_t episode = run / runs_an_episode;
        const std::size_t pair = slow_only_ ? episode : episode / 2;
        const std::size_t cycle = pair / (2 * other_keys.size());
        // Every second pair of episodes (three of four slow ones) is by size: that key learns best.
        const bool by_size = slow_only_ ? episode % 4 != 3 : pair % 2 == 0;
        const block_key key = by_size ? block_key::size : other_keys[pair / 2 % other_keys.size()];
        if (run % runs_an_episode == 0) {
            const double noise = pair < 2 ? 0 : 0.05 * static_cast<double>(1 + pair % 3);
            factors_.shake(noise, random_);
        }
        // Quick lessons from short runs and slow ones from longer runs, in turn; other keys with other
        // pivots, after each cycle longer runs.
        const bool slow = slow_only_ || episode % 2 == 1;
        if (vary) {
            const bool usual = by_size || pair % 4 != 3;
            rules.pivot = slow ? (usual ? pivot_rule::lowest_fewest : pivot_rule::most_failures)
                               : (usual ? pivot_rule::fewest_lowest : pivot_rule::fewest_narrowest);
            rules.bound = rules.bound && (slow || pair % 4 != 1);
        }
        const std::uint64_t length = (slow ? 2 : 1) * luby(cycle + 1);
        const status answer = solve(key, rules, length, account);
        if (answer != status::unknown || account.exhausted()) return answer;
        factors_.learn(slow ? 0.5 : 1.0, random_);
        return answer;
    }
    /// One run of `length` nodes a block.
    status solve(block_key key, const valley_rules& rules, std::uint64_t length, budget& account) {
        factors_.apply(key);
        return solve_within(engine_, whole_.capacity, rules, length * whole_.blocks.size() + 50, account);
    }

    const strip& whole_;
    std::vector<std::int64_t> durations_;
    valley_engine engine_;
    stowage::detail::splitmix64 random_;
    bool slow_only_;
    learnt_factors factors_;
    std::size_t runs_ = 0;
    std::uint64_t nodes_ = 0;
    std::uint64_t lengthy_nodes_ = 0;
};
using valley_restarts = basic_valley_restarts<>;

}  // namespace stowage::layout::detail
