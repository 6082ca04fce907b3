#pragma once
// Incremental re-planning: a layout exists, the problem has changed a little, and bytes that stay where they
// are need no copy and break no captured address. Keeps what can stay, moves little. Source:
// papers/layout.md, "What users ask for"; no public tool has it together with a certificate.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/error.hpp>
#include <stowage/layout/bounds.hpp>
#include <stowage/layout/capacity.hpp>
#include <stowage/layout/detail/sections.hpp>
#include <stowage/layout/detail/validate.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/layout/policy.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/status.hpp>

namespace stowage::layout {

/// A layout that keeps old offsets.
struct replan_answer {
    stowage::status status =
        stowage::status::unknown;    ///< feasible, infeasible (proved: nothing fits) or unknown
    offset_list offsets;             ///< one a buffer; the best known where it is not feasible
    std::int64_t arena = 0;          ///< the largest offset + size
    std::int64_t lower_bound = 0;    ///< proven: no layout has a smaller arena, whatever moves
    std::vector<std::size_t> moved;  ///< buffers that had an offset and have another now, ascending
    std::int64_t moved_bytes = 0;    ///< their sizes
    /// Proven: no layout within the capacity moves fewer bytes (always where nothing moves).
    bool least_moved = false;
    blame_set blame;     ///< if infeasible: buffers that alone do not fit
    double seconds = 0;  ///< wall-clock time
};

namespace detail {

/// One re-planning.
template <class = void>
class basic_replanner {
public:
    basic_replanner(const problem& problem, std::span<const std::optional<std::int64_t>> previous,
                    std::int64_t capacity, const search_limits& limits)
        : problem_(problem), previous_(previous), capacity_(capacity), limits_(limits), account_(limits),
          kept_(problem.buffers.size(), 0) {}

