#pragma once
// When to run the weight updates. They can float: run at once, they need memory while the activations still
// hold most of it; run late, their gradients are kept all the time. ROAM's rule decides branch by branch,
// backward segment by backward segment (equations 4 to 6):
//
//   esti_pm     = sum of size(e) over activations e
//   mem_atvs(t) = sum of size(e) over activations e that may be alive at t
//   mem_used(t) = mem_atvs(t) + alpha * size(gradient)
//   delay at t if and only if size(gradient) / mean tensor size > r and mem_used(t) > esti_pm
//
// t is a segment here, since memory-insensitive operators pin every operator of the forward and the backward
// pass to one: within it "may be alive" does not change but for the segment's own temporaries.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <stowage/graph/stages.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/roam/detail/trunk.hpp>
#include <stowage/roam/segments.hpp>
#include <stowage/roam/update_branches.hpp>

namespace stowage::roam {

/// Which operators of a delayed branch run late; the others run as if the branch were not delayed.
enum class delayed_part : std::uint8_t {
    branch,    ///< all of them: what the gradient is made of is kept
    update,    ///< those of the update, as the paper has it: the gradient is kept
    cheapest,  ///< what stands after the moment at which least is kept, and needed to come there, e.g. once
               ///< Adam has taken the gradient into its moments
};

/// Options of the rule.
struct update_options {
    /// The delay radius r: branches whose gradient is not larger than this many mean tensors are never
    /// delayed. The paper finds it empirically and gives no value.
    double radius = 1.0;
    std::optional<double> alpha = {};  ///< alpha of every branch; unset: each branch's own, as measured
    bool delay = true;                 ///< false: every branch runs as early as it can, for comparison
    delayed_part part = delayed_part::cheapest;  ///< what is delayed of a branch
    /// Look for boundaries on the trunk alone (detail/trunk.hpp). False: among all operators beside the
    /// branches, as the paper's definition has it; then masks and values that are computed again tie segments
    /// together.
    bool trunk = true;
};

/// When a branch runs.
struct scheduled_branch {
    update_branch branch = {};    ///< its operators and sizes
    std::uint32_t earliest = 0;   ///< first segment that its gradient's operands allow
    std::uint32_t scheduled = 0;  ///< segment that it was given
    std::size_t at_once = 0;  ///< so many of its operators, from the first, run in `earliest` all the same
};

/// A training step in segments, with the updates in their places.
struct update_schedule {
    /// Segments in running order; odd ones are memory-insensitive operators, even ones what stands between
    /// them and may be empty.
    roam::segmentation segmentation = {};
    std::vector<operator_index> boundaries = {};      ///< memory-insensitive operators of the rest, ascending
    std::vector<scheduled_branch> branches = {};      ///< by first operator
    std::vector<stage> stages = {};                   ///< of each operator
    std::int64_t estimated_peak = 0;                  ///< esti_pm in bytes
    std::vector<std::int64_t> activation_bytes = {};  ///< mem_atvs of each segment
    double mean_bytes = 0;                            ///< mean size of a tensor of the plan
};

namespace detail {

/// Boundaries are looked for among all but the branches, what follows them, and what touches nothing of the
/// plan.
template <class = void>
[[nodiscard]] std::vector<part_role> roles_beside_branches(const tensor_graph& graph,
                                                           const std::vector<std::uint32_t>& branch_of) {
    std::vector<bool> floats(graph.operator_count());
    std::vector<part_role> roles(graph.operator_count(), part_role::core);
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        const auto before = graph.predecessors(op);
        floats[op] = branch_of[op] != no_group ||
                     std::any_of(before.begin(), before.end(), [&](operator_index p) { return floats[p]; });
        if (floats[op] || is_weightless(graph, op)) roles[op] = part_role::follower;
    }
    return roles;
}

/// mem_atvs of each slot, branches taken at their earliest; and esti_pm.
template <class = void>
void sum_activations(const tensor_graph& graph, const std::vector<std::uint32_t>& slot_of,
                     update_schedule& schedule) {
    schedule.activation_bytes.assign(schedule.segmentation.segments.size() + 1, 0);
    for (const buffer_index b : activations(graph, schedule.stages)) {
        schedule.estimated_peak += graph.bytes(b);
        std::uint32_t last = 0;
        for (const operator_index op : graph.users(b))
            last = std::max(last, slot_of[op]);
        schedule.activation_bytes[slot_of[graph.producer(b)]] += graph.bytes(b);
        schedule.activation_bytes[last + 1] -= graph.bytes(b);
    }
    for (std::size_t s = 1; s < schedule.activation_bytes.size(); ++s)
        schedule.activation_bytes[s] += schedule.activation_bytes[s - 1];
    schedule.activation_bytes.pop_back();
}

/// The mean size of what has bytes and a place in the plan.
template <class = void>
[[nodiscard]] double mean_tensor_bytes(const tensor_graph& graph) {
    double sum = 0;
    double count = 0;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (!graph.is_planned(b) || graph.bytes(b) == 0) continue;
        sum += static_cast<double>(graph.bytes(b));
        count += 1;
    }
    return count == 0 ? 0 : sum / count;
}

