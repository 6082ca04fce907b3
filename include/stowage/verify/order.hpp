#pragma once
// Checks an operator order: that it is a permutation, that every access comes after those that it depends on
// (read after write, write after write, write after read), recomputed from the accesses in program order, and
// that control edges hold; and recomputes its peak by the memory model of docs/design.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify {

namespace detail {

/// Steps [first, last], both included, in which a buffer holds bytes; last < first: never.
struct steps_alive {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = -1;
};

/// The step of each operator; a no if the order is no permutation.
template <class = void>
[[nodiscard]] std::optional<verdict> permutation(const tensor_graph& graph,
                                                 std::span<const operator_index> order,
                                                 std::vector<std::int64_t>& step) {
    const std::size_t count = graph.operator_count();
    step.assign(count, -1);
    for (std::size_t t = 0; t < order.size(); ++t) {
        if (order[t] >= count) {
            return refuse("step " + std::to_string(t) + " runs operator " + std::to_string(order[t]) +
                              ", which does not exist",
                          {subject{order[t], {}}});
        }
        if (step[order[t]] >= 0) {
            const subject op = graph.describe_operator(order[t]);
            return refuse(op.text("operator") + " stands twice in the order", {op});
        }
        step[order[t]] = static_cast<std::int64_t>(t);
    }
    for (std::size_t op = 0; op < count; ++op) {
        if (step[op] >= 0) continue;
        const subject missing = graph.describe_operator(op);
        return refuse(missing.text("operator") + " is not in the order", {missing});
    }
    return std::nullopt;
}

template <class = void>
[[nodiscard]] verdict too_early(const tensor_graph& graph, operator_index op, operator_index before,
                                std::optional<buffer_index> buffer, const char* why) {
    const subject late = graph.describe_operator(op);
    const subject early = graph.describe_operator(before);
    std::string reason = late.text("operator") + " runs before " + early.text("operator") + ", " + why;
    if (!buffer) return refuse(std::move(reason), {late, early});
    const subject b = graph.describe_buffer(*buffer);
    return refuse(reason + " " + b.text("buffer"), {late, early}, {b});
}

/// Every access against the last write before it in program order, and every write against the latest of the
/// reads since.
template <class = void>
[[nodiscard]] std::optional<verdict> dependencies(const tensor_graph& graph,
                                                  const std::vector<std::int64_t>& step) {
    std::vector<operator_index> last_write(graph.buffer_count(), no_operator);
    std::vector<operator_index> latest_read(graph.buffer_count(), no_operator);  // since the last write
    const auto follows = [&](operator_index op, operator_index before) {
        return before == no_operator || before == op || step[before] < step[op];
    };
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        for (const buffer_index b : graph.reads(op)) {
            if (!follows(op, last_write[b])) {
                return too_early(graph, op, last_write[b], b, "which writes what it reads:");
            }
        }
        for (const buffer_index b : graph.writes(op)) {
            if (!follows(op, last_write[b])) {
                return too_early(graph, op, last_write[b], b, "whose result it overwrites:");
            }
            if (!follows(op, latest_read[b])) {
                return too_early(graph, op, latest_read[b], b, "which reads what it overwrites:");
            }
        }
        for (const buffer_index b : graph.reads(op)) {
            if (latest_read[b] == no_operator || step[latest_read[b]] < step[op]) latest_read[b] = op;
        }
        for (const buffer_index b : graph.writes(op)) {
            last_write[b] = op;
            latest_read[b] = no_operator;
        }
        for (const operator_index before : graph.predecessors(op)) {
            if (!follows(op, before)) {
                return too_early(graph, op, before, std::nullopt, "after which it is to run");
            }
        }
    }
    return std::nullopt;
}

