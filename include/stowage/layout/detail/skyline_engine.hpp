#pragma once
// The skyline that layout::skyline, layout::llfb, layout::skylines and the searches over keys run on. The
// upper edge of what has been placed is a list of plateaus; the lowest one either takes the best-ranked
// buffer that fits inside it or is raised to its lower neighbour. Source: LLFB (Sekiyama et al. 2018), its
// slack-aware form: papers/layout.md, 1 and 2.
//
// An engine is made once a problem and run with many rankings; its memory is reused. O((n + k) log n) a run
// for n buffers in k sections on all instances seen; O(n + k) memory. One thread at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/detail/containment_tree.hpp>
#include <stowage/layout/detail/items_by_first.hpp>
#include <stowage/layout/detail/plateaus.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/slack_tree.hpp>

namespace stowage::layout {

/// What a skyline does about sections that cannot afford to lose bytes. The slack of a section is the target
/// minus its floor minus the bytes that it has still to take; only a raise lowers it.
enum class slack_rule : std::uint8_t {
    none,         ///< slack is not looked at
    when_needed,  ///< if raising the plateau would cost a section more than its slack, a buffer that covers
                  ///< it goes first
    always,       ///< the best buffer that covers the plateau's tightest section always goes first
};

namespace detail {

/// Options of one run.
struct skyline_run {
    slack_rule slack = slack_rule::none;
    /// A run that reaches this arena or passes it is given up.
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    /// Target of the slack; the rounded load at least, see skyline_engine::rounded_load.
    std::int64_t target = 0;
    /// Give up at the first raise that costs a section more than its slack, and report that section.
    bool stop_at_conflict = false;
};

/// How a run ended.
struct skyline_outcome {
    bool complete = false;   ///< every item has an offset
    std::int64_t arena = 0;  ///< the largest offset + size so far
    std::int32_t conflict =
        -1;  ///< the first section that lost more than its slack, if one did (slack-aware runs)
};

template <class = void>
class basic_skyline_engine {
public:
    /// `compact` must outlive the engine and have neither pins nor gaps; alignments may be mixed.
    explicit basic_skyline_engine(const sections& compact)
        : compact_(compact), starts_(compact, [](std::uint32_t) { return true; }) {
        const std::size_t n = compact.items.size();
        for (const std::uint32_t i : starts_.items)
            last_.push_back(compact.items[i].range.last);
        rank_of_position_.resize(n);
        rounded_size_.resize(n);
        // Sums of rounded sizes may pass 2^63 - 1 where the load does not: they are taken modulo 2^64 and
        // clamped.
        std::vector<std::uint64_t> change(static_cast<std::size_t>(compact.count()) + 1, 0);
        for (std::size_t i = 0; i < n; ++i) {
            const item& entry = compact.items[i];
            const std::int64_t rest = entry.size % compact.alignment;
            if (rest == 0 ||
                __builtin_add_overflow(entry.size, compact.alignment - rest, &rounded_size_[i])) {
                rounded_size_[i] = entry.size;
            }
            change[index(entry.range.first)] += static_cast<std::uint64_t>(rounded_size_[i]);
            change[index(entry.range.last)] -= static_cast<std::uint64_t>(rounded_size_[i]);
        }
        rounded_load_.resize(static_cast<std::size_t>(compact.count()));
        std::uint64_t live = 0;
        for (std::size_t s = 0; s < rounded_load_.size(); ++s) {
            live += change[s];
            rounded_load_[s] =
                static_cast<std::int64_t>(std::min(live, static_cast<std::uint64_t>(plateaus::no_height)));
            highest_rounded_load_ = std::max(highest_rounded_load_, rounded_load_[s]);
        }
    }

    /// The largest sum of sizes alive in one section, each rounded up to the items' common alignment.
    [[nodiscard]] std::int64_t rounded_load() const noexcept { return highest_rounded_load_; }

    /// Lays out: `ranked` lists all items, the best first; offsets go to `offsets`, one an item, -1 where
    /// there is none yet. Spends one unit of `account` every 4 steps and gives up when that is exhausted.
    skyline_outcome run(std::span<const std::uint32_t> ranked, const skyline_run& options,
                        std::span<std::int64_t> offsets, budget& account) {
        skyline_outcome outcome;
        start_run(ranked, options, offsets);
        std::size_t left = ranked.size();
        for (std::uint32_t step = 1; left > 0; ++step) {
            if (step % 4 == 0 && !account.spend()) return outcome;
            const std::int32_t valley = skyline_.pop();
            const std::int32_t end = skyline_.end(valley);
            const std::int64_t ceiling = skyline_.lower_neighbour(valley);
            const std::int32_t place = choose(valley, end, ceiling, options, outcome);
            if (place >= 0) {
                const std::uint32_t chosen = ranked[index(place)];
                const std::int64_t top = put(chosen, valley, options, offsets);
                if (top < 0 || reaches(top, options.limit)) return outcome;
                outcome.arena = std::max(outcome.arena, top);
                --left;
            } else {
                if (options.stop_at_conflict && outcome.conflict >= 0) return outcome;
                raise(valley, end, ceiling, options);
            }
        }
        outcome.complete = true;
        return outcome;
    }

private:
    static constexpr std::size_t index(std::int32_t value) noexcept {
        return static_cast<std::size_t>(value);
    }

