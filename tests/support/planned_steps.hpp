#pragma once
// A program ordered by ROAM's segments, with its layout problem and its tree: what tests of the tree begin
// with.

#include <string>
#include <utility>

#include <stowage/budget.hpp>
#include <stowage/graph.hpp>
#include <stowage/io/access_list.hpp>
#include <stowage/layout/of_order.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/roam/by_segments.hpp>
#include <stowage/roam/subgraph_tree.hpp>
#include <stowage/roam/update_schedule.hpp>

namespace stowage::test {

struct planned_step {
    tensor_graph graph;
    roam::update_schedule schedule;
    roam::segmented_order ordered;
    layout::order_layout items;

    explicit planned_step(tensor_graph program, std::int64_t alignment = 1)
        : graph(std::move(program)), schedule(roam::schedule_updates(graph)) {
        budget account;
        ordered = roam::order_segments(graph, schedule.segmentation, order::lescea{}, account);
        items = layout::layout_problem_of(graph, ordered.order, alignment);
    }
    [[nodiscard]] roam::subgraph_tree tree(const roam::tree_options& options = {}) const {
        return roam::make_subgraph_tree(graph, schedule, ordered.order, items, options);
    }
};

/// A captured program of examples/data, planned so.
inline planned_step captured_step(const std::string& name) {
    return planned_step(io::read_access_list(STOWAGE_EXAMPLE_DATA "/" + name + ".json.gz").graph);
}

}  // namespace stowage::test
