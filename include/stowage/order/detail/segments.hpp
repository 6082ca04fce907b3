#pragma once
// Segments (papers/order.md, rules 7 and 8). An operator that is an ancestor or a descendant of every other
// one runs at the same down-set in every order: what lies before and what lies after can be ordered apart.
// Components that may run one after the other are segments too, and have segments.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/order/detail/independent_groups.hpp>
#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// How an operator may be moved without a loss (rule 8).
enum class mobility : std::uint8_t {
    fixed,  ///< runs where the order says
    lazy,  ///< frees nothing ever, needs no workspace, none of its products dies at once: delaying it to just
           ///< before its first successor raises no hill
    sink,  ///< allocates nothing: running it just after its last predecessor raises no hill
};

/// Where a problem falls apart.
struct segmentation {
    std::vector<mobility> moves;        ///< of each operator; orders are normalised by it before they are cut
    std::vector<std::uint32_t> group;   ///< of each operator: see independent_groups()
    std::vector<operator_index> order;  ///< a normalised order
    std::vector<std::size_t> cuts;      ///< places in it of the operators that stand between segments
    /// Where segments, none of them empty, begin and end in it.
    std::vector<std::pair<std::size_t, std::size_t>> spans;
};

/// Marks the operators v, by place in `order`, that every operator before and after v in v's group satisfies:
/// in a legal order, every one before v has a successor at or before v, and every one after v a predecessor
/// at or after v. By induction from v outwards all of them are then ancestors or descendants of v. Lazy
/// operators need not satisfy it before v, nor sinks after v: in a normalised order a lazy one runs before v
/// if and only if one of its successors does, a sink if and only if all of its predecessors do. Fixed ones
/// must satisfy it through operators that are not exempt themselves. O(size).
template <class = void>
[[nodiscard]] std::vector<std::uint8_t> insensitive_places(const order_problem& problem,
                                                           std::span<const operator_index> order,
                                                           const std::vector<mobility>& moves,
                                                           const std::vector<std::uint32_t>& group) {
    const auto count = static_cast<std::int64_t>(order.size());
    std::vector<std::int64_t> place(order.size());
    for (std::int64_t k = 0; k < count; ++k)
        place[order[static_cast<std::size_t>(k)]] = k;
    std::vector<std::uint8_t> result(order.size(), 0);
    std::int64_t latest = -1;  // the largest, over operators so far, of the place of the first successor
    std::uint32_t last_group = 0;
    const auto enters_group = [&](operator_index op) {
        return std::exchange(last_group, group[op]) != group[op];
    };
    for (std::int64_t k = 0; k < count; ++k) {
        const operator_index op = order[static_cast<std::size_t>(k)];
        if (enters_group(op)) latest = -1;
        result[static_cast<std::size_t>(k)] = moves[op] == mobility::fixed && latest <= k;
        if (moves[op] == mobility::sink) continue;
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        for (const operator_index next : problem.successors[op]) {
            if (moves[next] != mobility::sink) first = std::min(first, place[next]);
        }
        latest = std::max(latest, first);
    }
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t k = count; k-- > 0;) {
        const operator_index op = order[static_cast<std::size_t>(k)];
        if (enters_group(op)) earliest = std::numeric_limits<std::int64_t>::max();
        if (earliest < k) result[static_cast<std::size_t>(k)] = 0;
        if (moves[op] == mobility::lazy) continue;
        std::int64_t last = -1;
        for (const operator_index before : problem.predecessors[op]) {
            if (moves[before] != mobility::lazy) last = std::max(last, place[before]);
        }
        earliest = std::min(earliest, last);
    }
    return result;
}

/// Which operators may move: only those that stand in the way of a cut. Marking all destroys segments.
template <class = void>
[[nodiscard]] std::vector<mobility> movable_operators(const order_problem& problem,
                                                      const std::vector<std::uint32_t>& group) {
    const auto count = static_cast<operator_index>(problem.operator_count());
    std::vector<mobility> moves(count, mobility::fixed);
    const auto all_live_on = [&](operator_index op) {
        const auto products = problem.products(op);
        return std::all_of(products.begin(), products.end(), [&](tensor_index t) {
            return problem.stays_alive[t] != 0 || problem.users[t].size() > 1;
        });
    };
    std::vector<std::int64_t> rank(count, -1);
    std::vector<std::int64_t> fixed(1 + *std::max_element(group.begin(), group.end()), 0);  // in each group
    for (operator_index op = 0; op < count; ++op) {
        if (problem.workspace[op] == 0 && problem.uses(op).empty() && !problem.products(op).empty() &&
            !problem.successors[op].empty() && all_live_on(op)) {
            std::int64_t last = -1;
            for (const operator_index before : problem.predecessors[op])
                last = std::max(last, rank[before]);
            if (last < fixed[group[op]] - 1) moves[op] = mobility::lazy;
        }
        if (moves[op] == mobility::fixed) rank[op] = fixed[group[op]]++;
    }
    rank.assign(count, -1);
    std::fill(fixed.begin(), fixed.end(), 0);
    for (operator_index op = count; op-- > 0;) {
        const auto before = problem.predecessors[op];
        const bool after_lazy = std::any_of(before.begin(), before.end(), [&](operator_index other) {
            return moves[other] == mobility::lazy;
        });
        if (problem.workspace[op] == 0 && problem.products(op).empty() && !before.empty() && !after_lazy &&
            moves[op] == mobility::fixed) {
            std::int64_t last = -1;
            for (const operator_index next : problem.successors[op])
                last = std::max(last, rank[next]);
            if (last < fixed[group[op]] - 1) moves[op] = mobility::sink;
        }
        if (moves[op] != mobility::sink) rank[op] = fixed[group[op]]++;
    }
    return moves;
}

