#pragma once
// What every list rule shares: it runs one ready operator after the other, and keeps for each operator the
// bytes that it would bring to life and those that would be dead after it. What an operator needs and frees
// changes only when another user of one of its tensors runs, so that all changes together are O(accesses).

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order::detail {

/// Chooses among ready operators. `put` adds one or changes its figures; `pick` removes and returns one.
template <class C>
concept ready_choice = requires(C& choice, operator_index op, std::int64_t bytes) {
    choice.put(op, bytes, bytes);
    { choice.pick(bytes, bytes) } -> std::same_as<operator_index>;
};

/// Bytes that each operator would bring to life and leave dead if it ran next.
template <class = void>
class basic_list_state {
public:
    explicit basic_list_state(const order_problem& problem)
        : problem_(&problem), born_(problem.operator_count(), 0), dead_(problem.operator_count(), 0),
          to_run_(problem.tensor_count()), last_(problem.tensor_count(), 0), live_(problem.live_at_start()) {
        for (tensor_index t = 0; t < problem.tensor_count(); ++t) {
            const auto users = problem.users[t];
            to_run_[t] = static_cast<std::uint32_t>(users.size());
            for (const operator_index user : users) {
                last_[t] ^= user;
                if (problem.starts_alive[t] == 0) born_[user] += problem.bytes[t];
            }
            if (users.size() == 1) count_dead(t);
        }
    }
    [[nodiscard]] std::int64_t live() const noexcept { return live_; }
    /// Bytes that `op` adds while it runs.
    [[nodiscard]] std::int64_t need(operator_index op) const noexcept {
        return born_[op] + problem_->workspace[op];
    }
    /// Bytes that `op` leaves behind, less those that it frees.
    [[nodiscard]] std::int64_t net(operator_index op) const noexcept { return born_[op] - dead_[op]; }

    /// Runs `op`; calls `changed` for each operator whose figures it changed, maybe more than once.
    template <class Changed>
    void run(operator_index op, Changed changed) {
        live_ += net(op);
        for (const tensor_index t : problem_->tensors[op]) {
            const auto users = problem_->users[t];
            const bool first = to_run_[t] == users.size() && problem_->starts_alive[t] == 0;
            --to_run_[t];
            last_[t] ^= op;
            if (first) {
                for (const operator_index user : users) {
                    if (user == op) continue;
                    born_[user] -= problem_->bytes[t];
                    changed(user);
                }
            }
            if (to_run_[t] == 1) {
                count_dead(t);
                changed(last_[t]);
            }
        }
    }

private:
    void count_dead(tensor_index t) {
        if (problem_->stays_alive[t] == 0) dead_[last_[t]] += problem_->bytes[t];
    }
    const order_problem* problem_;
    std::vector<std::int64_t> born_;
    std::vector<std::int64_t> dead_;
    std::vector<std::uint32_t> to_run_;  // users that have not run
    std::vector<std::uint32_t> last_;    // exclusive or of these: the last one when one is left
    std::int64_t live_;
};
using list_state = basic_list_state<>;

/// The order that `choice` makes. O((n + accesses) times a put). Empty if `account`, looked at now and then,
/// is exhausted first.
template <ready_choice Choice>
[[nodiscard]] sequence list_order(const order_problem& problem, Choice choice, budget* account) {
    constexpr std::size_t steps_between_looks = 256;
    const std::size_t count = problem.operator_count();
    list_state state(problem);
    std::vector<std::uint32_t> waits_for(count);
    std::vector<std::uint8_t> ready(count, 0);
    const auto put = [&](operator_index op) { choice.put(op, state.need(op), state.net(op)); };
    for (operator_index op = 0; op < count; ++op) {
        waits_for[op] = static_cast<std::uint32_t>(problem.predecessors[op].size());
        if (waits_for[op] != 0) continue;
        ready[op] = 1;
        put(op);
    }
    sequence order;
    order.reserve(count);
    std::int64_t peak = 0;
    while (order.size() < count) {
        if (order.size() % steps_between_looks == 0 && stowage::detail::is_over(account)) return {};
        const operator_index op = choice.pick(state.live(), peak);
        ready[op] = 0;
        order.push_back(op);
        peak = std::max(peak, state.live() + state.need(op));
        state.run(op, [&](operator_index other) {
            if (ready[other] != 0) put(other);
        });
        for (const operator_index next : problem.successors[op]) {
            if (--waits_for[next] != 0) continue;
            ready[next] = 1;
            put(next);
        }
    }
    return order;
}

/// A rule that makes an order from the problem alone: what reversed takes, and what a portfolio calls so
/// that the problem is made only once.
template <class R>
concept list_rule = std::copy_constructible<R> &&
    requires(const R& rule, const order_problem& problem, budget* account) {
    { rule.arrange(problem, account) } -> std::same_as<sequence>;
};

}  // namespace stowage::order::detail
