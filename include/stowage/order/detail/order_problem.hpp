#pragma once
// The order problem in the notation of papers/order.md, apart from names and accesses: operators with
// workspace and dependencies, tensors with bytes and users. D is a down-set, the operators run so far; f(D)
// the live bytes after it; running x from D has the hill f(D) + (bytes born at x) + workspace(x). Buffers
// without bytes are left out: their effect on the order is in the dependency rows.
//
// A tensor is born when the first of its users runs (or is alive from the start) and dies when the last of
// them has run (or stays alive). This says the same of a program run forwards, where the producer is always
// the first user, and backwards, where it is always the last: reverse() gives the same form again, and one
// engine serves both ways (rule 4).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>

namespace stowage::order::detail {

using stowage::detail::rows;

/// Position of a tensor in an order_problem.
using tensor_index = std::uint32_t;

/// A tensor as lists of them are built from.
struct tensor_facts {
    std::int64_t bytes = 0;
    operator_index producer = no_operator;  ///< no_operator: it starts alive
    bool stays_alive = false;               ///< it never dies
    std::span<const operator_index> users;  ///< distinct; may or may not hold the producer
};

/// Operators are numbered so that every predecessor has a smaller index: 0, 1, 2, ... is a legal order.
/// Constant once made; may be read by any number of threads at once.
struct order_problem {
    rows predecessors;                     ///< of each operator, distinct
    rows successors;                       ///< of each operator, distinct
    std::vector<std::int64_t> workspace;   ///< of each operator
    std::vector<std::int64_t> born_bytes;  ///< bytes of the tensors with this producer
    rows tensors;                          ///< of each operator, distinct: those with this producer first
    std::vector<std::uint32_t> use_begin;  ///< where in `tensors` those with another producer begin, absolute
    std::vector<std::int64_t> bytes;       ///< of each tensor, > 0
    std::vector<operator_index> producer;  ///< of each tensor; no_operator: it starts alive (forwards)
    std::vector<std::uint8_t> starts_alive;  ///< of each tensor: it is alive before the first operator
    std::vector<std::uint8_t> stays_alive;   ///< of each tensor: it is alive after the last operator
    rows users;              ///< of each tensor, distinct, not empty: the producer first, if any
    bool backwards = false;  ///< made by reverse(): the producer is the last user, not the first

