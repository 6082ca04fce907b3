#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stowage/graph.hpp>
#include <stowage/turnip/place_by_layers.hpp>
#include <vector>

namespace turnip = stowage::turnip;
using stowage::buffer_kind;

namespace {

/// A training step of `layers` products: the backward pass reads each layer's input and weights, and an
/// update its gradient and state. Operators: forward 0 to layers - 1, loss, then backward and update of each.
stowage::program training_chain(int layers) {
    stowage::program step;
    std::vector<stowage::buffer_id> x{step.add_buffer({.bytes = 64, .kind = buffer_kind::input})};
    std::vector<stowage::buffer_id> w;
    for (int l = 0; l < layers; ++l) {
        w.push_back(step.add_buffer({.bytes = 1000, .kind = buffer_kind::parameter}));
        x.push_back(step.add_buffer({.bytes = 64}));
        step.add_operator({.reads = {x[x.size() - 2], w.back()}, .writes = {x.back()}, .seconds = 1.0});
    }
    const auto loss = step.add_buffer({.bytes = 4, .kind = buffer_kind::output});
    auto d = step.add_buffer({.bytes = 64});
    step.add_operator({.reads = {x.back()}, .writes = {loss, d}, .seconds = 0.0});
    for (int l = layers - 1; l >= 0; --l) {
        const auto at = static_cast<std::size_t>(l);
        const auto state = step.add_buffer({.bytes = 1000, .kind = buffer_kind::optimizer_state});
        const auto gradient = step.add_buffer({.bytes = 1000});
        const auto next = step.add_buffer({.bytes = 64});
        step.add_operator({.reads = {d, x[at], w[at]}, .writes = {gradient, next}, .seconds = 2.0});
        step.add_operator({.reads = {gradient, w[at], state}, .writes = {w[at], state}, .seconds = 0.5});
        d = next;
    }
    return step;
}

}  // namespace

TEST_CASE("a layer's backward pass and update are where its forward pass is") {
    constexpr std::size_t layers = 12;
    const auto program = stowage::make_tensor_graph(training_chain(layers));
    const auto order = stowage::program_order(program);
    for (const std::uint32_t devices : {2U, 3U, 4U}) {
        CAPTURE(devices);
        const auto placed = turnip::place_by_layers(program, order, devices);
        std::vector<double> seconds(devices, 0);
        for (std::size_t op = 0; op < program.operator_count(); ++op)
            seconds[placed[op]] +=
                turnip::operator_seconds(program, static_cast<stowage::operator_index>(op), {});
        for (std::size_t l = 0; l < layers; ++l) {
            CHECK(placed[layers + 1 + 2 * (layers - 1 - l)] == placed[l]);
            CHECK(placed[layers + 2 + 2 * (layers - 1 - l)] == placed[l]);
            if (l > 0) CHECK(placed[l] >= placed[l - 1]);
        }
        CHECK(*std::max_element(seconds.begin(), seconds.end()) <=
              3.5 * (static_cast<double>(layers) / devices + 1));
    }
}

TEST_CASE("one pass alone is cut into consecutive parts; there must be a device") {
    stowage::program step;
    auto last = step.add_buffer({.bytes = 100, .kind = buffer_kind::input});
    for (int i = 0; i < 20; ++i) {
        const auto next = step.add_buffer({.bytes = 100});
        step.add_operator({.reads = {last}, .writes = {next}, .seconds = 1.0});
        last = next;
    }
    const auto program = stowage::make_tensor_graph(step);
    const auto order = stowage::program_order(program);
    CHECK(turnip::place_by_layers(program, order, 3) == turnip::place_in_parts(program, order, 3));
    CHECK_THROWS_AS(static_cast<void>(turnip::place_by_layers(program, order, 0)), stowage::error);
    CHECK(turnip::place_by_layers(stowage::make_tensor_graph(stowage::program{}), {}, 3).empty());
}
