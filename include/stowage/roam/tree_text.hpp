#pragma once
// A subgraph tree as text for people, and as a graph for Graphviz.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/layout/of_order.hpp>
#include <stowage/roam/subgraph_tree.hpp>

namespace stowage::roam {

namespace detail {

template <class = void>
[[nodiscard]] std::string range_text(const step_range& range) {
    if (range.size() == 0) return "none";
    return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

/// Items and bytes of a node's leaves, by sharing, and of the activations among them.
struct node_sums {
    std::size_t items = 0;
    std::array<std::size_t, 3> shared = {};
    std::int64_t bytes = 0;
    std::int64_t activation_bytes = 0;
};

template <class = void>
[[nodiscard]] std::vector<node_sums> sums_of(const subgraph_tree& tree, const layout::order_layout& items) {
    std::vector<node_sums> sums(tree.nodes.size());
    for (std::size_t n = tree.nodes.size(); n-- > 0;) {  // children stand after their parents
        for (const leaf_item& entry : tree.nodes[n].items) {
            const std::int64_t bytes = items.problem.buffers[entry.item].size;
            ++sums[n].items;
            ++sums[n].shared.at(static_cast<std::size_t>(entry.shared));
            sums[n].bytes += bytes;
            sums[n].activation_bytes += entry.activation ? bytes : 0;
        }
        const std::size_t parent = tree.nodes[n].parent;
        if (parent == n) continue;
        sums[parent].items += sums[n].items;
        for (std::size_t k = 0; k < 3; ++k)
            sums[parent].shared.at(k) += sums[n].shared.at(k);
        sums[parent].bytes += sums[n].bytes;
        sums[parent].activation_bytes += sums[n].activation_bytes;
    }
    return sums;
}

/// "IG 3: 41 operators, forward [10, 20), ..."; parts are separated by `comma`.
template <class = void>
[[nodiscard]] std::string node_text(const subgraph_tree& tree, const std::vector<node_sums>& sums,
                                    std::size_t n, const std::string& comma) {
    const subgraph& node = tree.nodes[n];
    const auto count = [&](sharing kind) {
        return std::to_string(sums[n].shared.at(static_cast<std::size_t>(kind)));
    };
    return std::string(to_string(node.level)) + " " + std::to_string(n) + ": " +
           std::to_string(node.operators()) + " operators" + comma + "forward " + range_text(node.forward) +
           comma + "backward " + range_text(node.backward) + comma + std::to_string(sums[n].items) +
           " tensors (" + count(sharing::cifi) + " CIFI, " + count(sharing::cifo) + " CIFO, " +
           count(sharing::cofi) + " COFI)" + comma + std::to_string(sums[n].bytes) + " bytes" + comma +
           std::to_string(sums[n].activation_bytes) + " of activations";
}

}  // namespace detail

/// The tree as lines, a node each, children indented under their parents, the loss first. O(size).
template <class = void>
[[nodiscard]] std::string to_text(const subgraph_tree& tree, const layout::order_layout& items) {
    if (tree.nodes.empty()) return {};
    const std::vector<detail::node_sums> sums = detail::sums_of(tree, items);
    std::string text;
    std::vector<std::size_t> open = {0};
    while (!open.empty()) {
        const std::size_t n = open.back();
        open.pop_back();
        text += std::string(2 * static_cast<std::size_t>(tree.nodes[n].level), ' ') +
                detail::node_text(tree, sums, n, ", ") + "\n";
        open.insert(open.end(), tree.nodes[n].children.rbegin(), tree.nodes[n].children.rend());
    }
    return text;
}

/// The tree for Graphviz (`dot -Tsvg`). O(size).
template <class = void>
[[nodiscard]] std::string to_dot(const subgraph_tree& tree, const layout::order_layout& items) {
    const std::vector<detail::node_sums> sums = detail::sums_of(tree, items);
    std::string text = "digraph subgraph_tree {\n    node [shape=box, fontname=\"sans-serif\"];\n";
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        text +=
            "    n" + std::to_string(n) + " [label=\"" + detail::node_text(tree, sums, n, "\\n") + "\"];\n";
        if (tree.nodes[n].parent != n)
            text += "    n" + std::to_string(tree.nodes[n].parent) + " -> n" + std::to_string(n) + ";\n";
    }
    return text + "}\n";
}

}  // namespace stowage::roam