    void start_run(std::span<const std::uint32_t> ranked, const skyline_run& options,
                   std::span<std::int64_t> offsets) {
        std::fill(offsets.begin(), offsets.end(), -1);
        for (std::size_t r = 0; r < ranked.size(); ++r) {
            rank_of_position_[starts_.position[ranked[r]]] = static_cast<std::int32_t>(r);
        }
        tree_.assign(last_, rank_of_position_);
        const std::size_t k = rounded_load_.size();
        // Which conflict is the first depends on the order of the valleys: what is learnt is best with the
        // lowest one first.
        skyline_.reset(compact_.count(),
                       options.stop_at_conflict ? valley_order::lowest : valley_order::nearest);
        if (k == 0) return;
        if (options.slack != slack_rule::none) {
            const std::int64_t target = std::max(options.target, highest_rounded_load_);
            slack_.assign(k, [&](std::size_t s) { return target - rounded_load_[s]; });
        }
    }

    /// The rank of the item to place in the plateau [valley, end), or -1 to raise it.
    std::int32_t choose(std::int32_t valley, std::int32_t end, std::int64_t ceiling,
                        const skyline_run& options, skyline_outcome& outcome) {
        const std::uint32_t from = starts_.from(valley);
        if (options.slack == slack_rule::none) return tree_.best_within(from, starts_.from(end), end);
        const auto [least, tightest] = slack_.least(index(valley), index(end));
        const bool cannot_afford =
            ceiling == plateaus::no_height || least < ceiling - skyline_.height(valley);
        std::int32_t found = -1;
        if (cannot_afford || options.slack == slack_rule::always) {
            found = tree_.best_covering(from, starts_.start[tightest + 1],
                                        static_cast<std::int32_t>(tightest), end);
        }
        if (found < 0) found = tree_.best_within(from, starts_.from(end), end);
        if (found < 0 && cannot_afford && outcome.conflict < 0) {
            outcome.conflict = static_cast<std::int32_t>(tightest);
        }
        return found;
    }

    /// Places item `chosen` on the plateau that starts at `left`; its upper end, or -1 if that passes 2^63
    /// - 1.
    std::int64_t put(std::uint32_t chosen, std::int32_t left, const skyline_run& options,
                     std::span<std::int64_t> offsets) {
        const item& entry = compact_.items[chosen];
        const std::int64_t base = skyline_.height(left);
        std::int64_t offset = base;
        if (const std::int64_t rest = base % entry.alignment; rest != 0) {
            if (__builtin_add_overflow(base, entry.alignment - rest, &offset)) return -1;
        }
        std::int64_t top = 0;
        if (__builtin_add_overflow(offset, entry.size, &top)) return -1;
        std::int64_t height = 0;
        if (__builtin_add_overflow(offset, rounded_size_[chosen], &height)) height = plateaus::no_height - 1;
        offsets[chosen] = offset;
        const section_range range = entry.range;
        tree_.remove(starts_.position[chosen]);
        if (options.slack != slack_rule::none && offset != base) {
            slack_.add(index(range.first), index(range.last), base - offset);
        }
        skyline_.cover(left, range, height);
        return top;
    }

    void raise(std::int32_t valley, std::int32_t end, std::int64_t ceiling, const skyline_run& options) {
        if (options.slack != slack_rule::none) {
            slack_.add(index(valley), index(end), skyline_.height(valley) - ceiling);
        }
        skyline_.cover(valley, {valley, end}, ceiling);
    }

    const sections& compact_;
    items_by_first starts_;
    std::vector<std::int32_t> last_;              // per place: the item's last section
    std::vector<std::int32_t> rank_of_position_;  // per place: the item's rank in this run
    std::vector<std::int64_t> rounded_size_;      // per item
    std::vector<std::int64_t> rounded_load_;      // per section
    std::int64_t highest_rounded_load_ = 0;
    containment_tree tree_;
    slack_tree slack_;
    plateaus skyline_;
};
using skyline_engine = basic_skyline_engine<>;

}  // namespace detail

}  // namespace stowage::layout
