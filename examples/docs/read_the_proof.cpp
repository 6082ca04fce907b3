// docs/cookbook.md, "Read the proof".
#include <iostream>

#include <stowage/order.hpp>
#include <stowage/roam.hpp>
#include <stowage/verify.hpp>

int main() {
    stowage::program step;
    const auto a = step.add_buffer({.bytes = 32, .name = "a"});
    const auto b = step.add_buffer({.bytes = 64, .name = "b"});
    const auto c = step.add_buffer({.bytes = 4, .name = "c"});
    const auto d = step.add_buffer({.bytes = 4, .name = "d"});
    const auto y = step.add_buffer({.bytes = 4, .kind = stowage::buffer_kind::output, .name = "y"});
    step.add_operator({.name = "make_a", .writes = {a}});
    step.add_operator({.name = "make_b", .writes = {b}});
    step.add_operator({.name = "shrink_a", .reads = {a}, .writes = {c}});
    step.add_operator({.name = "shrink_b", .reads = {b}, .writes = {d}});
    step.add_operator({.name = "add", .reads = {c, d}, .writes = {y}});
    // [witness]
    const stowage::tensor_graph graph = stowage::make_tensor_graph(step);
    const stowage::plan plan = stowage::roam::best(graph);
    std::cout << "arena " << plan.arena.bytes << ", bound " << plan.arena.lower_bound << ", gap "
              << 100 * plan.arena.gap() << "%, " << to_string(plan.status) << '\n';
    std::cout << "why: " << plan.witness.rule;
    if (plan.witness.at != stowage::no_operator) std::cout << " at " << graph.operator_name(plan.witness.at);
    std::cout << '\n';
    // [witness]
    // [check]
    const auto bound = stowage::order::min_cut_bound(graph);  // computed anew, whatever the plan says
    std::cout << "min cut: " << bound.bytes << " at " << graph.operator_name(bound.witness.at) << '\n';

    if (const auto verdict = stowage::verify::check_plan(graph, plan); !verdict)
        std::cout << verdict.reason << '\n';
    stowage::plan wrong = plan;
    wrong.offsets[0] = wrong.offsets[2];
    std::cout << stowage::verify::check_plan(graph, wrong).reason << '\n';
    // [check]
}
