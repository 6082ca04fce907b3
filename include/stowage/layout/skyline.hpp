#pragma once
// The skyline: on the lowest plateau of what has been placed lies next the buffer that fits inside it and is
// best by a key; where none fits, the plateau is raised to its lower neighbour. Large training graphs often
// reach the load this way. Source: LLFB (Sekiyama et al. 2018); the other keys and the slack-aware forms:
// papers/layout.md, 1, 2 and 4.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/detail/compact_form.hpp>
#include <stowage/layout/detail/fit_engine.hpp>
#include <stowage/layout/detail/ranking.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/skyline_engine.hpp>
#include <stowage/layout/key.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// Options of skyline.
struct skyline_options {
    layout::key key = layout::key::size_duration;  ///< what goes first of the buffers that fit
    slack_rule slack = slack_rule::none;  ///< what is done about sections that cannot afford to lose bytes
    /// If above 0 each buffer's key is multiplied by exp(noise × N), N standard normal; 0.03 to 0.2 is
    /// useful.
    double noise = 0;
};

/// Lays out by one skyline. Alignments of any kind are honoured on the way; a problem with pins or gaps is
/// laid out by first fit in the order of the key instead, which honours both. The slack is counted to the
/// context's lower bound, or to the load without one; noise is drawn from the context's seed, or from 1. O(n
/// log n) time on all instances seen, O(n) memory. Ties end in the buffer's index. Reentrant. With a context
/// it spends about a unit a microsecond and returns an empty list when the account runs out or the target is
/// reached. Throws layout_error if two pins are in conflict, overflow_error if a sum of bytes passes 2^63
/// - 1.
struct skyline {
    skyline_options options{};

    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem) const {
        budget unlimited({.states = std::numeric_limits<std::uint64_t>::max()});
        context free{.account = unlimited};
        offset_list offsets = (*this)(problem, free);
        if (offsets.size() != problem.buffers.size())
            throw overflow_error("skyline: an offset passes 2^63 - 1");
        return offsets;
    }
    template <class = void>
    [[nodiscard]] offset_list operator()(const problem& problem, context& context) const {
        const detail::compact_form form(problem, context);
        const detail::sections& compact = *form;
        const auto loads = detail::led_by_load(options.key) ? detail::largest_loads(compact) : offset_list{};
        std::vector<detail::key_value> values = detail::key_values(compact, loads, options.key);
        if (options.noise > 0) {
            stowage::detail::splitmix64 random(context.seed);
            detail::perturb(values, options.key, options.noise, random);
        }
        std::vector<std::uint32_t> ranked;
        detail::rank(values, ranked);
        if (compact.pinned || compact.gapped) {
            return detail::fit_offsets(problem, compact, ranked, detail::fit::first, context);
        }
        detail::skyline_engine engine(compact);
        std::vector<std::int64_t> offsets(compact.items.size());
        const detail::skyline_run run{
            .slack = options.slack, .limit = context.target, .target = context.lower_bound};
        if (!engine.run(ranked, run, offsets, context.account).complete) return {};
        return detail::offsets_by_buffer(problem, compact, offsets);
    }
    template <class = void>
    [[nodiscard]] std::string name() const {
        std::string text = "skyline by " + std::string(to_string(options.key));
        if (options.slack == slack_rule::when_needed) text += ", slack-aware";
        if (options.slack == slack_rule::always) text += ", always slack-aware";
        if (options.noise > 0) text += ", perturbed";
        return text;
    }
};

static_assert(simple_layout_policy<skyline> && searching_layout_policy<skyline>);

}  // namespace stowage::layout
