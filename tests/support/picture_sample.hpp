#pragma once
// A small program with every kind of box, with names that need care in HTML and XML, and a plan for it.

#include <stowage/graph.hpp>
#include <stowage/roam/plan.hpp>

namespace stowage::test {

inline tensor_graph sample_graph() {
    program step;
    const auto x = step.add_buffer({.bytes = 1000, .kind = buffer_kind::input, .name = "x"});
    const auto d = step.add_buffer({.bytes = 200, .kind = buffer_kind::donated, .name = "d & e"});
    const auto a = step.add_buffer({.bytes = 300, .name = "a"});
    const auto b = step.add_buffer({.bytes = 400});
    const auto y = step.add_buffer({.bytes = 100, .kind = buffer_kind::output, .name = "</script>\"y\""});
    step.add_operator({.name = "load", .reads = {x, d}, .writes = {a}, .stage = stage::forward});
    step.add_operator(
        {.name = "scale <1>", .reads = {a}, .writes = {b}, .workspace = 50, .stage = stage::backward});
    step.add_operator({.name = "sum", .reads = {a, b}, .writes = {y}, .stage = stage::update});
    return make_tensor_graph(step);
}

inline plan sample_plan(const tensor_graph& graph) {
    plan made;
    made.order = program_order(graph);
    made.offsets = {-1, 0, 200, 500, 0};
    made.workspace_offsets = {-1, 900, -1};
    made.peak = {.bytes = 800, .lower_bound = 800};
    made.arena = {.bytes = 950, .lower_bound = 800};
    made.fingerprint = graph.fingerprint();
    return made;
}

}  // namespace stowage::test