/// From when to when each buffer that a plan places holds bytes, under a legal order.
template <class = void>
[[nodiscard]] std::vector<steps_alive> alive_steps(const tensor_graph& graph,
                                                   std::span<const operator_index> order) {
    std::vector<steps_alive> result(graph.buffer_count());
    for (std::size_t t = 0; t < order.size(); ++t) {
        const auto now = static_cast<std::int64_t>(t);
        const auto touch = [&](buffer_index b) {
            const buffer_kind kind = graph.kind(b);
            if (kind != buffer_kind::donated && kind != buffer_kind::intermediate &&
                kind != buffer_kind::output) {
                return;
            }
            const std::int64_t birth = kind == buffer_kind::donated ? 0 : now;
            const std::int64_t death =
                kind == buffer_kind::output ? static_cast<std::int64_t>(order.size()) - 1 : now;
            result[b].first = std::min(result[b].first, birth);
            result[b].last = std::max(result[b].last, death);
        };
        for (const buffer_index b : graph.reads(order[t]))
            touch(b);
        for (const buffer_index b : graph.writes(order[t]))
            touch(b);
    }
    return result;
}

/// The most bytes alive at one step, workspace included.
template <class = void>
[[nodiscard]] std::int64_t peak_of(const tensor_graph& graph, std::span<const operator_index> order,
                                   const std::vector<steps_alive>& alive) {
    std::vector<std::int64_t> change(order.size() + 1, 0);
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (alive[b].last < alive[b].first) continue;
        change[static_cast<std::size_t>(alive[b].first)] += graph.bytes(b);
        change[static_cast<std::size_t>(alive[b].last) + 1] -= graph.bytes(b);
    }
    std::int64_t live = 0;
    std::int64_t peak = 0;
    for (std::size_t t = 0; t < order.size(); ++t) {
        live += change[t];
        peak = std::max(peak, live + graph.workspace(order[t]));
    }
    return peak;
}

/// A no if a claimed bound and status do not agree with the figure that they are about.
template <class = void>
[[nodiscard]] std::optional<verdict> claims(const std::string& what, std::int64_t figure, std::int64_t bound,
                                            bool called_optimal) {
    if (bound < 0) return refuse("the lower bound of the " + what + " is negative");
    if (bound > figure) {
        return refuse("the lower bound " + std::to_string(bound) + " of the " + what + " is above the " +
                      what + ", " + std::to_string(figure));
    }
    if (called_optimal && bound != figure) {
        return refuse("called optimal, but the lower bound " + std::to_string(bound) + " does not meet the " +
                      what + ", " + std::to_string(figure));
    }
    return std::nullopt;
}

}  // namespace detail

/// Checks that `order` is a permutation of the graph's operators and respects every dependency and control
/// edge; the verdict's peak is the order's. O(accesses + dependencies).
template <class = void>
[[nodiscard]] verdict check_order(const tensor_graph& graph, std::span<const operator_index> order) {
    std::vector<std::int64_t> step;
    if (auto bad = detail::permutation(graph, order, step)) return *bad;
    if (auto bad = detail::dependencies(graph, step)) return *bad;
    verdict good;
    good.peak = detail::peak_of(graph, order, detail::alive_steps(graph, order));
    return good;
}

/// Checks an order as above, and that what the solution claims of it agrees: its peak is the recomputed one,
/// the lower bound is not above it, and `optimal` is said only where they meet. Whether the bound itself
/// holds is not checked here. O(accesses + dependencies).
template <class = void>
[[nodiscard]] verdict check_order(const tensor_graph& graph, const order::solution& solution) {
    verdict found = check_order(graph, std::span<const operator_index>(solution.order));
    if (!found) return found;
    if (solution.peak != found.peak)
        return detail::refuse(detail::differs("the peak", solution.peak, found.peak));
    const bool called_optimal = solution.status == status::optimal;
    if (auto bad = detail::claims("peak", found.peak, solution.lower_bound, called_optimal)) return *bad;
    if (solution.witness.at != no_operator && solution.witness.at >= graph.operator_count()) {
        return detail::refuse("the witness of the lower bound is an operator that does not exist",
                              {subject{solution.witness.at, {}}});
    }
    return found;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template verdict check_order(const tensor_graph&, std::span<const operator_index>);
#endif

}  // namespace stowage::verify
