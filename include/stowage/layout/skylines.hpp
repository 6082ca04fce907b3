#pragma once
// Many skylines, one after the other, until one meets the lower bound: every key, plain and slack-aware, then
// keys with noise. Source: papers/layout.md, 1, 2 and 4.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/fit_engine.hpp>
#include <stowage/layout/detail/obstacle_skyline.hpp>
#include <stowage/layout/detail/ranking.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/skyline_engine.hpp>
#include <stowage/layout/key.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/layout/skyline.hpp>

namespace stowage::layout {

/// Options of skylines.
struct skylines_options {
    /// The keys, in the order in which they are tried.
    std::vector<layout::key> keys{all_keys.begin(), all_keys.end()};
    bool slack_aware = true;  ///< each key is tried with every slack_rule, not with slack_rule::none alone
    bool plain_keys = true;   ///< the keys are tried as they are before any round with noise
    std::uint64_t perturbed_rounds =
        0;  ///< rounds with noise; round q has key q and noise 0.03 to 0.18, six levels
};

/// Lays out by the best of many skylines, the first of equal ones; stops at once when one meets the context's
/// lower bound, and at the end of its account. Everything else is as in layout::skyline: with pins or gaps
/// each key is a skyline around what stands, then one first fit. O(n log n) a skyline, O(n) memory.
/// Reentrant.
struct skylines {
    skylines_options options{};

    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        std::vector<std::int64_t> loads;  // made once a key asks for them
        const auto values_of = [&](key key) {
            if (loads.empty() && detail::led_by_load(key)) loads = detail::largest_loads(compact);
            return detail::key_values(compact, loads, key);
        };
        // What is pinned or has gaps is beyond a plain skyline; only one of the two is made.
        std::optional<detail::skyline_engine> plain;
        std::optional<detail::obstacle_skyline> around;
        if (compact.pinned || compact.gapped)
            around.emplace(problem, compact);
        else
            plain.emplace(compact);
        sweep state{problem, compact, context, plain, around, {}, context.target, {}, {}};
        if (options.plain_keys) {
            for (const key key : options.keys) {
                if (!detail::affords_ranking(context.account, compact.items.size())) return state.best;
                detail::rank(values_of(key), state.ranked);
                if (try_key(state, key, 0)) return state.best;
            }
        }
        stowage::detail::splitmix64 random(context.seed);
        for (std::uint64_t round = 0; round < options.perturbed_rounds && !options.keys.empty(); ++round) {
            if (!detail::affords_ranking(context.account, compact.items.size())) return state.best;
            const std::size_t count = options.keys.size();
            const key key = options.keys[round % count];
            const double noise = 0.03 * static_cast<double>(1 + round / count % 6);
            std::vector<detail::key_value> values = values_of(key);
            detail::perturb(values, key, noise, random);
            detail::rank(values, state.ranked);
            if (try_key(state, key, noise)) return state.best;
        }
        return state.best;
    }
    [[nodiscard]] std::string name() const { return "skylines"; }

private:
    struct sweep {
        const layout::problem& problem;
        const detail::sections& compact;
        layout::context& context;
        std::optional<detail::skyline_engine>& plain;
        std::optional<detail::obstacle_skyline>& around;
        offset_list best;
        std::int64_t best_arena;
        std::vector<std::uint32_t> ranked;
        std::vector<std::int64_t> offsets;
    };

    /// Runs the ranking in every form; true if there is nothing more to do.
    template <class = void>
    [[nodiscard]] bool try_key(sweep& state, key key, double noise) const {
        const bool obstacles = state.around.has_value();
        for (const slack_rule slack : {slack_rule::none, slack_rule::when_needed, slack_rule::always}) {
            if (slack != slack_rule::none && (obstacles || !options.slack_aware)) break;
            // Also the ranking costs something: without that, rounds on a few buffers would never end.
            const std::size_t ranking = slack == slack_rule::none ? state.ranked.size() / 16 : 0;
            if (!state.context.account.spend(1 + ranking)) return true;
            if (obstacles) {
                if (try_around(state, key, noise)) return true;
                continue;
            }
            state.offsets.resize(state.compact.items.size());
            const detail::skyline_run run{
                .slack = slack, .limit = state.best_arena, .target = state.context.lower_bound};
            const auto outcome = state.plain->run(state.ranked, run, state.offsets, state.context.account);
            if (outcome.complete && take(state, skyline{{.key = key, .slack = slack, .noise = noise}}.name()))
                return true;
        }
        return false;
    }
    /// With pins or gaps: a skyline around what stands, then a first fit in the order of the key.
    template <class = void>
    [[nodiscard]] static bool try_around(sweep& state, key key, double noise) {
        const std::string name = skyline{{.key = key, .noise = noise}}.name();
        state.offsets = state.around->run(state.ranked, state.best_arena, state.context.account);
        if (!state.offsets.empty() && take(state, name + ", around pins and gaps")) return true;
        if (state.context.account.exhausted()) return true;
        state.offsets = detail::place_in_order(state.problem, state.compact, state.ranked, detail::fit::first,
                                               state.best_arena, state.context.account);
        return !state.offsets.empty() && take(state, name);
    }
    /// Keeps a layout that is better than all before; true if it meets the bound.
    template <class = void>
    [[nodiscard]] static bool take(sweep& state, std::string name) {
        state.best_arena = detail::arena_of_items(state.compact, state.offsets);
        state.best = detail::offsets_by_buffer(state.problem, state.compact, state.offsets);
        state.context.found_by = std::move(name);
        return state.best_arena <= state.context.lower_bound;
    }
};

static_assert(searching_layout_policy<skylines>);
static_assert(!simple_layout_policy<skylines>, "without a context it does not know when to stop");

}  // namespace stowage::layout
