#pragma once
// A search without an end, written down so that it can be replayed: that no order can go on from a set of
// operators within a bound. Each state is either expanded (every ready operator that fits leads to a state
// for which the same is shown) or committed (a run of operators to the floor of a valley, after which nothing
// is lost: papers/order.md, rule 2). States come in the order of a depth-first search, ready operators by
// (bytes they add, hill, name); a state that was shown before is passed over.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <stowage/order/detail/frontier.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/valley_engine.hpp>
#include <stowage/order/detail/valley_floor.hpp>

namespace stowage::order::detail {

/// Writes such a search from where a frontier stands, which it moves and puts back.
template <class = void>
class basic_exhaustion {
public:
    /// `names` are the operators' numbers in the log.
    basic_exhaustion(frontier& state, std::span<const operator_index> names)
        : state_(&state), floor_(state.problem()), names_(names.begin(), names.end()) {}

    /// True if no set of all operators but the blocked ones, `count` in all, can be reached within `bound`;
    /// false if one can, or `states` were not enough.
    bool write(std::int64_t bound, std::size_t count, std::uint64_t states, search_effort& effort) {
        base_ = state_->trail().size();
        log_.clear();
        frames_.clear();
        choices_.clear();
        shown_.clear();
        shown_list_.clear();
        bound_ = bound;
        count_ = count;
        const bool shown = search(effort.states + states, effort);
        state_->rewind(base_);
        return shown;
    }
    /// The log: a state's entry is empty if it is expanded, else the operators to which it is committed.
    [[nodiscard]] const std::vector<std::vector<operator_index>>& log() const noexcept { return log_; }
    /// Operators that are ready at some state of the log, in the problem's numbers, once each. By replay.
    [[nodiscard]] std::vector<operator_index> explored() {
        std::vector<operator_index> result;
        std::vector<operator_index> number(*std::max_element(names_.begin(), names_.end()) + 1, no_operator);
        for (operator_index op = 0; op < names_.size(); ++op)
            number[names_[op]] = op;
        state_->record_ready(&result);
        frames_.clear();
        choices_.clear();
        shown_.clear();
        std::size_t next = 0;
        enter_replayed(next, number);
        while (!frames_.empty()) {
            frame& top = frames_.back();
            state_->rewind(top.length);
            if (top.next == choices_.size()) {
                close();
                continue;
            }
            state_->run(choices_[top.next++].op);
            if (shown_.count(key()) == 0) enter_replayed(next, number);
        }
        state_->record_ready(nullptr);
        state_->rewind(base_);
        return result;
    }

private:
    struct choice {
        std::int64_t net;
        std::int64_t hill;
        operator_index name;
        operator_index op;
    };
    struct frame {
        state_key key;
        std::size_t length;  // of the trail
        std::int64_t live;
        std::size_t log;      // where its entry is
        std::size_t shown;    // states shown before
        std::size_t choices;  // where its choices begin
        std::size_t next;
        bool expanded;
    };
    struct hash {
        std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const noexcept {
            return static_cast<std::size_t>(key.first ^ (key.second * 0x9e3779b97f4a7c15ULL));
        }
    };

    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> key() const noexcept {
        return {state_->key().low, state_->key().high};
    }
    void open(bool expanded) {
        frames_.push_back({state_->key(), state_->trail().size(), state_->live(), log_.size(),
                           shown_list_.size(), choices_.size(), choices_.size(), expanded});
        if (!expanded) return;
        for (const operator_index op : state_->ready()) {
            if (state_->hill(op) <= bound_)
                choices_.push_back({state_->net(op), state_->hill(op), names_[op], op});
        }
        std::sort(choices_.begin() + static_cast<std::ptrdiff_t>(frames_.back().choices), choices_.end(),
                  [](const choice& a, const choice& b) {
                      return std::tie(a.net, a.hill, a.name) < std::tie(b.net, b.hill, b.name);
                  });
    }
    void close() {
        const frame& top = frames_.back();
        shown_.insert({top.key.low, top.key.high});
        shown_list_.push_back({top.key.low, top.key.high});
        choices_.resize(top.choices);
        frames_.pop_back();
    }
    /// The run of the trail from `length` on, in names.
    [[nodiscard]] std::vector<operator_index> run_from(std::size_t length) const {
        std::vector<operator_index> run;
        for (std::size_t k = length; k < state_->trail().size(); ++k)
            run.push_back(names_[state_->trail()[k]]);
        return run;
    }

    bool search(std::uint64_t last_state, search_effort& effort) {
        if (!enter()) return false;
        while (!frames_.empty()) {
            frame& top = frames_.back();
            state_->rewind(top.length);
            if (top.next == choices_.size()) {
                close();
                continue;
            }
            if (effort.states >= last_state || !effort.spend(state_->ready().size())) return false;
            state_->run(choices_[top.next++].op);
            if (shown_.count(key()) == 0 && !enter()) return false;
        }
        return true;
    }
    /// The current state is to be shown: commits while something falls, then expands. False if all has run.
    bool enter() {
        while (shown_.count(key()) == 0) {
            if (state_->trail().size() == count_) return false;
            const std::size_t length = state_->trail().size();
            const state_key before = state_->key();
            const std::int64_t live = state_->live();
            if (run_falling()) {
                frames_.push_back({before, length, live, log_.size(), shown_list_.size(), choices_.size(),
                                   choices_.size(), false});
                log_.push_back(run_from(length));
                continue;
            }
            const std::size_t valley = first_above();
            if (valley == frames_.size()) {
                open(true);
                log_.emplace_back();
                return true;
            }
            commit(valley);
        }
        return true;
    }
    bool run_falling() {
        bool any = false;
        for (std::size_t i = 0; i < state_->falling().size();) {
            const operator_index op = state_->falling()[i];
            if (state_->hill(op) <= bound_) {
                state_->run(op);
                any = true;
                i = 0;
            } else {
                ++i;
            }
        }
        return any;
    }
    /// The first expanded frame for which the current state is a valley.
    [[nodiscard]] std::size_t first_above() const {
        for (std::size_t k = 0; k < frames_.size(); ++k) {
            if (frames_[k].expanded && frames_[k].live >= state_->live()) return k;
        }
        return frames_.size();
    }
    /// Frame `k` is committed instead of expanded; what was shown for its sake is forgotten.
    void commit(std::size_t k) {
        frame& at = frames_[k];
        at.expanded = false;
        floor_.descend(*state_, at.length);
        log_.resize(at.log);
        log_.push_back(run_from(at.length));
        for (std::size_t i = at.shown; i < shown_list_.size(); ++i)
            shown_.erase(shown_list_[i]);
        shown_list_.resize(at.shown);
        choices_.resize(at.choices);
        at.next = at.choices;
        frames_.resize(k + 1);
    }
    void enter_replayed(std::size_t& next, const std::vector<operator_index>& number) {
        while (shown_.count(key()) == 0) {
            const std::vector<operator_index>& entry = log_[next++];
            open(entry.empty());
            if (entry.empty()) return;
            for (const operator_index name : entry)
                state_->run(number[name]);
        }
    }

    frontier* state_;
    valley_floor floor_;
    std::vector<operator_index> names_;
    std::vector<std::vector<operator_index>> log_;
    std::vector<frame> frames_;
    std::vector<choice> choices_;
    std::unordered_set<std::pair<std::uint64_t, std::uint64_t>, hash> shown_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> shown_list_;
    std::int64_t bound_ = 0;
    std::size_t count_ = 0;
    std::size_t base_ = 0;
};
using exhaustion = basic_exhaustion<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_exhaustion<>;
#endif

}  // namespace stowage::order::detail
