#pragma once
// Checks why no order of a program can need less than a plan claims, from a certificate that names one
// operator: the least bytes that can be alive while it runs, over all sets of operators that may have run
// before it, is a minimum cut (docs/proofs.md). The checker computes that cut anew, by augmenting paths in a
// network of its own. Source: the min-cut bound of papers on ROAM's order problem; Edmonds and Karp (1972)
// for the flow.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/roam/plan.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify {

/// Why the peak of every legal order is at least `bytes`.
struct peak_certificate {
    std::int64_t bytes = 0;           ///< the claim
    operator_index at = no_operator;  ///< the operator while which they are alive in every order
};

namespace detail {

/// A flow network with one source and one sink; capacities in bytes. Augments along shortest paths, level by
/// level.
template <class = void>
class basic_flow_check {
public:
    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 2;

    explicit basic_flow_check(std::size_t nodes) : first_(nodes, none), level_(nodes), next_(nodes) {}

    /// An arc that carries at most `capacity` bytes.
    void arc(std::size_t from, std::size_t to, std::int64_t capacity) {
        arcs_.push_back({to, first_[from], capacity});
        first_[from] = arcs_.size() - 1;
        arcs_.push_back({from, first_[to], 0});
        first_[to] = arcs_.size() - 1;
    }
    /// The largest flow from `source` to `sink`.
    [[nodiscard]] std::int64_t flow(std::size_t source, std::size_t sink) {
        std::int64_t total = 0;
        while (find_levels(source, sink)) {
            next_ = first_;
            for (std::int64_t sent = augment(source, sink); sent > 0; sent = augment(source, sink))
                total += sent;
        }
        return total;
    }

private:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    struct half {
        std::size_t to;
        std::size_t next;
        std::int64_t left;
    };

    [[nodiscard]] bool find_levels(std::size_t source, std::size_t sink) {
        std::fill(level_.begin(), level_.end(), none);
        level_[source] = 0;
        queue_.assign(1, source);
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            for (std::size_t a = first_[queue_[head]]; a != none; a = arcs_[a].next) {
                if (arcs_[a].left == 0 || level_[arcs_[a].to] != none) continue;
                level_[arcs_[a].to] = level_[queue_[head]] + 1;
                queue_.push_back(arcs_[a].to);
            }
        }
        return level_[sink] != none;
    }
    /// Sends what one path of ascending levels can carry; 0 if there is none.
    [[nodiscard]] std::int64_t augment(std::size_t source, std::size_t sink) {
        path_.clear();
        std::size_t node = source;
        while (node != sink) {
            std::size_t& a = next_[node];
            while (a != none && (arcs_[a].left == 0 || level_[arcs_[a].to] != level_[node] + 1))
                a = arcs_[a].next;
            if (a != none) {
                path_.push_back(a);
                node = arcs_[a].to;
            } else {
                if (path_.empty()) return 0;
                level_[node] = none;
                node = arcs_[path_.back() ^ 1U].to;
                path_.pop_back();
            }
        }
        std::int64_t sent = unlimited;
        for (const std::size_t a : path_)
            sent = std::min(sent, arcs_[a].left);
        for (const std::size_t a : path_) {
            arcs_[a].left -= sent;
            arcs_[a ^ 1U].left += sent;
        }
        return sent;
    }

    std::vector<half> arcs_;
    std::vector<std::size_t> first_;
    std::vector<std::size_t> level_;
    std::vector<std::size_t> next_;
    std::vector<std::size_t> queue_;
    std::vector<std::size_t> path_;
};
using flow_check = basic_flow_check<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_flow_check<>;
#endif

/// Operators from which `op` can be reached (forwards false) or that it reaches, itself included.
template <class = void>
std::vector<bool> cone_of(const tensor_graph& graph, operator_index op, bool forwards) {
    std::vector<bool> inside(graph.operator_count(), false);
    std::vector<operator_index> todo = {op};
    inside[op] = true;
    while (!todo.empty()) {
        const operator_index at = todo.back();
        todo.pop_back();
        for (const operator_index other : forwards ? graph.successors(at) : graph.predecessors(at)) {
            if (inside[other]) continue;
            inside[other] = true;
            todo.push_back(other);
        }
    }
    return inside;
}

}  // namespace detail

/// The least bytes that can be alive while `op` runs, in any legal order: its workspace, and over all sets D
/// of operators that hold what must run before `op` and nothing that must run after it, the least sum of
/// buffers born in D or at `op` and needed outside D. One maximum flow. O(size of the program) memory.
template <class = void>
[[nodiscard]] std::int64_t least_alive_at(const tensor_graph& graph, operator_index op) {
    const std::size_t count = graph.operator_count();
    const std::vector<bool> before = detail::cone_of(graph, op, false);
    const std::vector<bool> after = detail::cone_of(graph, op, true);
    const std::size_t source = count;
    const std::size_t sink = count + 1;
    // An operator on the source's side is in D. `op` itself is not in D: what it writes is added apart.
    detail::flow_check network(count + 2 + graph.buffer_count());
    for (operator_index v = 0; v < count; ++v) {
        if (after[v])
            network.arc(v, sink, detail::flow_check::unlimited);
        else if (before[v])
            network.arc(source, v, detail::flow_check::unlimited);
        for (const operator_index p : graph.predecessors(v))
            network.arc(v, p, detail::flow_check::unlimited);
    }
    std::int64_t fixed = graph.workspace(op);
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b) || graph.bytes(b) == 0) continue;
        const operator_index maker = graph.producer(b);
        if (maker == op) {
            fixed += graph.bytes(b);
            continue;
        }
        // A buffer is cut if its maker is in D and some user is not; an output is needed after the end.
        const std::size_t node = count + 2 + b;
        network.arc(maker == no_operator ? source : maker, node, graph.bytes(b));
        if (graph.kind(b) == buffer_kind::output) network.arc(node, sink, detail::flow_check::unlimited);
        for (const operator_index user : graph.users(b))
            network.arc(node, user, detail::flow_check::unlimited);
    }
    return fixed + network.flow(source, sink);
}

/// Checks a certificate: every legal order has at least `bytes` alive while its operator runs.
template <class = void>
[[nodiscard]] verdict check_certificate(const tensor_graph& graph, const peak_certificate& claim) {
    if (claim.at >= graph.operator_count())
        return detail::refuse("the certificate names no operator of the program");
    const std::int64_t least = least_alive_at(graph, claim.at);
    const subject op = graph.describe_operator(claim.at);
    if (least < claim.bytes) {
        return detail::refuse(
            op.text("operator") + ": " + detail::differs("the least that is alive there", claim.bytes, least),
            {op});
    }
    verdict yes;
    yes.peak = least;
    return yes;
}

}  // namespace stowage::verify
