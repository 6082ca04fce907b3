#pragma once
// The part of the training step that each operator belongs to, where the program does not say; and the
// activations, by which ROAM (papers: "activations are made in the forward pass and needed by the backward
// pass") tells tensors that outlive their pass from temporary ones.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage {

/// The stage of each operator, inferred from accesses and program order alone, whatever the program says:
///
/// 1. The loss is made by the first operator that writes an `output`.
/// 2. Among later operators, one begins the update if it writes a `parameter`, or accesses an
/// `optimizer_state`;
///    where the step is functional, also if it reads a `donated` buffer that nobody used up to the loss, or
///    reads a donated buffer and writes an output of its size. A step is functional if its donated buffers
///    can be matched with outputs of equal sizes.
/// 3. A later operator that reads contents which an update made is an update too.
/// 4. What is left after the loss is `backward`, the loss and what stands before it `forward`. Without an
/// update
///    there is no telling: everything is `forward`.
///
/// On training steps traced from PyTorch this is what the tracer recorded. Where a compiler has mixed the
/// stages in its schedule, "after the loss" means little: let the program say. O(accesses + buffers log
/// buffers).
template <class = void>
[[nodiscard]] std::vector<stage> inferred_stages(const tensor_graph& graph) {
    const auto count = static_cast<operator_index>(graph.operator_count());
    const auto buffers = static_cast<buffer_index>(graph.buffer_count());
    std::vector<stage> result(count, stage::forward);

    operator_index loss = no_operator;
    std::vector<std::int64_t> given_up, returned;
    for (buffer_index b = 0; b < buffers; ++b) {
        if (graph.kind(b) == buffer_kind::donated) given_up.push_back(graph.bytes(b));
        if (graph.kind(b) != buffer_kind::output) continue;
        returned.push_back(graph.bytes(b));
        loss = std::min(loss, graph.producer(b));
    }
    if (loss == no_operator) return result;
    std::sort(given_up.begin(), given_up.end());
    std::sort(returned.begin(), returned.end());
    const bool functional = std::includes(returned.begin(), returned.end(), given_up.begin(), given_up.end());

    const auto begins_update = [&](operator_index op) {
        for (const buffer_index b : graph.accesses(op))
            if (graph.kind(b) == buffer_kind::optimizer_state) return true;
        for (const buffer_index b : graph.writes(op))
            if (graph.kind(b) == buffer_kind::parameter) return true;
        if (!functional) return false;
        for (const buffer_index given : graph.reads(op)) {
            if (graph.kind(given) != buffer_kind::donated) continue;
            if (graph.users(given).front() > loss) return true;
            for (const buffer_index b : graph.writes(op)) {
                if (graph.kind(b) == buffer_kind::output && graph.bytes(b) == graph.bytes(given)) return true;
            }
        }
        return false;
    };
    std::vector<bool> updated(buffers, false);  // the buffer's contents were made by an update
    bool any_update = false;
    for (operator_index op = loss + 1; op < count; ++op) {
        const auto reads = graph.reads(op);
        const bool is_update = begins_update(op) || std::any_of(reads.begin(), reads.end(),
                                                                [&](buffer_index b) { return updated[b]; });
        for (const buffer_index b : graph.writes(op))
            updated[b] = is_update;
        result[op] = is_update ? stage::update : stage::backward;
        any_update = any_update || is_update;
    }
    if (!any_update) std::fill(result.begin(), result.end(), stage::forward);
    return result;
}

/// The stage of each operator: as the program gives it, inferred (see inferred_stages) where it is unknown.
/// Never `unknown`. O(accesses + buffers log buffers), O(operators) where all are given.
template <class = void>
[[nodiscard]] std::vector<stage> stages_of(const tensor_graph& graph) {
    std::vector<stage> result(graph.operator_count());
    bool all_given = true;
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        result[op] = graph.stage(op);
        all_given = all_given && result[op] != stage::unknown;
    }
    if (all_given) return result;
    const std::vector<stage> inferred = inferred_stages(graph);
    for (std::size_t op = 0; op < result.size(); ++op)
        if (result[op] == stage::unknown) result[op] = inferred[op];
    return result;
}

/// The activations: buffers of the plan that are born in the forward pass and read in the backward pass,
/// under `stages`, one an operator. Ascending. O(accesses).
template <class = void>
[[nodiscard]] std::vector<buffer_index> activations(const tensor_graph& graph,
                                                    const std::vector<stage>& stages) {
    if (stages.size() != graph.operator_count())
        throw program_error("there is to be one stage an operator", {});
    std::vector<bool> is_needed(graph.buffer_count(), false);
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        if (stages[op] != stage::backward) continue;
        for (const buffer_index b : graph.reads(op))
            is_needed[b] = true;
    }
    std::vector<buffer_index> result;
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        const operator_index producer = graph.producer(b);
        if (is_needed[b] && producer != no_operator && stages[producer] == stage::forward)
            result.push_back(b);
    }
    return result;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::vector<stage> stages_of(const tensor_graph&);
#endif

}  // namespace stowage
