#include <stowage/roam/tree_text.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "support/planned_steps.hpp"
#include "support/training_steps.hpp"

using namespace stowage;

TEST_CASE("a tree prints a line a node, children under their parents") {
    const test::planned_step step(test::training_graph({.layers = 2, .by = test::optimizer::sgd}));
    const roam::subgraph_tree tree = step.tree();
    const std::string text = roam::to_text(tree, step.items);
    CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == tree.nodes.size());
    CHECK(text.substr(0, text.find(',')) ==
          "program 0: " + std::to_string(step.graph.operator_count()) + " operators");
    CHECK(text.find("\n  IG 1: ") != std::string::npos);
    CHECK(text.find("CIFI") != std::string::npos);
    CHECK(roam::to_text(roam::subgraph_tree{}, step.items).empty());
}

TEST_CASE("a tree is a graph with an edge for each node but the root") {
    const test::planned_step step(test::training_graph({.layers = 6, .by = test::optimizer::adam}));
    const roam::subgraph_tree tree = step.tree({.node_limit = 8});
    const std::string dot = roam::to_dot(tree, step.items);
    std::size_t edges = 0;
    for (std::size_t at = dot.find(" -> "); at != std::string::npos; at = dot.find(" -> ", at + 1))
        ++edges;
    CHECK(edges == tree.nodes.size() - 1);
    CHECK(dot.starts_with("digraph subgraph_tree {"));
    CHECK(dot.ends_with("}\n"));
}
