#pragma once
// Lower bounds that need no flow (papers/roam.md, bounds 1 to 3), on an order problem.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

/// A proven lower bound on the peak of every legal order, and why it holds.
struct bound {
    std::int64_t bytes = 0;  ///< no legal order has a smaller peak
    bound_witness witness;   ///< which rule says so, and at which operator
};

namespace detail {

/// The larger one; the first of two equal ones.
template <class = void>
[[nodiscard]] bound stronger(const bound& a, const bound& b) {
    return b.bytes > a.bytes ? b : a;
}

/// The largest sum of the tensors and the workspace of one operator. O(accesses).
template <class = void>
[[nodiscard]] bound working_set(const order_problem& problem) {
    bound best{0, {"working set", no_operator}};
    for (operator_index op = 0; op < problem.operator_count(); ++op) {
        std::int64_t bytes = problem.workspace[op];
        for (const tensor_index t : problem.tensors[op])
            bytes += problem.bytes[t];
        if (bytes > best.bytes || best.witness.at == no_operator) best = {bytes, {"working set", op}};
    }
    return best;
}

/// What is alive while the first operator runs: all that the program is given, and the least that an operator
/// without predecessors adds. And the last one: all outputs, and the least that dies with an operator that
/// none waits for. O(accesses). Problems that run forwards.
template <class = void>
[[nodiscard]] bound both_ends(const order_problem& problem) {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::int64_t least_added = none;
    std::int64_t least_dying = none;
    for (operator_index op = 0; op < problem.operator_count(); ++op) {
        if (problem.predecessors[op].empty())
            least_added = std::min(least_added, problem.born_bytes[op] + problem.workspace[op]);
        if (!problem.successors[op].empty()) continue;
        std::int64_t dying = problem.workspace[op];
        for (const tensor_index t : problem.tensors[op])
            dying += problem.stays_alive[t] != 0 ? 0 : problem.bytes[t];
        least_dying = std::min(least_dying, dying);
    }
    if (least_added == none) return {0, {"outputs", no_operator}};
    return stronger({problem.live_at_end() + least_dying, {"outputs", no_operator}},
                    {problem.live_at_start() + least_added, {"inputs", no_operator}});
}

/// Bytes that are alive while v runs in every order: tensors made by v, by one of its ancestors or before the
/// program, and used by v, by one of its descendants or after the program. One object serves all operators of
/// a problem that runs forwards.
template <class = void>
class basic_surely_alive {
public:
    explicit basic_surely_alive(const order_problem& problem)
        : problem_(&problem), above_(problem.operator_count(), 0), below_(problem.operator_count(), 0),
          counted_(problem.tensor_count(), 0) {}

    /// The bytes at v, workspace included. O(accesses of ancestors and descendants).
    [[nodiscard]] std::int64_t at(operator_index v) {
        ++stamp_;
        std::int64_t bytes = problem_->workspace[v];
        const auto count = [&](tensor_index t) {
            if (counted_[t] == stamp_) return;
            counted_[t] = stamp_;
            bytes += problem_->bytes[t];
        };
        for (const tensor_index t : problem_->products(v))
            count(t);
        spread(v, problem_->predecessors, above_, [&](operator_index op) {
            for (const tensor_index t : problem_->products(op)) {
                if (problem_->stays_alive[t] != 0) count(t);
            }
        });
        spread(v, problem_->successors, below_, [&](operator_index op) {
            for (const tensor_index t : problem_->uses(op)) {
                const operator_index producer = problem_->producer[t];
                if (producer == no_operator || above_[producer] == stamp_) count(t);
            }
        });
        return bytes;
    }
    /// Operators and tensors looked at so far, for an account.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }

private:
    template <class Visit>
    void spread(operator_index v, const rows& next, std::vector<std::uint32_t>& mark, Visit visit) {
        mark[v] = stamp_;
        stack_.assign(1, v);
        while (!stack_.empty()) {
            const operator_index op = stack_.back();
            stack_.pop_back();
            visit(op);
            work_ += 1 + problem_->tensors[op].size() + next[op].size();
            for (const operator_index other : next[op]) {
                if (mark[other] == stamp_) continue;
                mark[other] = stamp_;
                stack_.push_back(other);
            }
        }
    }

    const order_problem* problem_;
    std::vector<std::uint32_t> above_;
    std::vector<std::uint32_t> below_;
    std::vector<std::uint32_t> counted_;
    std::vector<operator_index> stack_;
    std::uint32_t stamp_ = 0;
    std::uint64_t work_ = 0;
};
using surely_alive = basic_surely_alive<>;

}  // namespace detail

}  // namespace stowage::order
