#pragma once
// A smaller problem with the same hills (papers/order.md, rule 6): operators that touch no tensor and need no
// workspace are left out and their dependencies bridged; consumers that cannot be the last are no longer
// listed; tensors with the same users become one; operators that may run one right after the other become
// one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/order/detail/contraction.hpp>
#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// Which simplifications reduce() makes.
struct reduction_settings {
    bool last_users = true;  ///< a consumer with a successor that uses the tensor too cannot be the last
    bool idle = true;        ///< leave out operators without tensors and workspace (rule 6)
    bool merge = true;       ///< tensors with the same users become one
    bool contract = true;    ///< operators that lose nothing side by side become one (contraction.hpp)
};

/// Makes a reduction. Reuses nothing; O(size), and O(d) for each consumer with d successors.
template <class = void>
class basic_reducer {
public:
    explicit basic_reducer(const order_problem& problem, const reduction_settings& settings = {})
        : whole_(&problem), settings_(settings), users_(problem.tensor_count()),
          touches_(problem.operator_count(), 0) {}

    [[nodiscard]] reduction operator()() {
        list_users();
        reduction result;
        std::vector<operator_index> number(whole_->operator_count(), no_operator);
        order_problem_builder builder;
        add_operators(result, builder, number);
        add_tensors(builder, number);
        result.problem = builder.finish();
        for (const operator_index op : result.origin) {
            result.members.values.push_back(op);
            result.members.begin.push_back(static_cast<std::uint32_t>(result.members.values.size()));
        }
        return result;
    }

private:
    /// The users of each tensor that decide when it is born and when it dies.
    void list_users() {
        std::vector<tensor_index> seen(whole_->operator_count(), static_cast<tensor_index>(-1));
        for (tensor_index t = 0; t < whole_->tensor_count(); ++t) {
            std::vector<operator_index>& users = users_[t];
            const bool stays = whole_->stays_alive[t] != 0;
            if (stays && whole_->producer[t] == no_operator) {
                users.assign(1, whole_->users[t][0]);  // always alive: any user will do
            } else if (stays && settings_.last_users) {
                users.assign(1, whole_->producer[t]);
            } else {
                const auto all = whole_->users[t];
                for (const operator_index user : all)
                    seen[user] = t;
                for (const operator_index user : all) {
                    if (user == whole_->producer[t] || !settings_.last_users || !precedes(user, t, seen))
                        users.push_back(user);
                }
            }
            for (const operator_index user : users)
                touches_[user] = 1;
        }
    }
    [[nodiscard]] bool precedes(operator_index user, tensor_index t,
                                const std::vector<tensor_index>& seen) const {
        const auto next = whole_->successors[user];
        return std::any_of(next.begin(), next.end(), [&](operator_index op) { return seen[op] == t; });
    }

    void add_operators(reduction& result, order_problem_builder& builder,
                       std::vector<operator_index>& number) {
        // bridged[op], for an operator that is left out: what it waits for among those that are not.
        std::vector<std::vector<operator_index>> bridged(settings_.idle ? whole_->operator_count() : 0);
        std::vector<operator_index> row;
        for (operator_index op = 0; op < whole_->operator_count(); ++op) {
            row.clear();
            for (const operator_index before : whole_->predecessors[op]) {
                if (number[before] != no_operator) {
                    row.push_back(number[before]);
                } else {
                    row.insert(row.end(), bridged[before].begin(), bridged[before].end());
                }
            }
            std::sort(row.begin(), row.end());
            row.erase(std::unique(row.begin(), row.end()), row.end());
            if (settings_.idle && touches_[op] == 0 && whole_->workspace[op] == 0) {
                const std::size_t out = whole_->successors[op].size();
                if (row.size() * out <= row.size() + out) {  // bridging adds no more than it saves
                    bridged[op] = row;
                    continue;
                }
            }
            number[op] = static_cast<operator_index>(result.origin.size());
            result.origin.push_back(op);
            builder.add_operator(whole_->workspace[op], row);
        }
    }

