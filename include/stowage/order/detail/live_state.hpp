#pragma once
// Evaluates orders of an order_problem: step by step with undo, or whole at once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// A down-set D, grown and shrunk one operator at a time, with f(D). Knows nothing of dependencies. Works
/// forwards and backwards. Refers to the problem.
template <class = void>
class basic_live_state {
public:
    /// The empty set. O(tensors).
    explicit basic_live_state(const order_problem& problem)
        : problem_(&problem), users_run_(problem.tensor_count(), 0), live_(problem.live_at_start()) {}

    /// f(D).
    [[nodiscard]] std::int64_t live() const noexcept { return live_; }
    /// Bytes that `op` would bring to life, workspace left out. O(tensors of op).
    [[nodiscard]] std::int64_t born_at(operator_index op) const noexcept {
        if (!problem_->backwards) return problem_->born_bytes[op];
        std::int64_t born = 0;
        for (const tensor_index t : problem_->tensors[op]) {
            if (users_run_[t] == 0 && problem_->starts_alive[t] == 0) born += problem_->bytes[t];
        }
        return born;
    }
    /// Bytes that would be dead once `op` had run, its own among them. O(tensors of op).
    [[nodiscard]] std::int64_t dead_after(operator_index op) const noexcept {
        std::int64_t dead = 0;
        for (const tensor_index t : problem_->tensors[op]) {
            if (users_run_[t] + 1 == problem_->users[t].size() && problem_->stays_alive[t] == 0)
                dead += problem_->bytes[t];
        }
        return dead;
    }
    /// f(D) + bytes born at `op` + its workspace: the live bytes while it runs from D.
    [[nodiscard]] std::int64_t hill(operator_index op) const noexcept {
        return live_ + born_at(op) + problem_->workspace[op];
    }
    /// D becomes D + op; returns the hill. O(tensors of op).
    std::int64_t run(operator_index op) noexcept {
        std::int64_t born = 0;
        std::int64_t dead = 0;
        for (const tensor_index t : problem_->tensors[op]) {
            const std::uint32_t run = users_run_[t]++;
            if (run == 0 && problem_->starts_alive[t] == 0) born += problem_->bytes[t];
            if (run + 1 == problem_->users[t].size() && problem_->stays_alive[t] == 0)
                dead += problem_->bytes[t];
        }
        live_ += born;
        const std::int64_t hill = live_ + problem_->workspace[op];
        live_ -= dead;
        return hill;
    }
    /// D becomes D - op, which must be in D. O(tensors of op).
    void undo(operator_index op) noexcept {
        for (const tensor_index t : problem_->tensors[op]) {
            const std::uint32_t run = --users_run_[t];
            if (run + 1 == problem_->users[t].size() && problem_->stays_alive[t] == 0)
                live_ += problem_->bytes[t];
            if (run == 0 && problem_->starts_alive[t] == 0) live_ -= problem_->bytes[t];
        }
    }
    /// How many users of `tensor` are in D.
    [[nodiscard]] std::uint32_t users_run(tensor_index tensor) const noexcept { return users_run_[tensor]; }

private:
    const order_problem* problem_;
    std::vector<std::uint32_t> users_run_;
    std::int64_t live_;
};
using live_state = basic_live_state<>;

/// Hills of an order: entry k is the hill of the k-th operator. O(size).
template <class = void>
[[nodiscard]] std::vector<std::int64_t> hills_of(const order_problem& problem,
                                                 std::span<const operator_index> order) {
    live_state state(problem);
    std::vector<std::int64_t> hills;
    hills.reserve(order.size());
    for (const operator_index op : order)
        hills.push_back(state.run(op));
    return hills;
}

/// The highest hill of an order; 0 for an empty one. O(size).
template <class = void>
[[nodiscard]] std::int64_t peak_of(const order_problem& problem, std::span<const operator_index> order) {
    live_state state(problem);
    std::int64_t peak = 0;
    for (const operator_index op : order)
        peak = std::max(peak, state.run(op));
    return peak;
}

}  // namespace stowage::order::detail
