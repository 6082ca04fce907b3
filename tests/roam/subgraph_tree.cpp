#include <stowage/roam/subgraph_tree.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/any_program.hpp"
#include "support/planned_steps.hpp"
#include "support/training_steps.hpp"

using namespace stowage;

namespace {

/// Pieces of every level hold each step once, leaves hold each item once, and their sharing is by definition.
void check_tree(const test::planned_step& step, const roam::subgraph_tree& tree, bool assign_shared) {
    const auto steps = static_cast<std::int64_t>(step.graph.operator_count());
    CHECK(tree.nodes[0].operators() == step.graph.operator_count());
    std::vector<int> leaf_steps(step.graph.operator_count(), 0);
    std::vector<int> seen(step.items.item_count(), 0);
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        const roam::subgraph& node = tree.nodes[n];
        if (n > 0) {
            std::size_t found = 0;
            for (const std::size_t child : tree.nodes[node.parent].children)
                found += child == n ? 1U : 0U;
            CHECK(found == 1);
            CHECK(static_cast<int>(node.level) == static_cast<int>(tree.nodes[node.parent].level) + 1);
        }
        if (!node.is_leaf()) {
            CHECK(node.items.empty());
            std::size_t below = 0;
            for (const std::size_t child : node.children)
                below += tree.nodes[child].operators();
            CHECK(below == node.operators());
            continue;
        }
        for (const roam::step_range& range : {node.forward, node.backward}) {
            for (std::int64_t t = range.begin; t < range.end; ++t)
                ++leaf_steps[static_cast<std::size_t>(t)];
        }
        for (const roam::leaf_item& entry : node.items) {
            ++seen[entry.item];
            const layout::buffer& item = step.items.problem.buffers[entry.item];
            const std::int64_t death = item.upper - 1;
            CHECK(entry.activation == (item.lower < tree.turn && death >= tree.turn));
            const auto inside = [&](std::int64_t t) {
                return (t >= node.forward.begin && t < node.forward.end) ||
                       (t >= node.backward.begin && t < node.backward.end);
            };
            const bool born_in = inside(item.lower);
            if (entry.shared != roam::sharing::cofi) CHECK(born_in);
            if (entry.shared == roam::sharing::cofi) {
                CHECK_FALSE(born_in);
                // what a boundary reads, it frees for the piece before it
                CHECK((inside(death) || inside(death - 1) || death == node.forward.end));
            }
            const bool given =
                !step.items.is_workspace(entry.item) && step.graph.kind(entry.item) == buffer_kind::donated;
            if (entry.shared != roam::sharing::cifi && !given)
                CHECK((entry.shared == roam::sharing::cofi) == (assign_shared && item.lower < tree.turn));
        }
    }
    for (const int count : leaf_steps)
        CHECK(count == (steps > 0 ? 1 : 0));
    for (std::size_t i = 0; i < seen.size(); ++i)
        CHECK(seen[i] == (step.items.problem.buffers[i].takes_part() ? 1 : 0));
}

/// By definition: of what is neither there at the start nor at the end, nothing that is born or freed
/// strictly between an independent subgraph's outer boundaries is alive outside them.
void check_independent(const test::planned_step& step, const roam::subgraph_tree& tree) {
    const auto steps = static_cast<std::int64_t>(step.graph.operator_count());
    for (const roam::subgraph& node : tree.nodes) {
        if (node.level != roam::subgraph_level::independent) continue;
        const std::int64_t a = node.forward.begin == 0 ? -1 : node.forward.begin;
        const std::int64_t b = node.backward.end;
        for (const layout::buffer& item : step.items.problem.buffers) {
            if (!item.takes_part() || item.lower == 0 || item.upper == steps) continue;
            const std::int64_t death = item.upper - 1;
            const bool touches = (a < item.lower && item.lower < b) || (a < death && death < b);
            if (touches) CHECK((a <= item.lower && death <= b));
        }
    }
}

}  // namespace

TEST_CASE("a chain's training step is a nest of independent subgraphs") {
    const test::planned_step step(
        test::training_graph({.layers = 8, .by = test::optimizer::sgd, .activation_bytes = 1000}));
    const roam::subgraph_tree tree = step.tree();
    CHECK(tree.count(roam::subgraph_level::independent) >= 4);
    CHECK(tree.count(roam::subgraph_level::dependent) == 0);
    check_tree(step, tree, true);
    check_independent(step, tree);
    for (std::size_t k = 1; k < tree.leaves.size(); ++k) {  // inside out
        CHECK(tree.nodes[tree.leaves[k]].forward.end == tree.nodes[tree.leaves[k - 1]].forward.begin);
        CHECK(tree.nodes[tree.leaves[k]].backward.begin == tree.nodes[tree.leaves[k - 1]].backward.end);
    }
}

TEST_CASE("trees of any program are whole, independent subgraphs are independent") {
    stowage::detail::splitmix64 random(41);
    for (int round = 0; round < 200; ++round) {
        const bool training = round % 2 == 0;
        const test::planned_step step(
            training
                ? test::training_graph({.layers = 2 + random.below(9),
                                        .by = static_cast<test::optimizer>(random.below(8)),
                                        .weight_bytes = static_cast<std::int64_t>(random.below(99)) + 1,
                                        .activation_bytes = static_cast<std::int64_t>(random.below(99)) + 1})
                : make_tensor_graph(test::any_program(random, {.operators = 20, .window = 2})));
        const roam::tree_options options{.node_limit = 1 + random.below(30),
                                         .assign_shared = random.below(2) == 0};
        const roam::subgraph_tree tree = step.tree(options);
        check_tree(step, tree, options.assign_shared);
        check_independent(step, tree);
    }
    const test::planned_step nothing{tensor_graph{}};
    CHECK(nothing.tree().nodes[0].operators() == 0);
}

TEST_CASE("captured training steps fall into independent and dependent subgraphs") {
    for (const std::string name : {"alexnet-b1", "vgg16-b32", "bert-b32", "mobilenet_v2-b1", "vit_b_16-b1",
                                   "efficientnet_b0-b32", "gpt2-xl-b1"}) {
        CAPTURE(name);
        const test::planned_step step = test::captured_step(name);
        const roam::subgraph_tree tree = step.tree({.node_limit = 60});
        CHECK(tree.count(roam::subgraph_level::independent) >= 2);
        CHECK(tree.count(roam::subgraph_level::dependent) >= 2);
        check_tree(step, tree, true);
        check_independent(step, tree);
        // a smaller limit gives more leaves, no limit only independent ones
        CHECK(step.tree({.node_limit = 30}).leaves.size() >= tree.leaves.size());
        CHECK(step.tree({.node_limit = 1'000'000}).count(roam::subgraph_level::dependent) == 0);
    }
}
