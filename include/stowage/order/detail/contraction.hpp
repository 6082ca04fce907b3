#pragma once
// Operators that may run one right after the other without a loss become one (the series rule of Liu, "An
// application of generalized tree pebbling to sparse matrix factorization", SIAM J. Alg. Disc. Meth. 8, 1987,
// for any graph). In the notation of papers/order.md, for a dependency u -> w:
//
//   eager: w waits for u and otherwise only for what u waits for; w surely frees at least what it makes; and
//     its hill just after u is not above that of u. Then in D, u, A, w the operator w may move to just behind
//     u: f of no set rises, as w adds born(w) - freed(w) <= 0 to each of them, and its own hill
//     f(D + u) + born(w) + workspace(w) is at most that of u.
//   lazy: only w, and otherwise only what waits for w, waits for u; what u frees it frees in every order, and
//     no more than it makes; and its hill just before w is not above that of w. Then in D, u, A, w the
//     operator u may move to just before w: the sets of A lose born(u) - freed(u) >= 0, and its own hill
//     f(D + A) + born(u) + workspace(u) is at most that of w.
//
// Either way some order within any bound has the two side by side if there is one at all, and the hill of
// both together is f(D) and a constant, so that they are one operator of an order problem. On training steps
// the updates of a parameter end in the operator that makes its gradient.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// A smaller problem with the same least peak.
struct reduction {
    order_problem problem;
    std::vector<operator_index>
        origin;    ///< of each operator: the one of the whole that stays where it is; ascending
    rows members;  ///< of each operator: those of the whole that it stands for, in running order
};

/// Contracts one problem, which must run forwards. Refers to it.
template <class = void>
class basic_contractor {
public:
    explicit basic_contractor(const order_problem& whole)
        : whole_(&whole), group_(whole.operator_count()), top_(whole.operator_count()),
          end_(whole.operator_count()), kept_(whole.operator_count()), freed_(whole.operator_count(), 0),
          may_free_(whole.operator_count(), 0), has_followers_(whole.operator_count(), 0),
          last_(whole.tensor_count(), no_operator) {
        for (operator_index op = 0; op < group_.size(); ++op)
            group_[op] = op;
        for (tensor_index t = 0; t < whole.tensor_count(); ++t) {
            if (whole.stays_alive[t] != 0) continue;
            const auto consumers = whole.consumers(t);
            if (consumers.size() <= 1) {
                last_[t] = consumers.empty() ? whole.producer[t] : consumers[0];
                freed_[last_[t]] += whole.bytes[t];
                may_free_[last_[t]] += whole.bytes[t];
            } else {
                for (const operator_index user : consumers)
                    may_free_[user] += whole.bytes[t];
            }
        }
        for (operator_index op = 0; op < group_.size(); ++op) {
            top_[op] = whole.born_bytes[op] + whole.workspace[op];
            end_[op] = whole.born_bytes[op] - freed_[op];
            kept_[op] = whole.born_bytes[op] - freed_within(op, op);
        }
    }

    /// Joins operators with what runs before them (eager), then others with what runs behind them (lazy); how
    /// many. O(size). Once only.
    std::size_t join() {
        std::size_t joined = 0;
        for (operator_index w = 0; w < group_.size(); ++w)
            joined += join_eagerly(w) ? 1 : 0;
        for (auto u = static_cast<operator_index>(group_.size()); u-- > 0;)
            joined += join_lazily(u) ? 1 : 0;
        return joined;
    }
    /// The problem with what was joined. O(size).
    [[nodiscard]] reduction operator()() const {
        reduction result;
        std::vector<operator_index> number(group_.size(), no_operator);
        for (operator_index op = 0; op < group_.size(); ++op) {
            if (group_[op] != op) continue;
            number[op] = static_cast<operator_index>(result.origin.size());
            result.origin.push_back(op);
        }
        rows group_of;  // of each operator, one
        group_of.values.resize(group_.size());
        for (operator_index op = 0; op < group_.size(); ++op) {
            group_of.values[op] = number[group_[op]];
            group_of.begin.push_back(op + 1);
        }
        result.members = transpose(group_of, result.origin.size());
        order_problem_builder builder;
        std::vector<operator_index> row;
        const auto without_repeats = [&] {
            std::sort(row.begin(), row.end());
            row.erase(std::unique(row.begin(), row.end()), row.end());
        };
        for (operator_index k = 0; k < result.origin.size(); ++k) {
            row.clear();
            for (const operator_index op : result.members[k]) {
                for (const operator_index before : whole_->predecessors[op]) {
                    if (group_of.values[before] != k) row.push_back(group_of.values[before]);
                }
            }
            without_repeats();
            builder.add_operator(top_[result.origin[k]] - kept_in(k, result, group_of), row);
        }
        for (tensor_index t = 0; t < whole_->tensor_count(); ++t) {
            row.clear();
            for (const operator_index user : whole_->users[t])
                row.push_back(group_of.values[user]);
            without_repeats();
            const operator_index producer =
                whole_->producer[t] == no_operator ? no_operator : group_of.values[whole_->producer[t]];
            if (dies_within(t, row, producer)) continue;
            builder.add_tensor({whole_->bytes[t], producer, whole_->stays_alive[t] != 0, row});
        }
        result.problem = builder.finish();
        return result;
    }

private:
    static constexpr std::size_t most_looks = 64;

