#pragma once
// How long a search may go on. The default limit is a number of states (a unit of work of about a
// microsecond), so that answers do not depend on clocks; a wall-clock budget or a stop token may be set
// instead or beside it.

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>

namespace stowage {

/// What a user allows a search to spend.
struct search_limits {
    std::uint64_t states =
        200'000;  ///< units of work (about 1 us each) after which a search gives its best answer
    std::optional<std::chrono::nanoseconds> time = {};  ///< wall-clock budget; if set it replaces `states`
    bool states_too = false;    ///< with a wall-clock budget, `states` limits the search as well
    std::stop_token stop = {};  ///< a request to stop ends the search with its best answer
    std::uint64_t seed = 1;     ///< seed of every random choice
    unsigned threads = 1;       ///< threads that may be used; the answer does not depend on it
};

/// The running account of one search: made from search_limits when work starts, spent by the algorithms.
/// One thread at a time. All calls are O(1); the clock is read at most once in about 64 units spent.
class budget {
public:
    using clock = std::chrono::steady_clock;

    /// Starts the clock now.
    explicit budget(const search_limits& limits = {}) : budget(limits, clock::now()) {}
    /// Counts wall-clock time from `start`, e.g. the end of reading a file.
    budget(const search_limits& limits, clock::time_point start)
        : stop_(limits.stop), start_(start),
          states_(limits.time && !limits.states_too ? unlimited : limits.states) {
        if (limits.time) deadline_ = start + *limits.time;
    }
    /// Takes `units` of work from the account; false once nothing is left (and from then on).
    bool spend(std::uint64_t units = 1) {
        spent_ += units;
        if (spent_ >= states_) exhausted_ = true;
        if (spent_ >= next_look_) look();
        return !exhausted_;
    }
    /// True once the states, the time or the user's patience have run out. Looks at the clock.
    [[nodiscard]] bool exhausted() {
        if (!exhausted_) look();
        return exhausted_;
    }
    /// Units spent so far.
    [[nodiscard]] std::uint64_t spent() const noexcept { return spent_; }
    /// Units left; a very large number where only a clock limits the search.
    [[nodiscard]] std::uint64_t left() const noexcept { return spent_ >= states_ ? 0 : states_ - spent_; }
    /// True if a wall-clock limit is set: then answers may differ between runs.
    [[nodiscard]] bool timed() const noexcept { return deadline_.has_value(); }
    /// Time until the wall-clock limit, 0 if it has passed; nothing where none is set.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> time_left() const {
        if (!deadline_) return std::nullopt;
        const auto now = clock::now();
        return now >= *deadline_ ? std::chrono::nanoseconds(0) : *deadline_ - now;
    }
    /// The user's stop token, for work that cannot ask spend().
    [[nodiscard]] const std::stop_token& stop_token() const noexcept { return stop_; }
    /// True if a step that cannot be broken off and takes about `duration` would end in time, with some
    /// margin for a busy machine; always true without a wall-clock limit.
    [[nodiscard]] bool affords(std::chrono::nanoseconds duration) const {
        return !deadline_ || clock::now() + 2 * duration < *deadline_;
    }
    /// Time since the start.
    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return clock::now() - start_; }

    /// A part of this account with at most `states` units; it shares clock and stop token. Call settle() when
    /// it is used up.
    [[nodiscard]] budget slice(std::uint64_t states) const {
        budget part = *this;
        part.spent_ = 0;
        part.next_look_ = 0;
        part.states_ = states < left() ? states : left();
        part.exhausted_ = exhausted_ || part.states_ == 0;
        return part;
    }
    /// The same clock and stop token without a limit in states, for a pass that is due whatever else was
    /// spent.
    [[nodiscard]] budget without_states() const {
        budget result = *this;
        result.states_ = unlimited;
        result.exhausted_ = false;
        result.look();
        return result;
    }
    /// The same account, whose clock ends when one in `parts` of the time left is over.
    [[nodiscard]] budget share_of_time(int parts) const {
        budget part = *this;
        if (const auto left = time_left()) part.deadline_ = clock::now() + *left / parts;
        return part;
    }
    /// `limits` with the time that is left here instead of their own, for a search that keeps an account.
    [[nodiscard]] search_limits rest_of(search_limits limits) const {
        if (deadline_) limits.time = time_left();
        return limits;
    }
    /// An account of `states` units of its own that shares clock and stop token.
    [[nodiscard]] budget beside(std::uint64_t states) const { return without_states().slice(states); }
    /// Books what a slice has spent.
    void settle(const budget& part) { spend(part.spent_); }

private:
    static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
    void look() {
        next_look_ = spent_ + 64;
        if (spent_ >= states_ || stop_.stop_requested() || (deadline_ && clock::now() >= *deadline_))
            exhausted_ = true;
    }
    std::stop_token stop_;
    clock::time_point start_;
    std::optional<clock::time_point> deadline_;
    std::uint64_t states_;
    std::uint64_t spent_ = 0;
    std::uint64_t next_look_ = 0;
    bool exhausted_ = false;
};

namespace detail {

/// True if there is an account and it is exhausted.
[[nodiscard]] inline bool is_over(budget* account) {
    return account != nullptr && account->exhausted();
}

}  // namespace detail

}  // namespace stowage
