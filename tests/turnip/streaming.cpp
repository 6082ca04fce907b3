#include <doctest/doctest.h>

#include <cstdint>
#include <stowage/graph.hpp>
#include <stowage/turnip/streaming.hpp>
#include <vector>

namespace turnip = stowage::turnip;
using doctest::Approx;

namespace {

/// Layers of one operator: each reads its weight and the result before it; the first result is read by the
/// last layer too.
turnip::taskgraph chain(int layers, double seconds) {
    stowage::program p;
    std::vector<stowage::buffer_id> results;
    for (int l = 0; l < layers; ++l) {
        const auto w = p.add_buffer({.bytes = 10, .kind = stowage::buffer_kind::parameter});
        const auto y = p.add_buffer(
            {.bytes = 4,
             .kind = l + 1 == layers ? stowage::buffer_kind::output : stowage::buffer_kind::intermediate});
        std::vector<stowage::buffer_id> reads = {w};
        if (l > 0) reads.push_back(results.back());
        if (l + 1 == layers && l > 1) reads.push_back(results.front());
        p.add_operator({.reads = reads, .writes = {y}, .seconds = seconds});
        results.push_back(y);
    }
    return turnip::make_taskgraph(stowage::make_tensor_graph(p));
}

constexpr turnip::machine slow = {
    .host_to_device_bytes_per_second = 1, .device_to_host_bytes_per_second = 1, .copy_seconds = 0};

}  // namespace

TEST_CASE("the slower of compute and the next layer's load decides each step") {
    const turnip::streaming_options options{.layer = {0, 1, 2}};
    // Loads 10, 10, 10 + 4 (the first result has gone); stores 4 (the first result) and 4 (the output).
    const auto bound_by_copies = turnip::simulate_streaming(chain(3, 1), slow, options);
    CHECK(bound_by_copies.makespan == Approx(10 + 10 + 14 + 1 + 4));
    CHECK(bound_by_copies.bytes_reloaded == 34);
    CHECK(bound_by_copies.bytes_offloaded == 8);
    CHECK(bound_by_copies.peak_bytes == std::vector<std::int64_t>{40});
    const auto bound_by_compute = turnip::simulate_streaming(chain(3, 20), slow, options);
    CHECK(bound_by_compute.makespan == Approx(10 + 60 + 4));
    const auto waiting =
        turnip::simulate_streaming(chain(3, 20), slow, {.layer = {0, 1, 2}, .overlap_stores = false});
    CHECK(waiting.makespan == Approx(10 + 60 + 8));
}

TEST_CASE("one layer is a plain load, run and store; layers that do not fit are errors") {
    const auto one = turnip::simulate_streaming(chain(3, 1), slow, {.layer = {0, 0, 0}});
    CHECK(one.makespan == Approx(30 + 3 + 4));
    CHECK_THROWS_AS(static_cast<void>(turnip::simulate_streaming(chain(3, 1), slow, {.layer = {0, 0}})),
                    stowage::error);
    CHECK_THROWS_AS(static_cast<void>(turnip::simulate_streaming(chain(3, 1), slow, {.layer = {2, 1, 0}})),
                    stowage::error);
}