/// The segment that the rule gives to a branch.
template <class = void>
[[nodiscard]] std::uint32_t place_of_branch(const update_schedule& schedule, const scheduled_branch& branch,
                                            const update_options& options) {
    const auto end = static_cast<std::uint32_t>(schedule.activation_bytes.size() - 1);
    const auto size = static_cast<double>(branch.branch.gradient_bytes);
    const double added = options.alpha.value_or(branch.branch.alpha) * size;
    if (!options.delay || size <= options.radius * schedule.mean_bytes) return branch.earliest;
    std::uint32_t slot = branch.earliest;
    while (slot + 2 <= end && static_cast<double>(schedule.activation_bytes[slot]) + added >
                                  static_cast<double>(schedule.estimated_peak))
        slot += 2;
    return slot;
}

/// What a branch holds while it stands still after some of its operators, and while they run.
struct branch_bytes {
    std::vector<std::int64_t> kept;    ///< after so many operators: tensors used before and after
    std::vector<std::int64_t> during;  ///< while each operator runs, workspace included
};

/// Bytes of the tensors that the branch's operators access; one with users outside it is alive before the
/// branch begins, and after it ends where one of them runs after the branch's earliest segment. O(accesses of
/// those tensors, and the logarithm of the branch's).
template <class = void>
[[nodiscard]] branch_bytes bytes_of_branch(const tensor_graph& graph,
                                           const std::vector<std::uint32_t>& slot_of,
                                           const scheduled_branch& branch) {
    const std::vector<operator_index>& operators = branch.branch.operators;
    std::vector<buffer_index> buffers;
    for (const operator_index op : operators) {
        for (const buffer_index b : graph.accesses(op)) {
            if (graph.is_planned(b) && graph.bytes(b) > 0) buffers.push_back(b);
        }
    }
    std::sort(buffers.begin(), buffers.end());
    buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
    branch_bytes result{.kept = std::vector<std::int64_t>(operators.size() + 2, 0),
                        .during = std::vector<std::int64_t>(operators.size(), 0)};
    for (const buffer_index b : buffers) {
        bool before = graph.kind(b) == buffer_kind::donated;
        bool after = graph.kind(b) == buffer_kind::output;
        std::size_t first = operators.size();
        std::size_t last = 0;
        for (const operator_index op : graph.users(b)) {
            const auto at = std::lower_bound(operators.begin(), operators.end(), op);
            if (at == operators.end() || *at != op) {
                before = true;
                after = after || slot_of[op] > branch.earliest;
                continue;
            }
            first = std::min(first, static_cast<std::size_t>(at - operators.begin()));
            last = std::max(last, static_cast<std::size_t>(at - operators.begin()));
        }
        if (!before) result.during[first] += graph.bytes(b);
        result.kept[before ? 0 : first + 1] += graph.bytes(b);
        result.kept[after ? operators.size() + 1 : last + 1] -= graph.bytes(b);
    }
    for (std::size_t i = 0; i < operators.size(); ++i) {
        result.during[i] += result.kept[i] + graph.workspace(operators[i]);
        result.kept[i + 1] += result.kept[i];
    }
    result.kept.pop_back();
    return result;
}

