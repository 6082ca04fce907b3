#pragma once
// Order problems by chance, small and connected in all the ways that a program allows, and what tests of
// searches ask of them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/order/detail/order_problem.hpp>

#include "support/any_program.hpp"

namespace stowage::test {

inline tensor_graph order_graph(detail::splitmix64& random, std::size_t most_operators = 11) {
    any_program_options options;
    options.operators = 1 + random.below(most_operators);
    options.window = 2 + random.below(8);
    options.most_bytes = random.below(2) == 0 ? 3 : 20;
    options.writes_again = random.below(2) == 0;
    return make_tensor_graph(any_program(random, options));
}

/// One to three programs side by side, of up to four operators each; some read donated buffers, some write
/// outputs, most begin and end without live bytes.
inline tensor_graph side_by_side(detail::splitmix64& random) {
    program step;
    const auto bytes = [&] { return static_cast<std::int64_t>(1 + random.below(9)); };
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
        std::vector<buffer_id> made;
        for (std::uint64_t count = 1 + random.below(4); count > 0; --count) {
            operator_options op;
            op.workspace = static_cast<std::int64_t>(random.below(3));
            if (!made.empty()) op.reads.push_back(made[random.below(made.size())]);
            if (random.below(8) == 0)
                op.reads.push_back(step.add_buffer({.bytes = bytes(), .kind = buffer_kind::donated}));
            made.push_back(step.add_buffer(
                {.bytes = bytes(),
                 .kind = random.below(10) == 0 ? buffer_kind::output : buffer_kind::intermediate}));
            op.writes = {made.back()};
            step.add_operator(op);
        }
    }
    return make_tensor_graph(step);
}

/// A legal order, each one possible.
inline std::vector<operator_index> random_order(detail::splitmix64& random,
                                                const order::detail::order_problem& problem) {
    std::vector<std::uint32_t> waiting(problem.operator_count());
    std::vector<operator_index> ready;
    for (operator_index op = 0; op < waiting.size(); ++op) {
        waiting[op] = static_cast<std::uint32_t>(problem.predecessors[op].size());
        if (waiting[op] == 0) ready.push_back(op);
    }
    std::vector<operator_index> order;
    while (!ready.empty()) {
        std::swap(ready[random.below(ready.size())], ready.back());
        order.push_back(ready.back());
        ready.pop_back();
        for (const operator_index next : problem.successors[order.back()]) {
            if (--waiting[next] == 0) ready.push_back(next);
        }
    }
    return order;
}

inline bool is_legal(const order::detail::order_problem& problem, const std::vector<operator_index>& order) {
    std::vector<std::uint8_t> run(problem.operator_count(), 0);
    for (const operator_index op : order) {
        for (const operator_index before : problem.predecessors[op]) {
            if (run[before] == 0) return false;
        }
        if (run[op]++ != 0) return false;
    }
    return order.size() == problem.operator_count();
}

}  // namespace stowage::test
