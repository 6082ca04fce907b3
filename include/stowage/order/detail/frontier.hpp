#pragma once
// The state of a search over down-sets: operators are run and taken back one at a time, and for each operator
// that is ready the bytes it would bring to life and let die are at hand, so that a step of the search costs
// the accesses of the operators it runs and one look at each ready operator. Works forwards and backwards.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// Names a set of operators: the exclusive or of 128 random bits for each. Two different sets among N share
/// a key with a chance of N^2 / 2^129.
struct state_key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const state_key&, const state_key&) = default;
};

/// A down-set with everything that a search asks of it. Refers to the problem. run() and undo() take
/// O(accesses and dependencies of the operator), backwards also the users of tensors that it brings to life.
template <class = void>
class basic_frontier {
public:
    /// The empty set. O(size).
    explicit basic_frontier(const order_problem& problem)
        : problem_(&problem), key_of_(problem.operator_count()), users_run_(problem.tensor_count(), 0),
          users_left_(problem.tensor_count(), 0), waiting_(problem.operator_count()),
          born_(problem.operator_count(), 0), dead_(problem.operator_count(), 0),
          ready_at_(problem.operator_count(), nowhere), falling_at_(problem.operator_count(), nowhere),
          live_(problem.live_at_start()) {
        stowage::detail::splitmix64 random(0x5eed0fde1105ULL);
        for (state_key& key : key_of_)
            key = {random(), random()};
        for (tensor_index t = 0; t < problem.tensor_count(); ++t) {
            const auto users = problem.users[t];
            for (const operator_index user : users) {
                users_left_[t] ^= user;
                if (problem.starts_alive[t] == 0 && (problem.backwards || user == problem.producer[t]))
                    born_[user] += problem.bytes[t];
            }
            if (users.size() == 1 && problem.stays_alive[t] == 0) dead_[users[0]] += problem.bytes[t];
        }
        for (operator_index op = 0; op < problem.operator_count(); ++op) {
            waiting_[op] = static_cast<std::uint32_t>(problem.predecessors[op].size());
            if (waiting_[op] == 0) add_ready(op);
        }
    }

    [[nodiscard]] const order_problem& problem() const noexcept { return *problem_; }
    /// f of the set.
    [[nodiscard]] std::int64_t live() const noexcept { return live_; }
    /// Names the set.
    [[nodiscard]] state_key key() const noexcept { return key_; }
    /// The set, in the order in which it was run.
    [[nodiscard]] const std::vector<operator_index>& trail() const noexcept { return trail_; }
    /// Operators that can run and are not blocked, in no order.
    [[nodiscard]] std::span<const operator_index> ready() const noexcept { return ready_; }
    /// Those of ready() that let die at least what they bring to life, in no order.
    [[nodiscard]] std::span<const operator_index> falling() const noexcept { return falling_; }
    /// Live bytes while `op`, which is ready, runs from here.
    [[nodiscard]] std::int64_t hill(operator_index op) const noexcept {
        return live_ + born_[op] + problem_->workspace[op];
    }
    /// What running `op`, which is ready, adds to f.
    [[nodiscard]] std::int64_t net(operator_index op) const noexcept { return born_[op] - dead_[op]; }
    /// True if `op` is ready and not blocked.
    [[nodiscard]] bool is_ready(operator_index op) const noexcept { return ready_at_[op] != nowhere; }
    /// True between block() and unblock().
    [[nodiscard]] bool is_blocked(operator_index op) const noexcept { return (waiting_[op] & blocked) != 0; }
    /// Predecessors of `op`, which is not blocked, that are not in the set.
    [[nodiscard]] std::uint32_t waiting(operator_index op) const noexcept { return waiting_[op]; }
    /// True if `op` is in the set. O(1): the set holds it if it waits for nothing and cannot run.
    [[nodiscard]] bool contains(operator_index op) const noexcept {
        return waiting_[op] == 0 && ready_at_[op] == nowhere;
    }
    /// How many users of `t` are in the set.
    [[nodiscard]] std::uint32_t users_run(tensor_index t) const noexcept { return users_run_[t]; }

