#pragma once
// From an operator order to the layout problem that it poses: one item a buffer and one a workspace, alive by
// the memory model of docs/design.md. Time is the step in the order: a buffer lives from its birth to after
// its last access, [first, last + 1), a donated one from step 0, an output to the end; a workspace lives
// [t, t + 1) at its operator's step t.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/liveness.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/problem.hpp>

namespace stowage::layout {

/// Stands for "no item" in the mappings of order_layout.
inline constexpr std::uint32_t no_item = std::numeric_limits<std::uint32_t>::max();

/// A layout problem made from an order, and which item stands for what. Items [0, buffer_count) are the
/// program's buffers under their own indices, so that errors and offsets need no translation; a buffer
/// outside the plan has an empty lifetime there. Items from buffer_count on are workspaces, in running order.
struct order_layout {
    layout::problem problem;                      ///< lifetimes, sizes, alignments, pins and names
    std::size_t buffer_count = 0;                 ///< items below this are buffers, the others workspaces
    std::vector<operator_index> workspace_owner;  ///< operator of item buffer_count + k
    std::vector<std::uint32_t> workspace_item;    ///< item of an operator's workspace or no_item; may be
                                                  ///< empty where no operator has one
    /// Number of items.
    [[nodiscard]] std::size_t item_count() const noexcept { return buffer_count + workspace_owner.size(); }
    /// True if the item is an operator's workspace.
    [[nodiscard]] bool is_workspace(std::size_t item) const noexcept { return item >= buffer_count; }
    /// The operator whose workspace the item is; no_operator for a buffer's item.
    template <class = void>
    [[nodiscard]] operator_index owner(std::size_t item) const noexcept {
        return is_workspace(item) ? workspace_owner[item - buffer_count] : no_operator;
    }
    /// The item of buffer `buffer` if it is part of the plan, else no_item.
    template <class = void>
    [[nodiscard]] std::uint32_t item_of_buffer(buffer_index buffer) const noexcept {
        const layout::buffer& item = problem.buffers[buffer];
        return item.lower < item.upper ? buffer : no_item;
    }
    /// The item of the workspace of `op`, or no_item.
    template <class = void>
    [[nodiscard]] std::uint32_t item_of_workspace(operator_index op) const noexcept {
        return workspace_item.empty() ? no_item : workspace_item[op];
    }
    /// The offset of each buffer out of a layout of `problem`; `absent` for one outside the plan. O(buffers).
    template <class = void>
    [[nodiscard]] std::vector<std::int64_t> buffer_offsets(std::span<const std::int64_t> offsets,
                                                           std::int64_t absent = -1) const {
        std::vector<std::int64_t> result(buffer_count, absent);
        for (buffer_index b = 0; b < buffer_count; ++b) {
            if (item_of_buffer(b) != no_item) result[b] = offsets[b];
        }
        return result;
    }
    /// The offset of each operator's workspace out of a layout of `problem`; `absent` where it has none;
    /// empty where no operator has one. O(operators).
    template <class = void>
    [[nodiscard]] std::vector<std::int64_t> workspace_offsets(std::span<const std::int64_t> offsets,
                                                              std::int64_t absent = -1) const {
        std::vector<std::int64_t> result(workspace_item.size(), absent);
        for (std::size_t k = 0; k < workspace_owner.size(); ++k) {
            result[workspace_owner[k]] = offsets[buffer_count + k];
        }
        return result;
    }
};

namespace detail {

/// Names for messages; none where the program has none and there are no workspaces.
template <class = void>
void name_items(const tensor_graph& graph, order_layout& made) {
    std::vector<std::string>& names = made.problem.names;
    bool named = !made.workspace_owner.empty();
    for (buffer_index b = 0; b < made.buffer_count && !named; ++b) {
        named = !graph.buffer_name(b).empty();
    }
    if (!named) return;
    names.reserve(made.item_count());
    for (buffer_index b = 0; b < made.buffer_count; ++b) {
        names.emplace_back(graph.buffer_name(b));
    }
    for (const operator_index op : made.workspace_owner) {
        names.push_back("workspace of " + graph.describe_operator(op).text("operator"));
    }
}

}  // namespace detail

/// The layout problem of `order`, whose offsets are multiples of `alignment` (> 0) beside each buffer's own
/// alignment; pins are taken over. O(accesses). Throws program_error if `order` is no permutation,
/// layout_error if `alignment` is not positive, program_error if buffers and workspaces together pass 2^32
/// - 2.
template <class = void>
[[nodiscard]] order_layout layout_problem_of(const tensor_graph& graph, std::span<const operator_index> order,
                                             std::int64_t alignment = 1) {
    if (alignment <= 0) {
        throw layout_error("alignment " + std::to_string(alignment) + " of the plan is not positive", {});
    }
    const std::vector<lifespan> lives = lifespans(graph, order);
    order_layout made;
    made.problem.alignment = alignment;
    made.buffer_count = graph.buffer_count();
    if (graph.has_workspace()) {
        made.workspace_item.assign(graph.operator_count(), no_item);
        for (const operator_index op : order) {
            if (graph.workspace(op) == 0) continue;
            if (made.item_count() >= no_item) throw program_error("too many buffers and workspaces", {});
            made.workspace_item[op] = static_cast<std::uint32_t>(made.item_count());
            made.workspace_owner.push_back(op);
        }
    }
    std::vector<buffer>& items = made.problem.buffers;
    items.reserve(made.item_count());
    for (buffer_index b = 0; b < made.buffer_count; ++b) {
        buffer& item = items.emplace_back();
        if (!lives[b].planned()) continue;
        item.lower = lives[b].first;
        item.upper = std::int64_t{lives[b].last} + 1;
        item.size = graph.bytes(b);
        item.alignment = graph.alignment(b);
        item.offset = graph.pinned_offset(b);
    }
    for (std::size_t t = 0; t < order.size(); ++t) {
        if (made.item_of_workspace(order[t]) == no_item) continue;
        buffer& item = items.emplace_back();
        item.lower = static_cast<std::int64_t>(t);
        item.upper = item.lower + 1;
        item.size = graph.workspace(order[t]);
    }
    detail::name_items(graph, made);
    return made;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template order_layout layout_problem_of(const tensor_graph&,
                                                          std::span<const operator_index>, std::int64_t);
#endif

}  // namespace stowage::layout
