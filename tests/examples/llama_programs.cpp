#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <stowage/graph.hpp>
#include <string>

#include "../../examples/llama_programs.hpp"

namespace {

struct sums {
    double weights = 0;
    double states = 0;
    double outputs = 0;
    double flops = 0;
    std::set<std::uint32_t> devices;
};

sums sums_of(const stowage::tensor_graph& graph) {
    sums result;
    for (stowage::buffer_index b = 0; b < graph.buffer_count(); ++b) {
        const auto bytes = static_cast<double>(graph.bytes(b));
        if (graph.kind(b) == stowage::buffer_kind::parameter) result.weights += bytes;
        if (graph.kind(b) == stowage::buffer_kind::optimizer_state) result.states += bytes;
        if (graph.kind(b) == stowage::buffer_kind::output) result.outputs += bytes;
        CHECK_FALSE(graph.users(b).empty());
    }
    for (stowage::operator_index op = 0; op < graph.operator_count(); ++op) {
        result.flops += graph.flops(op).value_or(0);
        result.devices.insert(graph.device(op));
    }
    return result;
}

}  // namespace

TEST_CASE(
    "prefill: the published numbers of parameters, keys and values kept, two flops a weight and token") {
    const struct {
        examples::llama_shape shape;
        double billions;
    } models[] = {{examples::llama_7b(), 6.74}, {examples::llama_13b(), 13.0}, {examples::llama_65b(), 65.3}};
    for (const auto& [shape, billions] : models) {
        CAPTURE(shape.name);
        const examples::llama_run run{.sequence = 2048, .batch = 2};
        const examples::llama_program made = examples::llama_prefill(shape, run);
        const auto graph = stowage::make_tensor_graph(made.program);
        CHECK(made.layer.size() == graph.operator_count());
        CHECK(made.layer.back() == shape.layers + 1);
        const sums found = sums_of(graph);
        CHECK(std::abs(found.weights / 2e9 - billions) < 0.02 * billions);
        const double tokens = 4096;
        const auto h = static_cast<double>(shape.hidden);
        const auto layers = static_cast<double>(shape.layers);
        CHECK(found.outputs == doctest::Approx(layers * 2 * tokens * h * 2 + 2 * 32'000 * 2));
        const double dense = found.weights / 2 - 2 * 32'000 * h - (2 * layers + 1) * h;
        CHECK(found.flops ==
              doctest::Approx(2 * dense * tokens + layers * 2 * tokens * 2048 * h + 2 * 2 * h * 32'000));
    }
}

TEST_CASE("tensor parallelism parts weights and work among the devices") {
    const auto shape = examples::llama_7b();
    const sums one =
        sums_of(stowage::make_tensor_graph(examples::llama_prefill(shape, {.sequence = 512}).program));
    const sums four = sums_of(
        stowage::make_tensor_graph(examples::llama_prefill(shape, {.sequence = 512, .devices = 4}).program));
    CHECK(four.devices == std::set<std::uint32_t>{0, 1, 2, 3});
    CHECK(four.flops == doctest::Approx(one.flops));
    CHECK(four.weights == doctest::Approx(one.weights).epsilon(0.001));  // the norms are everywhere
    CHECK(four.outputs == doctest::Approx(one.outputs));
}

TEST_CASE("LoRA: four matrices a layer with two moments each, about three times the forward pass's work") {
    const auto shape = examples::llama_7b();
    const examples::llama_run run{.sequence = 1024, .devices = 2, .rank = 16};
    const examples::llama_program made = examples::llama_lora_step(shape, run);
    const auto graph = stowage::make_tensor_graph(made.program);
    const sums step = sums_of(graph);
    CHECK(step.states == doctest::Approx(32.0 * 4 * 16 * 4096 * 4 * 2));
    CHECK(step.devices == std::set<std::uint32_t>{0, 1});
    const sums pass =
        sums_of(stowage::make_tensor_graph(examples::llama_prefill(shape, {.sequence = 1024}).program));
    // Frozen weights have no gradients: twice, not three times, and the head runs for every token.
    CHECK(step.flops / pass.flops > 1.9);
    CHECK(step.flops / pass.flops < 2.5);
    std::set<stowage::stage> stages;
    for (stowage::operator_index op = 0; op < graph.operator_count(); ++op)
        stages.insert(graph.stage(op));
    CHECK(stages.size() == 3);
    for (std::size_t i = 1; i < made.layer.size(); ++i)
        CHECK(made.layer[i - 1] <= made.layer[i]);
}
