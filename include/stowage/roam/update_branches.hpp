#pragma once
// Weight-update branches: what hangs off the backward pass and ends in one parameter's update. Removing only
// the optimizer's operators leaves hardly a memory-insensitive operator in the backward pass, so a branch
// holds the gradients' operators too: every operator of the backward pass or the update from which exactly
// one parameter's update is reachable. Source: ROAM, "memory-aware scheduler for weight updates";
// docs/from-the-paper-to-the-code.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <stowage/detail/disjoint_sets.hpp>
#include <stowage/error.hpp>
#include <stowage/graph/stages.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage::roam {

/// Stands for "no buffer" in a branch.
inline constexpr buffer_index no_buffer = std::numeric_limits<buffer_index>::max();

/// The operators that make and apply one parameter's gradient.
struct update_branch {
    std::vector<operator_index> operators = {};  ///< ascending
    buffer_index gradient = no_buffer;           ///< largest buffer that the update takes from outside it
    std::int64_t gradient_bytes = 0;             ///< its size; size_grad of the paper
    double alpha = 0;  ///< peak of the update alone, in gradient sizes: what running it adds
};

namespace detail {

inline constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t many_groups = no_group - 1;

/// Which one parameter's update each operator leads to: its group, no_group or many_groups.
struct update_groups {
    std::vector<std::uint32_t> of;  ///< of each operator
    std::uint32_t count = 0;
};

[[nodiscard]] constexpr std::uint32_t join_groups(std::uint32_t a, std::uint32_t b) noexcept {
    if (a == no_group) return b;
    if (b == no_group || a == b) return a;
    return many_groups;
}

/// Groups of all operators, `last` being given of the updates that no other update follows.
template <class = void>
[[nodiscard]] std::vector<std::uint32_t> groups_led_to(const tensor_graph& graph,
                                                       const std::vector<std::uint32_t>& last) {
    std::vector<std::uint32_t> of = last;
    for (auto op = static_cast<operator_index>(graph.operator_count()); op-- > 0;) {
        for (const operator_index s : graph.successors(op))
            of[op] = join_groups(of[op], of[s]);
    }
    return of;
}

/// Two last updates are one parameter's if one gradient feeds both: a buffer from outside the update that is
/// at least as large as what each of them writes (a factor that all updates share is not). O(size).
template <class = void>
[[nodiscard]] update_groups find_update_groups(const tensor_graph& graph, const std::vector<stage>& stages) {
    const auto count = static_cast<operator_index>(graph.operator_count());
    update_groups result;
    std::vector<std::uint32_t> last(count, no_group);
    std::vector<std::int64_t> written;  // of each group, largest buffer
    for (operator_index op = 0; op < count; ++op) {
        if (stages[op] != stage::update) continue;
        const auto next = graph.successors(op);
        if (std::any_of(next.begin(), next.end(),
                        [&](operator_index s) { return stages[s] == stage::update; }))
            continue;
        last[op] = result.count++;
        std::int64_t largest = 0;
        for (const buffer_index b : graph.writes(op))
            largest = std::max(largest, graph.bytes(b));
        written.push_back(largest);
    }
    result.of = groups_led_to(graph, last);
    stowage::detail::disjoint_sets sets(result.count);
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        const operator_index producer = graph.producer(b);
        if (producer == no_operator || stages[producer] == stage::update || graph.bytes(b) == 0) continue;
        std::uint32_t first = no_group;
        for (const operator_index op : graph.users(b)) {
            if (stages[op] != stage::update || result.of[op] >= many_groups) continue;
            const std::uint32_t group = sets.least(result.of[op]);
            if (written[group] > graph.bytes(b)) continue;
            if (first != no_group) sets.join(first, group);
            first = sets.least(group);
        }
    }
    std::vector<std::uint32_t> number(result.count, no_group);
    std::uint32_t groups = 0;
    for (operator_index op = 0; op < count; ++op) {
        if (last[op] == no_group) continue;
        std::uint32_t& named = number[sets.least(last[op])];
        if (named == no_group) named = groups++;
        last[op] = named;
    }
    result.count = groups;
    result.of = groups_led_to(graph, last);
    return result;
}