/// `order` with lazy operators just before their first successor and sinks just after their last
/// predecessor. Raises no hill above the peak (rule 8). O(n log n + size).
template <class = void>
[[nodiscard]] std::vector<operator_index> normalise(const order_problem& problem,
                                                    const std::vector<mobility>& moves,
                                                    std::span<const operator_index> order) {
    struct key {
        std::size_t anchor;
        int side;
        std::size_t place;
    };
    std::vector<key> keys(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
        keys[order[k]] = {k, 0, k};
    for (std::size_t k = order.size(); k-- > 0;) {
        const operator_index op = order[k];
        if (moves[op] != mobility::lazy) continue;
        keys[op] = {order.size(), -1, k};
        for (const operator_index next : problem.successors[op])
            keys[op].anchor = std::min(keys[op].anchor, keys[next].anchor);
    }
    for (std::size_t k = 0; k < order.size(); ++k) {
        const operator_index op = order[k];
        if (moves[op] != mobility::sink) continue;
        keys[op] = {0, 1, k};
        for (const operator_index before : problem.predecessors[op])
            keys[op].anchor = std::max(keys[op].anchor, keys[before].anchor);
    }
    std::vector<operator_index> result(order.begin(), order.end());
    std::sort(result.begin(), result.end(), [&](operator_index a, operator_index b) {
        return std::tie(keys[a].anchor, keys[a].side, keys[a].place) <
               std::tie(keys[b].anchor, keys[b].side, keys[b].place);
    });
    return result;
}

/// Between cuts and groups lie segments.
template <class = void>
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> spans_between(
    const std::vector<operator_index>& order, const std::vector<std::uint8_t>& is_cut,
    const std::vector<std::uint32_t>& group) {
    std::vector<std::pair<std::size_t, std::size_t>> spans;
    std::size_t first = 0;
    const auto end_span = [&](std::size_t last) {
        if (last > first) spans.emplace_back(first, last);
    };
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k > 0 && group[order[k]] != group[order[k - 1]]) {
            end_span(k);
            first = k;
        }
        if (is_cut[order[k]] == 0) continue;
        end_span(k);
        first = k + 1;
    }
    end_span(order.size());
    return spans;
}

/// All of `problem` as one segment. O(n).
template <class = void>
[[nodiscard]] segmentation whole_segment(const order_problem& problem) {
    segmentation result;
    const std::size_t count = problem.operator_count();
    result.moves.assign(count, mobility::fixed);
    result.group.assign(count, 0);
    result.order.resize(count);
    std::iota(result.order.begin(), result.order.end(), operator_index{0});
    if (count > 0) result.spans.emplace_back(0, count);
    return result;
}

/// Where `problem` falls apart. `relaxed`: rule 8 too; cuts that hold without it are kept in any case, since
/// they hold in every order. `components`: at independent groups too. O(n log n + size).
template <class = void>
[[nodiscard]] segmentation find_segments(const order_problem& problem, bool relaxed = true,
                                         bool components = true) {
    segmentation result = whole_segment(problem);
    const std::size_t count = problem.operator_count();
    if (count == 0) return result;
    if (components) {
        result.group = independent_groups(problem);
        result.order = by_groups(result.group, result.order);
    }
    const std::vector<std::uint8_t> plain =
        insensitive_places(problem, result.order, result.moves, result.group);
    std::vector<std::uint8_t> is_cut(count, 0);  // of operators
    const auto note = [&](const std::vector<std::uint8_t>& places) {
        for (std::size_t k = 0; k < count; ++k) {
            if (places[k] != 0) is_cut[result.order[k]] = 1;
        }
    };
    note(plain);
    if (relaxed) {
        result.moves = movable_operators(problem, result.group);
        result.order = normalise(problem, result.moves, result.order);
        note(insensitive_places(problem, result.order, result.moves, result.group));
    }
    for (std::size_t k = 0; k < count; ++k) {
        if (is_cut[result.order[k]] != 0) result.cuts.push_back(k);
    }
    result.spans = spans_between(result.order, is_cut, result.group);
    return result;
}

}  // namespace stowage::order::detail
