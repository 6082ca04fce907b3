// A program of five operators, planned in one call; README.md explains it.
#include <iostream>
#include <stowage/stowage.hpp>

int main() {
    using stowage::MiB;
    stowage::program step;
    const auto x = step.add_buffer({.bytes = 1 * MiB, .kind = stowage::buffer_kind::input, .name = "x"});
    const auto wide_a = step.add_buffer({.bytes = 32 * MiB, .name = "wide_a"});
    const auto wide_b = step.add_buffer({.bytes = 64 * MiB, .name = "wide_b"});
    const auto a = step.add_buffer({.bytes = 4 * MiB, .name = "a"});
    const auto b = step.add_buffer({.bytes = 4 * MiB, .name = "b"});
    const auto y = step.add_buffer({.bytes = 4 * MiB, .kind = stowage::buffer_kind::output, .name = "y"});
    step.add_operator({.name = "widen_a", .reads = {x}, .writes = {wide_a}});
    step.add_operator({.name = "widen_b", .reads = {x}, .writes = {wide_b}});
    step.add_operator({.name = "narrow_a", .reads = {wide_a}, .writes = {a}, .workspace = 2 * MiB});
    step.add_operator({.name = "narrow_b", .reads = {wide_b}, .writes = {b}, .workspace = 2 * MiB});
    step.add_operator({.name = "add", .reads = {a, b}, .writes = {y}});

    const stowage::plan plan = stowage::roam::best(step, {.alignment = 256});
    for (const auto op : plan.order)
        std::cout << step.operators()[op].name << ' ';
    std::cout << "\narena " << plan.arena.bytes / MiB << " MiB, at least " << plan.arena.lower_bound / MiB
              << " MiB: " << to_string(plan.status) << "; y lies at byte " << plan.offset(y) << '\n';
}