/// The peak of the branch's updates alone, in bytes: the gradient, what they make, and their workspace; what
/// they only replace (donated parameters and state) is counted elsewhere. O(their accesses).
template <class = void>
[[nodiscard]] std::int64_t update_peak(const tensor_graph& graph, const std::vector<stage>& stages,
                                       const update_branch& branch) {
    struct life {
        buffer_index buffer;
        std::size_t first, last;
    };
    std::vector<operator_index> updates;
    for (const operator_index op : branch.operators) {
        if (stages[op] == stage::update) updates.push_back(op);
    }
    std::vector<life> lives;
    for (std::size_t t = 0; t < updates.size(); ++t) {
        for (const buffer_index b : graph.accesses(updates[t])) {
            if (!graph.is_planned(b) || graph.kind(b) == buffer_kind::donated) continue;
            lives.push_back({b, t, t});
        }
    }
    std::sort(lives.begin(), lives.end(), [](const life& a, const life& b) {
        return a.buffer != b.buffer ? a.buffer < b.buffer : a.first < b.first;
    });
    std::vector<std::int64_t> live(updates.size() + 1, 0);
    for (std::size_t from = 0, to = 0; from < lives.size(); from = to) {
        while (to < lives.size() && lives[to].buffer == lives[from].buffer)
            ++to;
        const buffer_index b = lives[from].buffer;
        const bool made_here = stages[graph.producer(b)] == stage::update;
        const std::size_t last =
            graph.kind(b) == buffer_kind::output ? updates.size() - 1 : lives[to - 1].last;
        live[made_here ? lives[from].first : 0] += graph.bytes(b);
        live[last + 1] -= graph.bytes(b);
    }
    std::int64_t peak = 0;
    std::int64_t now = 0;
    for (std::size_t t = 0; t < updates.size(); ++t) {
        now += live[t];
        peak = std::max(peak, now + graph.workspace(updates[t]));
    }
    return peak;
}

template <class = void>
void measure_branch(const tensor_graph& graph, const std::vector<stage>& stages, update_branch& branch) {
    const auto consider = [&](buffer_index b) {
        if (graph.bytes(b) <= branch.gradient_bytes) return;
        branch.gradient = b;
        branch.gradient_bytes = graph.bytes(b);
    };
    for (const operator_index op : branch.operators) {
        if (stages[op] != stage::update) continue;
        for (const buffer_index b : graph.reads(op)) {
            const operator_index producer = graph.producer(b);
            if (producer != no_operator && stages[producer] != stage::update) consider(b);
        }
    }
    if (branch.gradient == no_buffer) {  // gradients that are kept from step to step: what is updated
        for (const operator_index op : branch.operators) {
            for (const buffer_index b : graph.writes(op))
                consider(b);
        }
    }
    if (branch.gradient_bytes == 0) return;
    branch.alpha =
        static_cast<double>(update_peak(graph, stages, branch)) / static_cast<double>(branch.gradient_bytes);
}

}  // namespace detail

/// The weight-update branches of a training step, by their first operator; none where there is no update.
/// `stages`: one an operator, e.g. stages_of(graph). An operator is in one branch at most, and none depends
/// on another branch's. O(accesses + dependencies, and the logarithm of a branch's accesses). Throws
/// program_error if there is not one stage an operator.
template <class = void>
[[nodiscard]] std::vector<update_branch> update_branches(const tensor_graph& graph,
                                                         const std::vector<stage>& stages) {
    if (stages.size() != graph.operator_count())
        throw program_error("there is to be one stage an operator", {});
    const detail::update_groups groups = detail::find_update_groups(graph, stages);
    std::vector<update_branch> branches;
    std::vector<std::uint32_t> branch_of(groups.count, detail::no_group);
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if (groups.of[op] >= detail::many_groups) continue;
        if (stages[op] != stage::backward && stages[op] != stage::update) continue;
        std::uint32_t& branch = branch_of[groups.of[op]];
        if (branch == detail::no_group) {
            branch = static_cast<std::uint32_t>(branches.size());
            branches.emplace_back();
        }
        branches[branch].operators.push_back(op);
    }
    for (update_branch& branch : branches)
        detail::measure_branch(graph, stages, branch);
    return branches;
}

}  // namespace stowage::roam