    void add_tensors(order_problem_builder& builder, const std::vector<operator_index>& number) {
        for (std::vector<operator_index>& users : users_) {
            for (operator_index& user : users)
                user = number[user];
            if (users.size() > 1) std::sort(users.begin(), users.end());
        }
        std::vector<tensor_index> by_users(users_.size());
        for (tensor_index t = 0; t < users_.size(); ++t)
            by_users[t] = t;
        const auto kind = [&](tensor_index t) {
            return 2 * static_cast<int>(whole_->starts_alive[t]) + static_cast<int>(whole_->stays_alive[t]);
        };
        const auto alike = [&](tensor_index a, tensor_index b) {
            return kind(a) == kind(b) && users_[a] == users_[b];
        };
        if (settings_.merge) {
            std::sort(by_users.begin(), by_users.end(), [&](tensor_index a, tensor_index b) {
                if (users_[a] != users_[b]) return users_[a] < users_[b];
                return kind(a) != kind(b) ? kind(a) < kind(b) : a < b;
            });
        }
        for (std::size_t i = 0; i < by_users.size();) {
            const tensor_index t = by_users[i];
            std::int64_t bytes = 0;
            for (; i < by_users.size() && (by_users[i] == t || (settings_.merge && alike(by_users[i], t)));
                 ++i)
                bytes += whole_->bytes[by_users[i]];
            const bool starts = whole_->starts_alive[t] != 0;
            builder.add_tensor(
                {bytes, starts ? no_operator : users_[t][0], whole_->stays_alive[t] != 0, users_[t]});
        }
    }

    const order_problem* whole_;
    reduction_settings settings_;
    std::vector<std::vector<operator_index>> users_;
    std::vector<std::uint8_t> touches_;
};
using reducer = basic_reducer<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_reducer<>;
#endif

/// `inner` is a reduction of the problem of `outer`: both in one.
template <class = void>
[[nodiscard]] reduction compose(const reduction& outer, reduction inner) {
    rows members;
    for (operator_index k = 0; k < inner.origin.size(); ++k) {
        for (const operator_index op : inner.members[k]) {
            const auto row = outer.members[op];
            members.values.insert(members.values.end(), row.begin(), row.end());
        }
        members.begin.push_back(static_cast<std::uint32_t>(members.values.size()));
        inner.origin[k] = outer.origin[inner.origin[k]];
    }
    inner.members = std::move(members);
    return inner;
}

/// The reduction of `problem`, which must run forwards.
template <class = void>
[[nodiscard]] reduction reduce(const order_problem& problem, const reduction_settings& settings = {}) {
    // One in so many, or a round does not pay: a first one is not made, a later one is the last.
    constexpr std::size_t fewest_joined = 32;
    reduction result = reducer(problem, settings)();
    for (bool first = true; settings.contract; first = false) {
        contractor join(result.problem);
        const std::size_t joined = join.join();
        if (joined == 0 || (first && joined < result.origin.size() / fewest_joined)) break;
        result = compose(result, join());
        result = compose(result, reducer(result.problem, settings)());
        if (joined < result.origin.size() / fewest_joined) break;
    }
    return result;
}

/// An order of the whole with the peak of `order`, an order of the reduced problem: operators left out run as
/// soon as they can. O(size).
template <class = void>
[[nodiscard]] std::vector<operator_index> expand(const order_problem& whole, const reduction& reduced,
                                                 std::span<const operator_index> order) {
    std::vector<std::uint8_t> kept(whole.operator_count(), 0);
    for (const operator_index op : reduced.members.values)
        kept[op] = 1;
    std::vector<std::uint32_t> waiting(whole.operator_count());
    std::vector<operator_index> result;
    std::vector<operator_index> ready;
    result.reserve(whole.operator_count());
    const auto run = [&](operator_index op) {
        result.push_back(op);
        for (const operator_index next : whole.successors[op]) {
            if (--waiting[next] == 0 && kept[next] == 0) ready.push_back(next);
        }
    };
    const auto run_ready = [&] {
        while (!ready.empty()) {
            const operator_index op = ready.back();
            ready.pop_back();
            run(op);
        }
    };
    for (operator_index op = 0; op < whole.operator_count(); ++op) {
        waiting[op] = static_cast<std::uint32_t>(whole.predecessors[op].size());
        if (waiting[op] == 0 && kept[op] == 0) ready.push_back(op);
    }
    run_ready();
    for (const operator_index op : order) {
        for (const operator_index member : reduced.members[op]) {
            run(member);
            run_ready();
        }
    }
    return result;
}

/// The order of the reduced problem that keeps the operators of `order`, an order of the whole. O(n).
template <class = void>
[[nodiscard]] std::vector<operator_index> restrict_order(const order_problem& whole, const reduction& reduced,
                                                         std::span<const operator_index> order) {
    std::vector<operator_index> number(whole.operator_count(), no_operator);
    for (operator_index k = 0; k < reduced.origin.size(); ++k)
        number[reduced.origin[k]] = k;
    std::vector<operator_index> result;
    result.reserve(reduced.origin.size());
    for (const operator_index op : order) {
        if (number[op] != no_operator) result.push_back(number[op]);
    }
    return result;
}

}  // namespace stowage::order::detail
