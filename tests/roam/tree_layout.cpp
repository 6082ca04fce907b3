// ctest-label: threads
#include <stowage/roam/tree_layout.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <stowage/layout/best_fit.hpp>
#include <stowage/layout/skylines.hpp>
#include <stowage/verify/layout.hpp>

#include "support/any_program.hpp"
#include "support/planned_steps.hpp"
#include "support/rounds.hpp"
#include "support/training_steps.hpp"

using namespace stowage;

namespace {

roam::tree_layout lay_out(const test::planned_step& step, const roam::tree_options& options = {},
                          const roam::concatenation_options& how = {}, unsigned threads = 1) {
    budget account;
    return roam::lay_out_tree(step.tree(options), step.items, layout::skylines{}, account, how, 1, threads);
}

}  // namespace

TEST_CASE("layouts of trees are right, for any program, alignment, pin and switch") {
    stowage::detail::splitmix64 random(17);
    for (int round = 0; round < stowage::test::rounds(200); ++round) {
        const std::int64_t alignment = round % 3 == 0 ? 8 : 1;
        test::planned_step step(
            round % 2 == 0
                ? test::training_graph({.layers = 2 + random.below(6),
                                        .by = static_cast<test::optimizer>(random.below(8)),
                                        .weight_bytes = static_cast<std::int64_t>(random.below(99)) + 1})
                : make_tensor_graph(test::any_program(random, {.operators = 20, .window = 2})),
            alignment);
        for (layout::buffer& item : step.items.problem.buffers) {
            if (random.below(5) == 0) item.alignment = 1 + static_cast<std::int64_t>(random.below(6));
        }
        if (round % 5 == 0) {  // one pin: it keeps its place
            layout::buffer& item =
                step.items.problem.buffers[random.below(step.items.problem.buffers.size())];
            item.offset = 24 * item.alignment;
        }
        const roam::concatenation_options how{.activations_low = random.below(3) != 0,
                                              .repair = random.below(3) != 0,
                                              .repair_rounds = random.below(4)};
        const roam::tree_options options{.node_limit = 1 + random.below(20),
                                         .assign_shared = random.below(2) == 0};
        const roam::tree_layout found = lay_out(step, options, how);
        const verify::verdict verdict = verify::check_layout(step.items.problem, found.offsets);
        REQUIRE_MESSAGE(verdict.ok, "round ", round, ": ", verdict.reason);
        CHECK(found.arena == layout::arena_of(step.items.problem, found.offsets));
        CHECK(found.leaves.size() == step.tree(options).leaves.size());
        std::size_t buffers = 0;
        for (const roam::leaf_report& leaf : found.leaves) {
            CHECK(leaf.arena >= leaf.lower_bound);
            buffers += leaf.buffers;
        }
        std::size_t expected = 0;
        for (const layout::buffer& item : step.items.problem.buffers)
            expected += item.takes_part() && !item.offset ? 1U : 0U;
        CHECK(buffers == expected);
    }
}

TEST_CASE("a leaf stands on the activations of those around it") {
    const test::planned_step step = test::captured_step("vgg16-b32");
    const roam::tree_layout found = lay_out(step);
    std::int64_t below = 0;
    for (std::size_t k = found.leaves.size(); k-- > 0;) {
        CHECK(found.leaves[k].base == below);
        below += found.leaves[k].activation_bytes;
    }
    CHECK(found.leaves.front().base > 0);
}

TEST_CASE("the layout does not depend on the number of threads") {
    const test::planned_step step = test::captured_step("alexnet-b32");
    const roam::tree_layout one = lay_out(step);
    for (const unsigned threads : {2U, 8U}) {
        const roam::tree_layout more = lay_out(step, {}, {}, threads);
        CHECK(more.offsets == one.offsets);
        CHECK(more.moved == one.moved);
    }
}

TEST_CASE("each rule saves bytes where it matters: switched off, the arena grows") {
    const roam::concatenation_options plain{.repair_rounds = 0};
    for (const std::string name :
         {"bert-b32", "mobilenet_v2-b32", "resnet50-b32", "efficientnet_b0-b1", "vit_b_16-b1"}) {
        CAPTURE(name);
        const test::planned_step step = test::captured_step(name);
        const roam::tree_options options{.node_limit = 60};
        const std::int64_t with_all = lay_out(step, options, plain).arena;
        // activations anywhere in their leaf: what stands on it stands higher
        CHECK(lay_out(step, options, {.activations_low = false, .repair_rounds = 0}).arena > with_all);
        // leaves lifted whole instead of a few tensors placed anew
        CHECK(lay_out(step, options, {.repair = false, .repair_rounds = 0}).arena > with_all);
        // more rounds never cost
        CHECK(lay_out(step, options).arena <= with_all);
    }
    // activations where they are created: they end up in leaves that are not there when they are freed
    for (const std::string name : {"mnasnet1_0-b1", "mobilenet_v2-b1"}) {
        CAPTURE(name);
        const test::planned_step step = test::captured_step(name);
        CHECK(lay_out(step, {.assign_shared = false}, plain).arena > lay_out(step, {}, plain).arena);
    }
}