/// How many operators of a delayed branch run at once. O(as bytes_of_branch).
template <class = void>
[[nodiscard]] std::size_t operators_at_once(const tensor_graph& graph, const std::vector<stage>& stages,
                                            const std::vector<std::uint32_t>& slot_of,
                                            const scheduled_branch& branch, delayed_part part) {
    const std::vector<operator_index>& operators = branch.branch.operators;
    if (part == delayed_part::branch) return 0;
    if (part == delayed_part::update) {
        const auto first = std::find_if(operators.begin(), operators.end(),
                                        [&](operator_index op) { return stages[op] == stage::update; });
        return static_cast<std::size_t>(first - operators.begin());
    }
    const branch_bytes bytes = bytes_of_branch(graph, slot_of, branch);
    std::size_t best = 0;
    std::int64_t least = bytes.kept[0];
    std::int64_t peak = bytes.kept[0];
    for (std::size_t i = 1; i < operators.size(); ++i) {
        peak = std::max(peak, bytes.during[i - 1]);
        const std::int64_t cost = bytes.kept[i] + peak - bytes.kept[0];
        if (cost >= least) continue;
        least = cost;
        best = i;
    }
    return best;
}

}  // namespace detail

/// Splits a training step into segments and gives every weight update one of them by ROAM's rule. A program
/// without updates falls into its independent segments. O(accesses + dependencies + branches * segments).
template <class = void>
[[nodiscard]] update_schedule schedule_updates(const tensor_graph& graph,
                                               const update_options& options = {}) {
    update_schedule result;
    result.stages = stages_of(graph);
    for (update_branch& branch : update_branches(graph, result.stages))
        result.branches.push_back({.branch = std::move(branch)});
    std::vector<std::uint32_t> branch_of(graph.operator_count(), detail::no_group);
    for (std::uint32_t i = 0; i < result.branches.size(); ++i) {
        for (const operator_index op : result.branches[i].branch.operators)
            branch_of[op] = i;
    }
    std::vector<detail::part_role> roles = detail::roles_beside_branches(graph, branch_of);
    const bool whole = !options.trunk || detail::keep_trunk(graph, result.stages, roles);
    result.segmentation.independent = whole && result.branches.empty();
    detail::slots slots = detail::make_slots(graph, roles);
    result.boundaries = std::move(slots.boundaries);
    result.segmentation.segments.resize(slots.count);
    for (scheduled_branch& branch : result.branches) {
        for (const operator_index op : branch.branch.operators)
            branch.earliest = std::max(branch.earliest, slots.of[op]);
    }
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if (branch_of[op] != detail::no_group) slots.of[op] = result.branches[branch_of[op]].earliest;
    }
    detail::sum_activations(graph, slots.of, result);
    result.mean_bytes = detail::mean_tensor_bytes(graph);
    for (scheduled_branch& branch : result.branches) {
        branch.scheduled = detail::place_of_branch(result, branch, options);
        if (branch.scheduled == branch.earliest) continue;
        branch.at_once = detail::operators_at_once(graph, result.stages, slots.of, branch, options.part);
    }
    for (scheduled_branch& branch : result.branches) {
        for (std::size_t i = branch.at_once; i < branch.branch.operators.size(); ++i)
            slots.of[branch.branch.operators[i]] = branch.scheduled;
    }
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if (branch_of[op] != detail::no_group) continue;
        if (roles[op] == detail::part_role::follower)
            slots.of[op] = detail::earliest_slot(graph, slots.of, op);
    }
    detail::place_sources(graph, roles, slots.of);
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        roam::segment& segment = result.segmentation.segments[slots.of[op]];
        segment.operators.push_back(op);
        segment.boundary = slots.of[op] % 2 == 1;
    }
    return result;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template update_schedule schedule_updates(const tensor_graph&, const update_options&);
#endif

}  // namespace stowage::roam
