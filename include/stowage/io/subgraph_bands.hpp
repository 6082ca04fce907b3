#pragma once
// The subgraph tree of roam::paper as bands under the time axis of a picture: the independent subgraphs in
// one row, the dependent ones that they are cut into below them; a subgraph's pieces of the forward and of
// the backward pass have one colour.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stowage/io/picture.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/roam/subgraph_tree.hpp>

namespace stowage::io {

/// The bands of a tree over the order that it was made of; `items` is the layout problem of that order.
/// O(size of the tree).
template <class = void>
[[nodiscard]] std::vector<picture_band> bands_of(const roam::subgraph_tree& tree,
                                                 const layout::order_layout& items) {
    std::vector<picture_band> bands;
    const auto steps = [](const roam::step_range& range) {
        return range.size() == 0 ? std::string("none")
                                 : std::to_string(range.begin) + " to " + std::to_string(range.end - 1);
    };
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        const roam::subgraph& node = tree.nodes[n];
        if (node.level == roam::subgraph_level::root) continue;
        picture_band band;
        band.name = std::string(roam::to_string(node.level)) + " " + std::to_string(n);
        band.text = std::to_string(node.operators()) + " operators, forward steps " + steps(node.forward) +
                    ", backward steps " + steps(node.backward);
        if (node.is_leaf()) {
            std::int64_t bytes = 0;
            for (const roam::leaf_item& entry : node.items)
                bytes += items.problem.buffers[entry.item].size;
            band.text += "\n" + std::to_string(node.items.size()) + " tensors, " + human_bytes(bytes);
        } else {
            band.text += "\ncut into " + std::to_string(node.children.size()) + " dependent subgraphs";
        }
        band.row = node.level == roam::subgraph_level::independent ? 0 : 1;
        for (const roam::step_range& range : {node.forward, node.backward}) {
            if (range.size() > 0) band.spans.emplace_back(range.begin, range.end);
        }
        bands.push_back(std::move(band));
    }
    return bands;
}

}  // namespace stowage::io
