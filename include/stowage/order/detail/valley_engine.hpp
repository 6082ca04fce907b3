#pragma once
// Depth-first search for a valley (papers/order.md, rules 2, 3, 5): from a down-set A, a down-set W > A that
// can be reached within a bound B and has f(W) <= f(A). One direction of one problem.
//
// The stack holds states of strictly rising f. A state with f no larger than that of a stack entry is a
// valley for the deepest such entry: its floor (rule 2) replaces the entry and all above it, and again until
// nothing falls, since a floor may lie below further entries. A state from which nothing is left is dead, and
// so are the states that it replaced. Dead means: no set with f <= f(A) can be reached from it within B. The
// f of committed sets only falls, so dead states stay dead for every later A and every smaller B.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/order/detail/frontier.hpp>
#include <stowage/order/detail/state_set.hpp>
#include <stowage/order/detail/valley_floor.hpp>

namespace stowage::order::detail {

/// What a search for an order, or for a part of one, has found out.
enum class verdict : std::uint8_t {
    found,    ///< there is one, and here it is
    refuted,  ///< there is none within the bound
    open,     ///< a limit ran out
};

/// What a search may spend and what it tells beside its verdict.
struct search_effort {
    budget* account = nullptr;                                              ///< the user's; null: unlimited
    std::uint64_t states = 0;                                               ///< states so far
    std::uint64_t state_limit = std::numeric_limits<std::uint64_t>::max();  ///< where it stops
    std::int64_t least_refused = std::numeric_limits<std::int64_t>::max();  ///< least hill above the bound

    /// One more state, of about `looks` looks; false if it was the last.
    template <class = void>
    bool spend(std::size_t looks) {
        ++states;
        const bool paid = account == nullptr || account->spend(1 + looks / 64);
        return paid && states < state_limit;
    }
    /// Books a search of a part that was given a copy of this and whose hills lack `base`.
    template <class = void>
    void absorb(const search_effort& part, std::int64_t base) {
        states = part.states;
        if (part.least_refused != std::numeric_limits<std::int64_t>::max())
            least_refused = std::min(least_refused, part.least_refused + base);
    }
    template <class = void>
    [[nodiscard]] bool exhausted() const {
        return states >= state_limit || stowage::detail::is_over(account);
    }
};

/// Searches valleys of one frontier, which it moves and does not own.
template <class = void>
class basic_valley_engine {
public:
    explicit basic_valley_engine(frontier& state) : state_(&state), floor_(state.problem()) {}

    /// Runs ready operators that fit `bound` and do not raise f, until there is none (rule 2 with one
    /// operator: it loses nothing).
    void run_falling(std::int64_t bound, search_effort& effort) {
        for (std::size_t i = 0; i < state_->falling().size();) {
            const operator_index op = state_->falling()[i];
            if (fits(op, bound, effort)) {
                state_->run(op);
                i = 0;
            } else {
                ++i;
            }
        }
    }

    /// Looks for a valley from where the frontier stands. found: the trail is longer, by the floor of a
    /// valley; refuted: there is none, provided that some set with f no larger can be reached at all within a
    /// larger bound; open: `states` or the effort ran out. In the last two cases the frontier stands where it
    /// stood.
    verdict seek(std::int64_t bound, std::uint64_t states, state_set& dead, search_effort& effort) {
        const std::size_t base = state_->trail().size();
        run_falling(bound, effort);
        if (state_->trail().size() > base) return verdict::found;
        const std::uint64_t last =
            effort.states +
            std::min(states, effort.state_limit - std::min(effort.states, effort.state_limit));
        frames_.clear();
        keys_.clear();
        choices_.clear();
        keys_.push_back(state_->key());
        push(0, bound, effort);
        while (!frames_.empty()) {
            frame& top = frames_.back();
            state_->rewind(top.length);
            if (top.next == choices_.size()) {
                bury(dead);
                continue;
            }
            if (effort.states >= last || !effort.spend(state_->ready().size())) {
                state_->rewind(base);
                return verdict::open;
            }
            const operator_index op = choices_[top.next++].op;
            state_->run(op);
            run_falling(bound, effort);
            if (dead.contains(state_->key())) continue;
            if (state_->live() > frames_.back().live) {
                keys_.push_back(state_->key());
                push(keys_.size() - 1, bound, effort);
            } else if (commit(bound, dead, effort)) {
                return verdict::found;
            }
        }
        return verdict::refuted;
    }

private:
    struct choice {
        std::int64_t net;
        std::int64_t hill;
        operator_index op;
    };
    struct frame {
        std::size_t length;   // of the trail
        std::int64_t live;    // f
        std::size_t keys;     // where the keys of this state and of those it replaced begin
        std::size_t choices;  // where its choices begin
        std::size_t next;     // the next choice to try
    };

    bool fits(operator_index op, std::int64_t bound, search_effort& effort) const {
        const std::int64_t hill = state_->hill(op);
        if (hill <= bound) return true;
        effort.least_refused = std::min(effort.least_refused, hill);
        return false;
    }
    /// The current state becomes the top frame, with the keys from `keys` on.
    void push(std::size_t keys, std::int64_t bound, search_effort& effort) {
        const std::size_t first = choices_.size();
        for (const operator_index op : state_->ready()) {
            if (fits(op, bound, effort)) choices_.push_back({state_->net(op), state_->hill(op), op});
        }
        std::sort(choices_.begin() + static_cast<std::ptrdiff_t>(first), choices_.end(),
                  [](const choice& a, const choice& b) {
                      return std::tie(a.net, a.hill, a.op) < std::tie(b.net, b.hill, b.op);
                  });
        frames_.push_back({state_->trail().size(), state_->live(), keys, first, first});
    }
    /// The top frame has no choice left.
    void bury(state_set& dead) {
        const frame& top = frames_.back();
        for (std::size_t k = top.keys; k < keys_.size(); ++k)
            dead.insert(keys_[k]);
        keys_.resize(top.keys);
        choices_.resize(top.choices);
        frames_.pop_back();
    }
    /// The current state has f no larger than the top frame's. True if the root has its valley.
    bool commit(std::int64_t bound, state_set& dead, search_effort& effort) {
        while (true) {
            std::size_t first = frames_.size();
            while (first > 0 && frames_[first - 1].live >= state_->live())
                --first;
            if (first == frames_.size()) break;
            floor_.descend(*state_, frames_[first].length);
            run_falling(bound, effort);
            if (first == 0) return true;
            keys_of_commit_ = frames_[first].keys;
            choices_.resize(frames_[first].choices);
            frames_.resize(first);
        }
        if (dead.contains(state_->key())) {
            for (std::size_t k = keys_of_commit_; k < keys_.size(); ++k)
                dead.insert(keys_[k]);
            keys_.resize(keys_of_commit_);
            return false;
        }
        keys_.push_back(state_->key());
        push(keys_of_commit_, bound, effort);
        return false;
    }

    frontier* state_;
    valley_floor floor_;
    std::vector<frame> frames_;
    std::vector<state_key> keys_;
    std::vector<choice> choices_;
    std::size_t keys_of_commit_ = 0;
};
using valley_engine = basic_valley_engine<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_valley_engine<>;
#endif

}  // namespace stowage::order::detail