    [[nodiscard]] std::size_t operator_count() const noexcept { return workspace.size(); }
    [[nodiscard]] std::size_t tensor_count() const noexcept { return bytes.size(); }
    /// Tensors with producer `op`.
    template <class = void>
    [[nodiscard]] std::span<const tensor_index> products(operator_index op) const noexcept {
        return {tensors.values.data() + tensors.begin[op], tensors.values.data() + use_begin[op]};
    }
    /// Tensors that `op` uses and that another operator, or none, produces.
    template <class = void>
    [[nodiscard]] std::span<const tensor_index> uses(operator_index op) const noexcept {
        return {tensors.values.data() + use_begin[op], tensors.values.data() + tensors.begin[op + 1]};
    }
    /// Users of `tensor` but its producer.
    template <class = void>
    [[nodiscard]] std::span<const operator_index> consumers(tensor_index tensor) const noexcept {
        const auto all = users[tensor];
        return producer[tensor] == no_operator ? all : all.subspan(1);
    }
    /// f of the empty set.
    [[nodiscard]] std::int64_t live_at_start() const noexcept { return sum_where(starts_alive); }
    /// f of all operators.
    [[nodiscard]] std::int64_t live_at_end() const noexcept { return sum_where(stays_alive); }
    /// Bytes of all tensors.
    template <class = void>
    [[nodiscard]] std::int64_t total_bytes() const noexcept {
        std::int64_t sum = 0;
        for (const std::int64_t size : bytes)
            sum += size;
        return sum;
    }

private:
    template <class = void>
    [[nodiscard]] std::int64_t sum_where(const std::vector<std::uint8_t>& flag) const noexcept {
        std::int64_t sum = 0;
        for (tensor_index t = 0; t < bytes.size(); ++t)
            sum += flag[t] != 0 ? bytes[t] : 0;
        return sum;
    }
};

/// Turns rows round: row j of the result lists, ascending, the rows of `from` that hold j. O(size).
template <class = void>
[[nodiscard]] rows transpose(const rows& from, std::size_t row_count) {
    rows to;
    to.begin.assign(row_count + 1, 0);
    to.values.resize(from.values.size());
    for (const std::uint32_t value : from.values)
        ++to.begin[value + 1];
    for (std::size_t i = 0; i < row_count; ++i)
        to.begin[i + 1] += to.begin[i];
    std::vector<std::uint32_t> next(to.begin.begin(), to.begin.end() - 1);
    for (std::uint32_t i = 0; i + 1 < from.begin.size(); ++i) {
        for (const std::uint32_t value : from[i])
            to.values[next[value]++] = i;
    }
    return to;
}

/// Builds an order_problem operator by operator and tensor by tensor. The caller keeps the rules of its
/// fields: predecessors have smaller indices, and the producer precedes the other users.
template <class = void>
class basic_order_problem_builder {
public:
    /// Adds the next operator.
    void add_operator(std::int64_t workspace, std::span<const operator_index> predecessors) {
        problem_.workspace.push_back(workspace);
        append(problem_.predecessors, predecessors);
    }
    /// Adds the next tensor; one without bytes or without users takes part in nothing and is left out. May be
    /// called before its operators are added.
    void add_tensor(const tensor_facts& facts) {
        if (facts.bytes == 0 || (facts.producer == no_operator && facts.users.empty())) return;
        problem_.bytes.push_back(facts.bytes);
        problem_.producer.push_back(facts.producer);
        problem_.starts_alive.push_back(facts.producer == no_operator);
        problem_.stays_alive.push_back(facts.stays_alive);
        if (facts.producer != no_operator) problem_.users.values.push_back(facts.producer);
        for (const operator_index user : facts.users) {
            if (user != facts.producer) problem_.users.values.push_back(user);
        }
        problem_.users.begin.push_back(static_cast<std::uint32_t>(problem_.users.values.size()));
    }
    /// The problem; the builder is spent. O(size).
    [[nodiscard]] order_problem finish() {
        const std::size_t count = problem_.operator_count();
        problem_.successors = transpose(problem_.predecessors, count);
        index_tensors(problem_);
        return std::move(problem_);
    }
    /// Fills what follows from users and producers.
    static void index_tensors(order_problem& problem) {
        const std::size_t count = problem.operator_count();
        problem.tensors = transpose(problem.users, count);
        problem.use_begin.resize(count);
        problem.born_bytes.assign(count, 0);
        for (operator_index op = 0; op < count; ++op) {
            const auto first = problem.tensors.values.begin() + problem.tensors.begin[op];
            const auto last = problem.tensors.values.begin() + problem.tensors.begin[op + 1];
            const auto middle =
                std::stable_partition(first, last, [&](tensor_index t) { return problem.producer[t] == op; });
            problem.use_begin[op] = static_cast<std::uint32_t>(middle - problem.tensors.values.begin());
            for (const tensor_index t : problem.products(op))
                problem.born_bytes[op] += problem.bytes[t];
        }
    }

private:
    static void append(rows& to, std::span<const std::uint32_t> row) {
        to.values.insert(to.values.end(), row.begin(), row.end());
        to.begin.push_back(static_cast<std::uint32_t>(to.values.size()));
    }
    order_problem problem_;
};
using order_problem_builder = basic_order_problem_builder<>;

/// The order problem of `graph`, operators numbered alike. O(accesses + operators + buffers).
template <class = void>
[[nodiscard]] order_problem make_order_problem(const tensor_graph& graph) {
    order_problem_builder builder;
    for (operator_index op = 0; op < graph.operator_count(); ++op)
        builder.add_operator(graph.workspace(op), graph.predecessors(op));
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b)) continue;
        builder.add_tensor(
            {graph.bytes(b), graph.producer(b), graph.kind(b) == buffer_kind::output, graph.users(b)});
    }
    return builder.finish();
}

/// The same program run backwards: operator `op` becomes n - 1 - op, so that 0, 1, 2, ... is legal again; an
/// order of one problem, turned round and renumbered, is an order of the other with the same hills. O(size).
template <class = void>
[[nodiscard]] order_problem reverse(const order_problem& problem) {
    const std::size_t count = problem.operator_count();
    const auto renumber = [&](operator_index op) { return static_cast<operator_index>(count - 1 - op); };
    const auto turn = [&](const rows& from) {
        rows to;
        to.values.reserve(from.values.size());
        for (std::size_t op = count; op-- > 0;) {
            for (const operator_index other : from[op])
                to.values.push_back(renumber(other));
            to.begin.push_back(static_cast<std::uint32_t>(to.values.size()));
        }
        return to;
    };
    order_problem result;
    result.predecessors = turn(problem.successors);
    result.successors = turn(problem.predecessors);
    result.workspace.assign(problem.workspace.rbegin(), problem.workspace.rend());
    result.bytes = problem.bytes;
    result.producer = problem.producer;
    for (operator_index& op : result.producer)
        op = op == no_operator ? no_operator : renumber(op);
    result.starts_alive = problem.stays_alive;
    result.stays_alive = problem.starts_alive;
    result.users = problem.users;
    for (operator_index& op : result.users.values)
        op = renumber(op);
    result.backwards = !problem.backwards;
    order_problem_builder::index_tensors(result);
    return result;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template order_problem make_order_problem(const tensor_graph&);
#endif

}  // namespace stowage::order::detail