    replan_answer operator()() {
        validate(problem_);
        if (previous_.size() != problem_.buffers.size()) {
            throw layout_error("re-planning needs one old offset, or none, for each buffer", {});
        }
        replan_answer answer;
        answer.lower_bound = lower_bound(make_sections(problem_)).bytes;
        keep_what_can_stay();
        const std::int64_t forced = bytes_not_kept();
        // Ever more of what is in the way of those that stick out is let go: 1, 2, 4, ... buffers at a time.
        std::size_t release = 1;
        while (!try_kept(answer)) {
            if (account_.exhausted() || !let_go(answer.offsets, release)) break;
            release *= 2;
        }
        if (answer.status != status::feasible) {
            std::fill(kept_.begin(), kept_.end(), 0);
            capacity_answer anew = layout::fit(problem_, capacity_, limits_);
            answer.status = anew.status;
            answer.offsets = std::move(anew.offsets);
            answer.lower_bound = anew.lower_bound;
            answer.blame = std::move(anew.blame);
        }
        if (answer.status == status::feasible) {
            take_back(answer);
            count(answer);
            answer.least_moved = answer.moved_bytes <= forced;
        }
        count(answer);
        answer.arena = arena_of(problem_, answer.offsets);
        return answer;
    }
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(account_.elapsed()).count(); }

private:
    /// True if buffer i may lie where it was, as far as it alone is concerned.
    [[nodiscard]] bool may_stay(std::size_t i) const {
        const buffer& b = problem_.buffers[i];
        if (!b.takes_part() || !previous_[i]) return false;
        const std::int64_t at = *previous_[i];
        if (at < 0 || at > capacity_ - b.size || at % b.alignment != 0 || at % problem_.alignment != 0)
            return false;
        return !b.offset || *b.offset == at;
    }
    /// Keeps the buffers that may stay and do not meet.
    void keep_what_can_stay() {
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            kept_[i] =
                problem_.buffers[i].takes_part() && (may_stay(i) || problem_.buffers[i].offset) ? 1 : 0;
        }
        drop_those_that_meet(kept_);
    }
    /// Of kept buffers that share bytes at one moment the smaller goes, a pinned one never; one sweep over
    /// time, so that what is alive never meets. True if any went. O(n log n).
    bool drop_those_that_meet(std::vector<char>& kept) const {
        struct event {
            std::int64_t time;
            bool birth;
            std::size_t buffer;
        };
        std::vector<event> events;
        std::vector<interval> spans;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (kept[i] == 0) continue;
            spans_of(problem_.buffers[i], spans);
            for (const interval& span : spans) {
                events.push_back({span.lower, true, i});
                events.push_back({span.upper, false, i});
            }
        }
        std::sort(events.begin(), events.end(), [](const event& a, const event& b) {
            if (a.time != b.time) return a.time < b.time;
            if (a.birth != b.birth) return !a.birth;
            return a.buffer < b.buffer;
        });
        std::map<std::int64_t, std::size_t> alive;  // by offset
        bool any = false;
        const auto offset = [&](std::size_t i) {
            return problem_.buffers[i].offset.value_or(previous_[i].value_or(0));
        };
        const auto preferred = [&](std::size_t a, std::size_t b) {
            const buffer& x = problem_.buffers[a];
            const buffer& y = problem_.buffers[b];
            if (x.offset.has_value() != y.offset.has_value()) return x.offset.has_value();
            return x.size != y.size ? x.size > y.size : a < b;
        };
        for (const event& e : events) {
            if (kept[e.buffer] == 0) continue;
            const std::int64_t at = offset(e.buffer);
            if (!e.birth) {
                alive.erase(at);
                continue;
            }
            auto from = alive.upper_bound(at);
            if (from != alive.begin()) {
                const auto below = std::prev(from);
                if (below->first + problem_.buffers[below->second].size > at) from = below;
            }
            auto to = from;
            bool wins = true;
            while (to != alive.end() && to->first < at + problem_.buffers[e.buffer].size) {
                wins = wins && preferred(e.buffer, to->second);
                ++to;
            }
            any = any || from != to;
            if (!wins) {
                kept[e.buffer] = 0;
                continue;
            }
            for (auto entry = from; entry != to; ++entry)
                kept[entry->second] = 0;
            alive.erase(from, to);
            alive.emplace(at, e.buffer);
        }
        return any;
    }
    /// Bytes of buffers that had an offset and cannot have it, alone or beside their own pins.
    [[nodiscard]] std::int64_t bytes_not_kept() const {
        std::int64_t bytes = 0;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            if (previous_[i] && problem_.buffers[i].takes_part() && !may_stay(i))
                bytes += problem_.buffers[i].size;
        }
        return bytes;
    }

    [[nodiscard]] problem with_pins() const {
        problem pinned = problem_;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            if (kept_[i] != 0 && !problem_.buffers[i].offset) pinned.buffers[i].offset = previous_[i];
        }
        return pinned;
    }
    /// Lays the others out round the kept ones; true if all fit. Where they do not, offsets hold the best
    /// attempt.
    bool try_kept(replan_answer& answer) {
        const problem pinned = with_pins();
        budget part = account_.slice(std::max<std::uint64_t>(account_.left() / 16, 4 * kept_.size() + 1000));
        const sections form = make_sections(pinned);
        context context{.account = part,
                        .lower_bound = std::max(capacity_, lower_bound(form).bytes),
                        .decide = true,
                        .compact = &form,
                        .compact_of = &pinned};
        offset_list offsets = default_portfolio()(pinned, context);
        if (offsets.size() != kept_.size()) offsets = first_fit{}(pinned);
        account_.settle(part);
        const std::int64_t arena = arena_of(problem_, offsets);
        if (answer.offsets.empty() || arena < arena_of(problem_, answer.offsets))
            answer.offsets = std::move(offsets);
        if (arena > capacity_) return false;
        answer.status = status::feasible;
        return true;
    }
    /// Stops keeping the `count` smallest kept buffers that are alive with one that sticks out; false if
    /// there is none.
    bool let_go(const offset_list& offsets, std::size_t count) {
        std::vector<interval> out;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const buffer& b = problem_.buffers[i];
            if (b.takes_part() && offsets[i] > capacity_ - b.size) out.push_back({b.lower, b.upper});
        }
        std::sort(out.begin(), out.end(),
                  [](const interval& a, const interval& b) { return a.lower < b.lower; });
        std::vector<interval> joined;
        for (const interval& span : out) {
            if (!joined.empty() && span.lower <= joined.back().upper) {
                joined.back().upper = std::max(joined.back().upper, span.upper);
            } else {
                joined.push_back(span);
            }
        }
        std::vector<std::size_t> near;
        std::vector<std::size_t> far;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            const buffer& b = problem_.buffers[i];
            if (kept_[i] == 0 || b.offset) continue;
            const auto after =
                std::upper_bound(joined.begin(), joined.end(), b.lower,
                                 [](std::int64_t time, const interval& span) { return time < span.upper; });
            (after != joined.end() && after->lower < b.upper ? near : far).push_back(i);
        }
        std::vector<std::size_t>& pool = near.empty() ? far : near;
        if (pool.empty()) return false;
        std::sort(pool.begin(), pool.end(), [&](std::size_t a, std::size_t b) {
            const std::int64_t x = problem_.buffers[a].size;
            const std::int64_t y = problem_.buffers[b].size;
            return x != y ? x < y : a < b;
        });
        for (std::size_t k = 0; k < std::min(count, pool.size()); ++k)
            kept_[pool[k]] = 0;
        return true;
    }
    /// Tries to put those that moved back one by one, the largest first.
    void take_back(replan_answer& answer) {
        std::vector<std::size_t> movers;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            if (kept_[i] == 0 && may_stay(i) && answer.offsets[i] != *previous_[i]) movers.push_back(i);
            if (kept_[i] == 0 && may_stay(i) && answer.offsets[i] == *previous_[i]) kept_[i] = 1;
        }
        std::sort(movers.begin(), movers.end(), [&](std::size_t a, std::size_t b) {
            const std::int64_t x = problem_.buffers[a].size;
            const std::int64_t y = problem_.buffers[b].size;
            return x != y ? x > y : a < b;
        });
        if (movers.size() > 64) movers.resize(64);
        for (const std::size_t i : movers) {
            if (account_.exhausted()) return;
            const std::vector<char> before = kept_;
            kept_[i] = 1;
            replan_answer attempt;
            if (!drop_those_that_meet(kept_) && try_kept(attempt)) {
                answer.offsets = std::move(attempt.offsets);
            } else {
                kept_ = before;
            }
        }
    }
    void count(replan_answer& answer) const {
        answer.moved.clear();
        answer.moved_bytes = 0;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            if (!previous_[i] || !problem_.buffers[i].takes_part() || answer.offsets[i] == *previous_[i])
                continue;
            answer.moved.push_back(i);
            answer.moved_bytes =
                stowage::detail::checked_add(answer.moved_bytes, problem_.buffers[i].size, "moved bytes");
        }
    }

    const problem& problem_;
    std::span<const std::optional<std::int64_t>> previous_;
    std::int64_t capacity_;
    search_limits limits_;
    budget account_;
    std::vector<char> kept_;
};
using replanner = basic_replanner<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_replanner<>;
#endif

}  // namespace detail

/// Lays out a valid problem (one pool) within `capacity` bytes so that buffers keep their `previous` offsets
/// (one entry a buffer, empty for a new one) where they can. First everything that may stay is kept and the
/// rest placed round it; if that does not fit, ever more of what is in the way is let go, and at last
/// everything; then what moved is tried in its old place once more, the largest first. `infeasible` is proven
/// of the problem, not of what is kept. Throws like layout::fit, and layout_error if `previous` has another
/// length. Deterministic for one seed unless a clock ran out.
template <class = void>
[[nodiscard]] replan_answer replan(const problem& problem,
                                   std::span<const std::optional<std::int64_t>> previous,
                                   std::int64_t capacity, const search_limits& limits = {}) {
    detail::replanner planner(problem, previous, capacity, limits);
    replan_answer answer = planner();
    answer.seconds = planner.seconds();
    return answer;
}

}  // namespace stowage::layout
