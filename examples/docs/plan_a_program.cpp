// docs/cookbook.md, "Plan a program".
#include <chrono>
#include <iostream>

// [program]
#include <stowage/roam.hpp>
#include <stowage/units.hpp>

stowage::program training_step() {
    using stowage::buffer_kind;
    using stowage::MiB;
    stowage::program step;
    const auto x = step.add_buffer({.bytes = 4 * MiB, .kind = buffer_kind::input, .name = "x"});
    const auto w1 = step.add_buffer({.bytes = 64 * MiB, .kind = buffer_kind::parameter, .name = "w1"});
    const auto w2 = step.add_buffer({.bytes = 64 * MiB, .kind = buffer_kind::parameter, .name = "w2"});
    const auto h = step.add_buffer({.bytes = 16 * MiB, .name = "h"});
    const auto y = step.add_buffer({.bytes = 4 * MiB, .name = "y"});
    const auto loss = step.add_buffer({.bytes = 4, .kind = buffer_kind::output, .name = "loss"});
    const auto dy = step.add_buffer({.bytes = 4 * MiB, .name = "dy"});
    const auto dh = step.add_buffer({.bytes = 16 * MiB, .name = "dh"});
    const auto dw1 = step.add_buffer({.bytes = 64 * MiB, .name = "dw1"});
    const auto dw2 = step.add_buffer({.bytes = 64 * MiB, .name = "dw2"});

    step.add_operator({.name = "matmul1", .reads = {x, w1}, .writes = {h}, .workspace = 4 * MiB});
    step.add_operator(
        {.name = "relu", .reads = {h}, .writes = {h}});  // in place: one buffer, read and written
    step.add_operator({.name = "matmul2", .reads = {h, w2}, .writes = {y}, .workspace = 4 * MiB});
    step.add_operator({.name = "loss", .reads = {y}, .writes = {loss}});
    step.add_operator({.name = "d_loss", .reads = {y, loss}, .writes = {dy}});
    step.add_operator({.name = "d_matmul2", .reads = {dy, h, w2}, .writes = {dh, dw2}});
    step.add_operator({.name = "d_relu", .reads = {dh, h}, .writes = {dh}});
    step.add_operator({.name = "d_matmul1", .reads = {dh, x}, .writes = {dw1}});
    step.add_operator({.name = "update1", .reads = {w1, dw1}, .writes = {w1}});
    step.add_operator({.name = "update2", .reads = {w2, dw2}, .writes = {w2}});
    return step;
}
// [program]

int main() {
    const stowage::program step = training_step();
    const auto print = [&](const stowage::plan& plan) {
        std::cout << "order:";
        for (const stowage::operator_index op : plan.order)
            std::cout << ' ' << step.operators()[op].name;
        std::cout << "\narena " << plan.arena.bytes << ", proven least " << plan.arena.lower_bound << ", "
                  << to_string(plan.status) << "\n";
        for (std::size_t b = 0; b < plan.offsets.size(); ++b) {
            if (plan.offsets[b] >= 0)
                std::cout << step.buffers()[b].name << " at " << plan.offsets[b] << "\n";
        }
    };
    // [call]
    const stowage::plan plan = stowage::roam::best(step, {.alignment = 256});
    print(plan);
    // [call]
    // [budget]
    using namespace std::chrono_literals;
    const stowage::plan quick = stowage::roam::best(step, {.alignment = 256, .budget = 50ms});
    // [budget]
    return quick.arena.bytes <= plan.arena.bytes ? 0 : 1;
}
