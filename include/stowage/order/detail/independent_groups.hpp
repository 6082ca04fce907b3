#pragma once
// Components of a problem that may run one after the other. Operators that no tensor and no dependency joins
// concern each other only by what their components keep alive meanwhile. A component in which nothing starts
// alive that dies, and nothing made stays alive, has f = 0, its least, at its start and at its end. Run
// alone, while all others are at their least f, none of its hills is higher than in any other order; so the
// least peak of the whole is the largest of those of its groups:
//   first, all components where something starts alive and nothing stays, as one group: it ends at its least;
//   then the closed components, each a group;
//   last, all where something stays alive and nothing starts alive, as one group: it begins at its least.
// A component of both kinds is at its least f neither before nor after: where there is one, all is one group.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <stowage/detail/disjoint_sets.hpp>
#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// The components of the operators. About O(size).
template <class = void>
[[nodiscard]] stowage::detail::disjoint_sets components_of(const order_problem& problem) {
    stowage::detail::disjoint_sets sets(problem.operator_count());
    for (operator_index op = 0; op < problem.operator_count(); ++op) {
        for (const operator_index before : problem.predecessors[op])
            sets.join(op, before);
    }
    for (tensor_index t = 0; t < problem.tensor_count(); ++t) {
        if (problem.starts_alive[t] != 0 && problem.stays_alive[t] != 0) continue;  // alive all the time
        for (const operator_index user : problem.users[t])
            sets.join(user, problem.users[t][0]);
    }
    return sets;
}

/// The group of each operator, numbered as the groups may run: see above. O(size).
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> independent_groups(const order_problem& problem) {
    const std::size_t count = problem.operator_count();
    stowage::detail::disjoint_sets sets = components_of(problem);
    std::vector<std::uint8_t> starts(count, 0);  // of the first operator of a component
    std::vector<std::uint8_t> stays(count, 0);
    for (tensor_index t = 0; t < problem.tensor_count(); ++t) {
        const bool at_start = problem.starts_alive[t] != 0;
        const bool at_end = problem.stays_alive[t] != 0;
        if (at_start == at_end || problem.users[t].empty()) continue;
        (at_start ? starts : stays)[sets.least(problem.users[t][0])] = 1;
    }
    std::vector<std::uint32_t> group(count, 0);
    std::uint32_t next = 1;  // 0: those that start alive
    for (operator_index op = 0; op < count; ++op) {
        if (sets.least(op) != op) continue;
        if (starts[op] != 0 && stays[op] != 0) return std::vector<std::uint32_t>(count, 0);
        if (starts[op] == 0 && stays[op] == 0) group[op] = next++;
    }
    for (operator_index op = 0; op < count; ++op) {
        if (sets.least(op) == op && stays[op] != 0) group[op] = next;
    }
    for (operator_index op = 0; op < count; ++op)
        group[op] = group[sets.least(op)];
    return group;
}

/// `order` with one group after the other, otherwise as it is. O(n).
template <class = void>
[[nodiscard]] std::vector<operator_index> by_groups(const std::vector<std::uint32_t>& group,
                                                    const std::vector<operator_index>& order) {
    std::vector<std::size_t> begin;
    for (const std::uint32_t of : group) {
        if (begin.size() < of + std::size_t{2}) begin.resize(of + std::size_t{2}, 0);
        ++begin[of + std::size_t{1}];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<operator_index> result(order.size());
    for (const operator_index op : order)
        result[begin[group[op]]++] = op;
    return result;
}

}  // namespace stowage::order::detail
