#include <stowage/roam/update_schedule.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/roam/by_segments.hpp>
#include <stowage/verify.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/training_steps.hpp"

using namespace stowage;
using test::optimizer;

namespace {

roam::segmented_order solve(const tensor_graph& graph, const roam::update_schedule& schedule) {
    budget account;
    return roam::order_segments(graph, schedule.segmentation, order::exact{}, account);
}

std::size_t delayed(const roam::update_schedule& schedule) {
    return static_cast<std::size_t>(
        std::count_if(schedule.branches.begin(), schedule.branches.end(),
                      [](const auto& branch) { return branch.scheduled != branch.earliest; }));
}

}  // namespace

TEST_CASE("the backward pass falls into segments once the branches are aside") {
    for (const optimizer by :
         {optimizer::sgd, optimizer::sgd_momentum, optimizer::adam, optimizer::adam_functional,
          optimizer::adamw, optimizer::adafactor, optimizer::accumulated_sgd}) {
        const tensor_graph graph = test::training_graph({.layers = 6, .by = by});
        const roam::update_schedule schedule = roam::schedule_updates(graph);
        CHECK(schedule.branches.size() == 6);
        // f0 to f5, loss, dloss, dx5 to dx1; unless in place, dx1 leads to the first parameter alone
        CHECK(schedule.boundaries.size() == (by == optimizer::adam_functional ? 12 : 13));
        for (const operator_index op : schedule.boundaries)
            CHECK(schedule.stages[op] != stage::update);
    }
    // every gradient leads to the norm, and so belongs to the trunk
    const tensor_graph clipped = test::training_graph({.layers = 6, .by = optimizer::clipped_adam});
    CHECK(roam::schedule_updates(clipped).boundaries.size() < 12);
    CHECK(roam::schedule_updates(clipped).branches.size() == 6);
}

TEST_CASE("the estimates are those of the paper's equations") {
    const tensor_graph graph =
        test::training_graph({.layers = 3, .by = optimizer::sgd, .activation_bytes = 10});
    const roam::update_schedule schedule = roam::schedule_updates(graph);
    // activations: the outputs of f0, f1 and f2, and the loss, which dloss reads
    CHECK(schedule.estimated_peak == 34);
    CHECK(*std::max_element(schedule.activation_bytes.begin(), schedule.activation_bytes.end()) == 34);
    for (const roam::scheduled_branch& branch : schedule.branches) {
        const std::string name(graph.operator_name(branch.branch.operators.back()));
        // update2 waits for dx2, where f1's output and f0's are still needed; update1 for dx1, where dw1
        // still needs f0's
        const std::int64_t expected = name == "update2" ? 20 : 10;
        CHECK_MESSAGE(schedule.activation_bytes[branch.earliest] == expected, name);
    }
}

TEST_CASE("a branch is delayed if and only if its gradient is large and memory is short") {
    const auto schedule = [](std::int64_t activation, const roam::update_options& options) {
        return roam::schedule_updates(
            test::training_graph({.layers = 5, .by = optimizer::sgd, .activation_bytes = activation}),
            options);
    };
    // gradients of 64 bytes beside 5 activations of 16: 64 + 64 > 80 at the first, 64 + 16 = 80 at the last
    CHECK(delayed(schedule(16, {})) > 0);
    CHECK(delayed(schedule(16, {.delay = false})) == 0);
    CHECK(delayed(schedule(16, {.radius = 10})) == 0);
    // activations of 1,000 bytes: a gradient is small beside the mean, and beside what a layer frees
    CHECK(delayed(schedule(1000, {})) == 0);
    CHECK(delayed(schedule(1000, {.radius = 0, .alpha = 100})) > 0);
    CHECK(delayed(schedule(1000, {.radius = 0, .alpha = 0})) == 0);
}

