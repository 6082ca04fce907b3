#pragma once
// A tensor graph in the DOT language of Graphviz: one node an operator, coloured by stage, one edge a
// dependency.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stowage/graph/liveness.hpp>
#include <stowage/graph/stage.hpp>
#include <stowage/graph/tensor_graph.hpp>

namespace stowage::io {

/// What a DOT text shows beside names and dependencies.
struct dot_options {
    std::string name = "program";  ///< name of the graph
    /// If not empty: each node shows its step in this order and the bytes alive there, and the step of the
    /// peak is framed.
    std::span<const operator_index> order = {};
    bool sizes = true;  ///< each edge shows the bytes that lead from its first operator to its second
};

namespace detail {

/// A text between double quotes in DOT.
template <class = void>
[[nodiscard]] std::string dot_quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result + '"';
}

[[nodiscard]] constexpr std::string_view stage_colour(stage value) noexcept {
    switch (value) {
        case stage::forward: return "#cfe2f3";
        case stage::backward: return "#f9dcc4";
        case stage::update: return "#d9ead3";
        case stage::unknown: break;
    }
    return "#eeeeee";
}

}  // namespace detail

/// The graph as DOT text. Names may hold any bytes. O(accesses + dependencies). Throws program_error if
/// options.order is no permutation of the operators.
template <class = void>
[[nodiscard]] std::string dot_text(const tensor_graph& graph, const dot_options& options = {}) {
    std::vector<std::uint32_t> step;
    std::vector<std::int64_t> live;
    std::int64_t peak = -1;
    if (!options.order.empty()) {
        step = steps_of(graph, options.order);
        live = live_bytes(graph, options.order);
        peak = peak_bytes(graph, options.order);
    }
    std::string text = "digraph " + detail::dot_quoted(options.name) +
                       " {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        std::string label(graph.operator_name(op));
        if (label.empty()) label = "operator " + std::to_string(op);
        label = detail::dot_quoted(label);
        bool at_peak = false;
        if (!step.empty()) {
            label.pop_back();
            label += "\\nstep " + std::to_string(step[op]) + ": " + std::to_string(live[step[op]]) + " B\"";
            at_peak = live[step[op]] == peak;
        }
        text += "  " + std::to_string(op) + " [label=" + label + ", fillcolor=\"";
        text += detail::stage_colour(graph.stage(op));
        text += at_peak ? "\", penwidth=3];\n" : "\"];\n";
    }
    std::vector<std::int64_t> bytes_from(graph.operator_count(), 0);
    std::vector<operator_index> last_writer(graph.buffer_count(), no_operator);
    std::vector<operator_index> counted_by(graph.buffer_count(),
                                           no_operator);  // a buffer read twice counts once
    for (operator_index op = 0; op < graph.operator_count(); ++op) {
        for (const buffer_index b : graph.reads(op)) {
            if (last_writer[b] == no_operator || counted_by[b] == op) continue;
            counted_by[b] = op;
            bytes_from[last_writer[b]] += graph.bytes(b);
        }
        for (const operator_index before : graph.predecessors(op)) {
            text += "  " + std::to_string(before) + " -> " + std::to_string(op);
            if (options.sizes && bytes_from[before] > 0) {
                text += " [label=\"" + std::to_string(bytes_from[before]) + "\"]";
            }
            text += ";\n";
        }
        for (const buffer_index b : graph.reads(op)) {
            if (last_writer[b] != no_operator) bytes_from[last_writer[b]] = 0;
        }
        for (const buffer_index b : graph.writes(op))
            last_writer[b] = op;
    }
    return text + "}\n";
}

}  // namespace stowage::io