    bool join_eagerly(operator_index w) {
        const auto before = whole_->predecessors[w];
        if (before.empty() || whole_->born_bytes[w] > freed_[w]) return false;
        const operator_index into = group_[*std::max_element(before.begin(), before.end())];
        const std::int64_t kept = kept_[into] + whole_->born_bytes[w] - freed_within(w, into);
        if (end_[into] + whole_->born_bytes[w] + whole_->workspace[w] > top_[into] || kept > top_[into] ||
            !all_within(before, into, whole_->predecessors[into]))
            return false;
        group_[w] = into;
        end_[into] += whole_->born_bytes[w] - freed_[w];
        kept_[into] = kept;
        has_followers_[into] = 1;
        return true;
    }
    bool join_lazily(operator_index u) {
        const auto after = whole_->successors[u];
        if (group_[u] != u || has_followers_[u] != 0 || after.empty() || may_free_[u] != freed_[u] ||
            freed_[u] > whole_->born_bytes[u])
            return false;
        const operator_index into = *std::min_element(after.begin(), after.end());
        if (group_[into] != into) return false;
        const std::int64_t top = whole_->born_bytes[u] - freed_[u] + top_[into];
        const std::int64_t kept = kept_[into] + whole_->born_bytes[u] - used_up_within(u, into);
        if (whole_->workspace[u] + freed_[u] > top_[into] || kept > top ||
            !all_within(after, into, whole_->successors[into]))
            return false;
        group_[u] = into;
        top_[into] = top;
        kept_[into] = kept;
        return true;
    }
    /// True for a tensor whose life is within one operator: part of its workspace.
    [[nodiscard]] bool dies_within(tensor_index t, const std::vector<operator_index>& users,
                                   operator_index producer) const {
        return whole_->stays_alive[t] == 0 && producer != no_operator && users.size() == 1;
    }
    /// Bytes that the members of group `k` make and leave to others.
    [[nodiscard]] std::int64_t kept_in(operator_index k, const reduction& result,
                                       const rows& group_of) const {
        std::int64_t kept = 0;
        for (const operator_index op : result.members[k]) {
            for (const tensor_index t : whole_->products(op)) {
                const auto users = whole_->users[t];
                const bool inside = whole_->stays_alive[t] == 0 &&
                                    std::all_of(users.begin(), users.end(), [&](operator_index user) {
                                        return group_of.values[user] == k;
                                    });
                if (!inside) kept += whole_->bytes[t];
            }
        }
        return kept;
    }
    /// Bytes that `op` surely frees and that the group `into`, or `op` itself, has made.
    [[nodiscard]] std::int64_t freed_within(operator_index op, operator_index into) const {
        std::int64_t bytes = 0;
        for (const tensor_index t : whole_->tensors[op]) {
            if (last_[t] != op || whole_->producer[t] == no_operator) continue;
            if (whole_->producer[t] == op || group_[whole_->producer[t]] == into) bytes += whole_->bytes[t];
        }
        return bytes;
    }
    /// Bytes that `op` makes and that the group `into`, or `op` itself, surely frees.
    [[nodiscard]] std::int64_t used_up_within(operator_index op, operator_index into) const {
        std::int64_t bytes = 0;
        for (const tensor_index t : whole_->products(op)) {
            if (last_[t] != no_operator && (last_[t] == op || group_[last_[t]] == into))
                bytes += whole_->bytes[t];
        }
        return bytes;
    }
    /// True if each of `ops` is in the group `into` or in `beside`.
    [[nodiscard]] bool all_within(std::span<const operator_index> ops, operator_index into,
                                  std::span<const operator_index> beside) const {
        if (ops.size() * beside.size() > most_looks) beside = {};
        return std::all_of(ops.begin(), ops.end(), [&](operator_index op) {
            return group_[op] == into || std::find(beside.begin(), beside.end(), op) != beside.end();
        });
    }

    const order_problem* whole_;
    std::vector<operator_index> group_;   // of each operator: the one that it is joined with, or itself
    std::vector<std::int64_t> top_;       // of a group: its hill less f before it
    std::vector<std::int64_t> end_;       // of a group: f after it less f before it, at most
    std::vector<std::int64_t> kept_;      // of a group: bytes that it makes and leaves to others, at most
    std::vector<std::int64_t> freed_;     // of an operator: bytes that it frees in every order
    std::vector<std::int64_t> may_free_;  // of an operator: bytes that it frees in some order
    std::vector<std::uint8_t> has_followers_;  // of a group: some were joined eagerly
    std::vector<operator_index> last_;         // of a tensor: the operator that frees it in every order
};
using contractor = basic_contractor<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_contractor<>;
#endif

}  // namespace stowage::order::detail