TEST_CASE("delaying saves bytes where gradients are larger than activations, and costs none elsewhere") {
    const tensor_graph large =
        test::training_graph({.layers = 6, .by = optimizer::adam_functional, .activation_bytes = 200});
    CHECK(solve(large, roam::schedule_updates(large)).peak <=
          solve(large, roam::schedule_updates(large, {.delay = false})).peak);
    // the first layers' activations are large, the last ones' weights: updating at once is wrong
    program step;
    const auto small = [&](std::int64_t bytes) { return step.add_buffer({.bytes = bytes}); };
    const auto w0 = step.add_buffer({.bytes = 100, .kind = buffer_kind::parameter});
    const auto w1 = step.add_buffer({.bytes = 1, .kind = buffer_kind::parameter});
    const auto x1 = small(100);
    const auto x2 = small(1);
    const auto loss = step.add_buffer({.bytes = 1, .kind = buffer_kind::output});
    step.add_operator({.name = "f0", .reads = {w1}, .writes = {x1}, .stage = stage::forward});
    step.add_operator({.name = "f1", .reads = {x1, w0}, .writes = {x2}, .stage = stage::forward});
    step.add_operator({.name = "loss", .reads = {x2}, .writes = {loss}, .stage = stage::forward});
    const auto g2 = small(1);
    step.add_operator({.name = "dloss", .reads = {loss, x2}, .writes = {g2}, .stage = stage::backward});
    const auto g1 = small(1);
    step.add_operator({.name = "dx1", .reads = {g2, w0}, .writes = {g1}, .stage = stage::backward});
    const auto dw = small(100);
    const auto scaled = small(100);
    step.add_operator({.name = "dw0", .reads = {g2}, .writes = {dw}, .stage = stage::backward});
    step.add_operator({.name = "scale0", .reads = {dw}, .writes = {scaled}, .stage = stage::update});
    step.add_operator({.name = "update0", .reads = {scaled, w0}, .writes = {w0}, .stage = stage::update});
    const auto g0 = small(1);
    step.add_operator({.name = "dx0", .reads = {g1, x1}, .writes = {g0}, .stage = stage::backward});
    const auto dw1 = small(1);
    step.add_operator({.name = "dw1", .reads = {g0}, .writes = {dw1}, .stage = stage::backward});
    step.add_operator({.name = "update1", .reads = {dw1, w1}, .writes = {w1}, .stage = stage::update});
    const auto w2 = step.add_buffer({.bytes = 1, .kind = buffer_kind::parameter});
    const auto dw2 = small(1);
    step.add_operator({.name = "dw2", .reads = {g0}, .writes = {dw2}, .stage = stage::backward});
    step.add_operator({.name = "update2", .reads = {dw2, w2}, .writes = {w2}, .stage = stage::update});
    const tensor_graph graph = make_tensor_graph(step);
    const auto early = solve(graph, roam::schedule_updates(graph, {.delay = false}));
    const auto late = solve(graph, roam::schedule_updates(graph));
    CHECK(delayed(roam::schedule_updates(graph)) == 1);
    CHECK(late.peak < early.peak);
    CHECK(late.peak == test::least_peak(graph));
}

namespace {

/// Layers whose backward operator makes both gradients at once, as convolutions do, and Adam in place; the
/// last layers have large weights, the first ones large activations.
tensor_graph convolutions(int layers) {
    program step;
    const auto transient = [&](std::int64_t bytes) { return step.add_buffer({.bytes = bytes}); };
    const auto parameter = [&](std::int64_t bytes) {
        return step.add_buffer({.bytes = bytes, .kind = buffer_kind::parameter});
    };
    std::vector<buffer_id> weight;
    std::vector<buffer_id> x = {transient(400)};
    step.add_operator({.name = "in", .writes = {x[0]}, .stage = stage::forward});
    for (int i = 0; i < layers; ++i) {
        weight.push_back(parameter(100));
        x.push_back(transient(i + 1 == layers ? 4 : 60));
        step.add_operator(
            {.reads = {x[x.size() - 2], weight.back()}, .writes = {x.back()}, .stage = stage::forward});
    }
    buffer_id g = transient(4);
    step.add_operator({.reads = {x.back()}, .writes = {g}, .stage = stage::backward});
    for (auto i = static_cast<std::size_t>(layers); i-- > 0;) {
        const auto dx = transient(4);
        const auto dw = transient(100);
        const auto root = transient(100);
        const auto scaled = transient(100);
        const auto m = parameter(100);
        const auto v = parameter(100);
        step.add_operator(
            {.name = "both", .reads = {g, x[i], weight[i]}, .writes = {dx, dw}, .stage = stage::backward});
        step.add_operator({.name = "m", .reads = {dw, m}, .writes = {m}, .stage = stage::update});
        step.add_operator({.name = "v", .reads = {dw, v}, .writes = {v}, .stage = stage::update});
        step.add_operator({.name = "root", .reads = {v}, .writes = {root}, .stage = stage::update});
        step.add_operator({.name = "scaled", .reads = {root, m}, .writes = {scaled}, .stage = stage::update});
        step.add_operator(
            {.name = "update", .reads = {scaled, weight[i]}, .writes = {weight[i]}, .stage = stage::update});
        g = dx;
    }
    const auto out = step.add_buffer({.bytes = 4, .kind = buffer_kind::output});
    step.add_operator({.reads = {g}, .writes = {out}, .stage = stage::backward});
    return make_tensor_graph(step);
}

}  // namespace