    /// Adds `op`, which is ready.
    void run(operator_index op) {
        remove_ready(op);
        for (const tensor_index t : problem_->tensors[op]) {
            const std::uint32_t before = users_run_[t]++;
            users_left_[t] ^= op;
            const std::int64_t bytes = problem_->bytes[t];
            if (before == 0 && problem_->starts_alive[t] == 0) {
                live_ += bytes;
                if (problem_->backwards) change_born(t, op, -bytes);
            }
            if (problem_->stays_alive[t] != 0) continue;
            const std::size_t users = problem_->users[t].size();
            if (before + 1 == users) live_ -= bytes;
            if (before + 2 == users) change_dead(users_left_[t], bytes);
        }
        key_.low ^= key_of_[op].low;
        key_.high ^= key_of_[op].high;
        trail_.push_back(op);
        for (const operator_index next : problem_->successors[op]) {
            if (--waiting_[next] == 0) add_ready(next);
        }
    }
    /// Takes back the last run().
    void undo() {
        const operator_index op = trail_.back();
        trail_.pop_back();
        key_.low ^= key_of_[op].low;
        key_.high ^= key_of_[op].high;
        for (const operator_index next : problem_->successors[op]) {
            if (waiting_[next]++ == 0) remove_ready(next);
        }
        for (const tensor_index t : problem_->tensors[op]) {
            const std::uint32_t before = --users_run_[t];
            const std::int64_t bytes = problem_->bytes[t];
            if (problem_->stays_alive[t] == 0) {
                const std::size_t users = problem_->users[t].size();
                if (before + 1 == users) live_ += bytes;
                if (before + 2 == users) change_dead(users_left_[t], -bytes);
            }
            users_left_[t] ^= op;
            if (before == 0 && problem_->starts_alive[t] == 0) {
                live_ -= bytes;
                if (problem_->backwards) change_born(t, op, bytes);
            }
        }
        add_ready(op);
    }
    /// Takes back until `count` operators are left.
    void rewind(std::size_t count) {
        while (trail_.size() > count)
            undo();
    }
    /// Keeps `op`, which is not in the set, from being ready until unblock().
    void block(operator_index op) {
        if (ready_at_[op] != nowhere) remove_ready(op);
        waiting_[op] += blocked;
    }
    /// Ends block().
    void unblock(operator_index op) {
        waiting_[op] -= blocked;
        if (waiting_[op] == 0) add_ready(op);
    }
    /// Every operator that is ready or becomes so from now on is appended to `list`, once; null: none is.
    void record_ready(std::vector<operator_index>* list) {
        record_ = list;
        if (list == nullptr) return;
        recorded_at_.resize(ready_at_.size(), 0);
        ++recording_;
        for (const operator_index op : ready_)
            record(op);
    }

private:
    static constexpr std::uint32_t nowhere = static_cast<std::uint32_t>(-1);
    static constexpr std::uint32_t blocked = 1U << 31U;

    void add_ready(operator_index op) {
        if (record_ != nullptr) record(op);
        add(ready_, ready_at_, op);
        if (net(op) <= 0) add(falling_, falling_at_, op);
    }
    void record(operator_index op) {
        if (recorded_at_[op] == recording_) return;
        recorded_at_[op] = recording_;
        record_->push_back(op);
    }
    void remove_ready(operator_index op) {
        remove(ready_, ready_at_, op);
        if (falling_at_[op] != nowhere) remove(falling_, falling_at_, op);
    }
    static void add(std::vector<operator_index>& list, std::vector<std::uint32_t>& at, operator_index op) {
        at[op] = static_cast<std::uint32_t>(list.size());
        list.push_back(op);
    }
    static void remove(std::vector<operator_index>& list, std::vector<std::uint32_t>& at, operator_index op) {
        const operator_index last = list.back();
        list[at[op]] = last;
        at[last] = at[op];
        at[op] = nowhere;
        list.pop_back();
    }
    void change_born(tensor_index t, operator_index runner, std::int64_t amount) {
        for (const operator_index user : problem_->users[t]) {
            if (user == runner) continue;
            born_[user] += amount;
            sort_in(user);
        }
    }
    void change_dead(operator_index op, std::int64_t amount) {
        dead_[op] += amount;
        sort_in(op);
    }
    void sort_in(operator_index op) {
        if (ready_at_[op] == nowhere) return;
        const bool falls = net(op) <= 0;
        if (falls == (falling_at_[op] != nowhere)) return;
        if (falls) {
            add(falling_, falling_at_, op);
        } else {
            remove(falling_, falling_at_, op);
        }
    }

    const order_problem* problem_;
    std::vector<state_key> key_of_;
    std::vector<std::uint32_t> users_run_;
    std::vector<operator_index> users_left_;  // exclusive or of the users of a tensor that are not in the set
    std::vector<std::uint32_t> waiting_;      // predecessors not in the set
    std::vector<std::int64_t> born_;
    std::vector<std::int64_t> dead_;
    std::vector<operator_index> ready_;
    std::vector<std::uint32_t> ready_at_;
    std::vector<operator_index> falling_;
    std::vector<std::uint32_t> falling_at_;
    std::vector<operator_index> trail_;
    std::vector<operator_index>* record_ = nullptr;
    std::vector<std::uint64_t> recorded_at_;  // the recording in which an operator was last recorded
    std::uint64_t recording_ = 0;
    state_key key_;
    std::int64_t live_;
};
using frontier = basic_frontier<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_frontier<>;
#endif

}  // namespace stowage::order::detail
