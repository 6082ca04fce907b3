// A network whose weights do not fit the device: compiled into a memgraph and run; docs/cookbook.md explains
// it.
#include <cstddef>
#include <iostream>
#include <span>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip.hpp>
#include <stowage/units.hpp>

// [program]
constexpr std::size_t layers = 12;
constexpr std::size_t width = 64 * 1024;  // floats

stowage::tensor_graph network() {
    using stowage::buffer_kind;
    constexpr std::int64_t bytes = width * sizeof(float);
    stowage::program network;
    auto x = network.add_buffer({.bytes = bytes, .kind = buffer_kind::input, .name = "x"});
    for (std::size_t i = 0; i < layers; ++i) {
        const auto weight = network.add_buffer({.bytes = bytes, .kind = buffer_kind::parameter});
        const bool last = i + 1 == layers;
        const auto y = network.add_buffer(
            {.bytes = bytes, .kind = last ? buffer_kind::output : buffer_kind::intermediate});
        network.add_operator({.reads = {x, weight}, .writes = {y}});
        x = y;
    }
    return make_tensor_graph(network);
}
// [program]

int main() {
    using stowage::KiB;
    // [compile]
    const stowage::turnip::taskgraph task = stowage::turnip::make_taskgraph(network());
    const stowage::turnip::compiled compiled =
        stowage::turnip::compile(task, {.devices = {{.capacity = 1024 * KiB}}, .alignment = 64});
    if (!compiled.ok()) {
        std::cout << compiled.reason << "; " << compiled.least_capacity << " bytes would do\n";
        return 1;
    }
    std::cout << "moves " << compiled.bytes_moved / KiB << " KiB, at least "
              << compiled.bytes_moved_lower_bound / KiB << " KiB: " << to_string(compiled.status) << '\n';
    // [compile]
    // [run]
    const auto kernels = [](const auto& call) {  // one callable for all operators; call.op says which one
        const std::span<const float> x = call.template input<float>(0);
        const std::span<const float> weight = call.template input<float>(1);
        const std::span<float> y = call.template output<float>(0);
        for (std::size_t i = 0; i < y.size(); ++i)
            y[i] = x[i] * weight[i] + 1;
    };
    stowage::exec::host_device device;
    stowage::exec::executor executor{task.program, compiled.memgraph, kernels, device};
    const std::vector<float> twos(width, 2.0F);
    for (stowage::buffer_index b = 0; b < task.program.buffer_count(); ++b) {
        if (is_alive_at_start(task.program.kind(b))) executor.write(b, std::as_bytes(std::span(twos)));
    }
    const stowage::exec::run_report& report = executor.run();
    std::vector<float> y(width);
    executor.read(static_cast<stowage::buffer_index>(task.program.buffer_count() - 1),
                  std::as_writable_bytes(std::span(y)));
    std::cout << to_string(report.status) << ", y[0] = " << y[0] << '\n';
    // [run]
}