TEST_CASE("what a delay keeps: the cheapest part keeps nothing once Adam has its moments") {
    const tensor_graph graph = convolutions(5);
    const auto peak = [&](roam::delayed_part part) {
        return solve(graph, roam::schedule_updates(graph, {.radius = 0, .alpha = 5, .part = part})).peak;
    };
    const auto cheapest = roam::schedule_updates(graph, {.radius = 0, .alpha = 5});
    REQUIRE(delayed(cheapest) > 1);
    for (const roam::scheduled_branch& branch : cheapest.branches)
        CHECK(branch.at_once == (branch.scheduled == branch.earliest ? 0 : 2));  // m and v
    CHECK(peak(roam::delayed_part::cheapest) < peak(roam::delayed_part::update));
    CHECK(peak(roam::delayed_part::update) == peak(roam::delayed_part::branch));  // the trunk makes gradients
    budget account;
    CHECK(peak(roam::delayed_part::cheapest) == order::plan(graph, order::exact{}, account).peak);
}

TEST_CASE("what a delay keeps: gradients that are larger than what they are made of are made late") {
    const tensor_graph graph = test::training_graph(
        {.layers = 5, .by = optimizer::adam, .weight_bytes = 640, .activation_bytes = 8});
    const roam::update_options cheapest{.radius = 0, .alpha = 5};
    roam::update_options update = cheapest;
    update.part = roam::delayed_part::update;
    const auto late = roam::schedule_updates(graph, cheapest);
    REQUIRE(delayed(late) > 1);
    for (const roam::scheduled_branch& branch : late.branches)
        CHECK(branch.at_once == 0);
    CHECK(solve(graph, late).peak < solve(graph, roam::schedule_updates(graph, update)).peak);
}

TEST_CASE(
    "what the backward pass computes again ties segments together, unless only the trunk is looked at") {
    program step;
    const auto w = step.add_buffer({.bytes = 8, .kind = buffer_kind::parameter});
    std::vector<buffer_id> x = {step.add_buffer({.bytes = 8})};
    step.add_operator({.name = "in", .writes = {x[0]}, .stage = stage::forward});
    for (int i = 0; i < 4; ++i) {
        x.push_back(step.add_buffer({.bytes = 8}));
        step.add_operator({.reads = {x[x.size() - 2], w}, .writes = {x.back()}, .stage = stage::forward});
    }
    buffer_id g = step.add_buffer({.bytes = 8});
    step.add_operator({.reads = {x.back()}, .writes = {g}, .stage = stage::backward});
    for (int i = 4; i-- > 0;) {
        const auto again = step.add_buffer({.bytes = 8});
        const auto next =
            step.add_buffer({.bytes = 8, .kind = i == 0 ? buffer_kind::output : buffer_kind::intermediate});
        step.add_operator(
            {.reads = {x[static_cast<std::size_t>(i)]}, .writes = {again}, .stage = stage::backward});
        step.add_operator({.reads = {g, again}, .writes = {next}, .stage = stage::backward});
        g = next;
    }
    const tensor_graph graph = make_tensor_graph(step);
    const auto trunk = roam::schedule_updates(graph);
    const auto all = roam::schedule_updates(graph, {.trunk = false});
    CHECK(trunk.boundaries.size() == 10);  // all but what is computed again
    CHECK(all.boundaries.size() < 8);
    CHECK_FALSE(trunk.segmentation.independent);
    CHECK(all.segmentation.independent);
    CHECK(solve(graph, all).peak == test::least_peak(graph));
}

TEST_CASE("every schedule of any program is legal, whatever the options") {
    stowage::detail::splitmix64 random(3);
    for (int round = 0; round < 250; ++round) {
        const program made = test::any_program(random, {.operators = 12});
        program staged;  // the same with stages by chance
        for (const buffer_options& buffer : made.buffers())
            staged.add_buffer(buffer);
        for (operator_options op : made.operators()) {
            op.stage = static_cast<stage>(random.below(4));
            staged.add_operator(std::move(op));
        }
        const tensor_graph graph = make_tensor_graph(staged);
        const roam::update_options options{.radius = random.uniform() * 2,
                                           .alpha = 3 * random.uniform(),
                                           .delay = random.below(4) != 0,
                                           .part = static_cast<roam::delayed_part>(random.below(3)),
                                           .trunk = random.below(3) != 0};
        const roam::update_schedule schedule = roam::schedule_updates(graph, options);
        const roam::segmented_order found = solve(graph, schedule);
        const verify::verdict verdict = verify::check_order(graph, found.order);
        REQUIRE_MESSAGE(verdict.ok, verdict.reason);
        CHECK(found.peak == verdict.peak);
        const std::int64_t optimum = test::least_peak(graph);
        CHECK(found.peak >= optimum);
        if (schedule.segmentation.independent) CHECK(found.peak == optimum);
    }
}
