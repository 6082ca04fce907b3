#pragma once
// Searches over the keys of skylines: conflict-driven keys learn from the first section that a run wastes;
// perturbed keys draw noise. Both go on where they were when they are called again. Source: papers/layout.md,
// 3 and 4.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/detail/learnt_factors.hpp>
#include <stowage/layout/detail/ranking.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/skyline_engine.hpp>
#include <stowage/layout/key.hpp>
#include <stowage/layout/policy.hpp>

namespace stowage::layout::detail {

/// What searches over keys share: the problem without pins and gaps, its loads, the skyline and the best
/// answer.
template <class = void>
struct basic_key_search_base {
    explicit basic_key_search_base(const sections& form)
        : compact(form), loads(largest_loads(form)), engine(form), offsets(form.items.size(), -1) {}
    const sections& compact;
    std::vector<std::int64_t> loads;
    skyline_engine engine;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> ranked;
};
using key_search_base = basic_key_search_base<>;

/// Conflict-driven keys: a run stops at the first raise that wastes more than a section's slack; the keys of
/// all buffers still to come over that section grow, so that they are placed earlier in the next run.
template <class Tag = void>
class basic_learnt_keys {
public:
    /// `seed` is that of all random choices.
    basic_learnt_keys(basic_key_search_base<Tag>& base, std::uint64_t seed, std::uint32_t runs_an_episode,
                      double strength)
        : base_(base), random_(seed), runs_an_episode_(runs_an_episode), strength_(strength) {}
    /// Runs until a layout of at most `target` bytes is in base.offsets (true) or the account runs out
    /// (false).
    bool run(std::int64_t target, budget& account) {
        while (!account.exhausted() && affords_ranking(account, base_.offsets.size())) {
            if (run_ == 0) start_episode();
            const std::size_t episode = episode_;
            if (++run_ == runs_an_episode_) {
                run_ = 0;
                ++episode_;
            }
            rank(values_, base_.ranked);
            account.spend(1 + base_.ranked.size() / 16);
            const skyline_run options{
                .slack =
                    episode / search_order.size() % 2 == 0 ? slack_rule::always : slack_rule::when_needed,
                .limit = target == std::numeric_limits<std::int64_t>::max() ? target : target + 1,
                .target = target,
                .stop_at_conflict = true};
            const skyline_outcome outcome = base_.engine.run(base_.ranked, options, base_.offsets, account);
            if (outcome.complete) return true;
            if (outcome.conflict >= 0) learn(outcome.conflict, key_of_episode(episode));
        }
        return false;
    }

private:
    static constexpr std::array<key, 9> search_order = {
        key::load_width, key::load_size, key::width_root_size, key::width_size, key::size_duration,
        key::area,       key::size,      key::duration,        key::width};
    [[nodiscard]] static key key_of_episode(std::size_t episode) noexcept {
        return search_order[episode % search_order.size()];
    }

    void start_episode() {
        const key key = key_of_episode(episode_);
        values_ = key_values(base_.compact, base_.loads, key);
        if (episode_ < 2 * search_order.size()) return;
        for (key_value& value : values_)
            scale(value, key, noise_factor(random_, 0.1));
    }
    void learn(std::int32_t section, key key) {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const section_range range = base_.compact.items[i].range;
            if (base_.offsets[i] >= 0 || range.first > section || section >= range.last) continue;
            // exp(x) for small x, from arithmetic alone, so that it is the same everywhere
            const double x = strength_ * random_.uniform();
            scale(values_[i], key, 1 + x * (1 + x / 2 * (1 + x / 3)));
        }
    }
    /// Where the load leads, a little of the factor acts on it too, else it would never be overruled.
    static void scale(key_value& value, key key, double factor) {
        if (led_by_load(key)) {
            value.second *= factor;
            value.first *= 1 + (factor - 1) * 0.02;
        } else {
            value.first *= factor;
        }
    }

    basic_key_search_base<Tag>& base_;
    stowage::detail::splitmix64 random_;
    std::uint32_t runs_an_episode_;
    double strength_;
    std::vector<key_value> values_;
    std::size_t episode_ = 0;
    std::uint32_t run_ = 0;
};
using learnt_keys = basic_learnt_keys<>;

/// Perturbed keys: every key with noise, in every form of the skyline.
template <class Tag = void>
class basic_noisy_keys {
public:
    basic_noisy_keys(basic_key_search_base<Tag>& base, std::uint64_t seed) : base_(base), random_(seed) {}
    /// Runs until a layout of an arena below `limit` is in base.offsets (its arena) or the account runs out
    /// (-1). The slack is counted to `target`.
    std::int64_t run(std::int64_t target, std::int64_t limit, budget& account) {
        while (!account.exhausted() && affords_ranking(account, base_.offsets.size())) {
            const std::size_t form = runs_ % 3;
            const std::size_t round = runs_ / 3;
            ++runs_;
            if (form == 0) {
                const key key = noisy_order[round % noisy_order.size()];
                std::vector<key_value> values = key_values(base_.compact, base_.loads, key);
                const double noise = 0.03 * static_cast<double>(1 + round / noisy_order.size() % 6);
                for (key_value& value : values) {
                    (led_by_load(key) ? value.second : value.first) *= noise_factor(random_, noise);
                }
                rank(values, ranked_);
            }
            account.spend(1 + ranked_.size() / 32);
            const skyline_run options{.slack = form == 0   ? slack_rule::none
                                               : form == 1 ? slack_rule::when_needed
                                                           : slack_rule::always,
                                      .limit = limit,
                                      .target = target};
            const skyline_outcome outcome = base_.engine.run(ranked_, options, base_.offsets, account);
            if (outcome.complete) return outcome.arena;
        }
        return -1;
    }

private:
    /// Keys that weigh width against size gain most from noise and come oftenest; the others in turn.
    static constexpr std::array<key, 16> noisy_order = {
        key::width_root_size, key::width_size, key::area, key::size_duration,
        key::width_root_size, key::width_size, key::area, key::load_width,
        key::width_root_size, key::width_size, key::area, key::duration,
        key::load_size,       key::size,       key::area, key::width};
    basic_key_search_base<Tag>& base_;
    stowage::detail::splitmix64 random_;
    std::vector<std::uint32_t> ranked_;
    std::size_t runs_ = 0;
};
using noisy_keys = basic_noisy_keys<>;

}  // namespace stowage::layout::detail
