// ctest-label: threads
// The executor on random memgraphs: the contents are those of a sequential run, whatever the device, the
// priority, the window, the notifier and the seed.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <stowage/exec.hpp>

#include "support/random_memgraph.hpp"

using namespace stowage;
using test::make_random_memgraph;

namespace {

template <class Device>
void run_and_check(const test::random_memgraph& made, Device& device, const exec::executor_options& options,
                   std::uint64_t seed, int runs = 2) {
    const exec::synthetic_digests digests(made.program);
    const exec::synthetic_kernels kernels(made.program, digests);
    exec::executor executor{made.program, made.graph, kernels, device, options};
    for (int i = 0; i < runs; ++i) {
        kernels.fill(executor, made.graph.start);
        const exec::run_report& report = executor.run({.seed = seed + static_cast<std::uint64_t>(i)});
        const std::string error = report.error ? report.error->text() : "";
        CHECK_MESSAGE(report.status == exec::run_status::ok, error);
        CHECK(report.vertices == made.graph.vertices.size());
        kernels.check(executor, made.graph.final);
    }
}

[[nodiscard]] exec::any_priority priority_of(std::uint64_t index) {
    if (index % 4 == 0) return exec::fifo{};
    if (index % 4 == 1) return exec::critical_path{};
    if (index % 4 == 2) return exec::need{};
    return exec::seeded_random{};
}

}  // namespace

TEST_CASE("inline runs give the sequential contents") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto made = make_random_memgraph(seed, {.devices = 1 + static_cast<std::uint32_t>(seed % 3)});
        exec::inline_device device({.compute_lanes = 1 + static_cast<std::uint32_t>(seed % 2)});
        run_and_check(made, device, {.priority = priority_of(seed)}, seed);
    }
}

TEST_CASE("runs in virtual time give the sequential contents, and the same run for the same seed") {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const auto made = make_random_memgraph(seed, {.devices = 1 + static_cast<std::uint32_t>(seed % 3)});
        exec::simulated_device device({.compute_lanes = 1 + static_cast<std::uint32_t>(seed % 2),
                                       .duration = exec::modelled_duration{&made.program, &made.graph},
                                       .jitter = 0.9});
        const exec::executor_options options{.priority = priority_of(seed / 3),
                                             .window = 1 + static_cast<std::uint32_t>(seed % 5),
                                             .copy_window = 1 + static_cast<std::uint32_t>(seed / 5 % 3),
                                             .copy_chunk_bytes = seed % 2 == 0 ? 0 : 16};
        run_and_check(made, device, options, seed, 4);

        const exec::synthetic_digests digests(made.program);
        const exec::synthetic_kernels kernels(made.program, digests);
        exec::executor executor{made.program, made.graph, kernels, device, options};
        kernels.fill(executor, made.graph.start);
        const auto first = executor.run({.seed = seed}).makespan;
        kernels.fill(executor, made.graph.start);
        CHECK(executor.run({.seed = seed}).makespan == first);
    }
}

TEST_CASE("runs on threads give the sequential contents") {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const auto made = make_random_memgraph(
            seed, {.operators = 40, .devices = 1 + static_cast<std::uint32_t>(seed % 2)});
        exec::host_device device({.compute_lanes = 1 + static_cast<std::uint32_t>(seed % 3 == 0),
                                  .notifier = static_cast<exec::notifier>(seed % 3)});
        run_and_check(made, device,
                      {.priority = priority_of(seed),
                       .window = static_cast<std::uint32_t>(seed / 2 % 5),
                       .copy_window = 1 + static_cast<std::uint32_t>(seed % 4),
                       .copy_chunk_bytes = seed % 4 == 1 ? 16 : 0},
                      seed, 3);
    }
}

TEST_CASE("a memgraph that lacks an edge is found out by its contents, in some order") {
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        auto made = make_random_memgraph(seed);
        made.graph.edges.erase(made.graph.edges.begin() +
                               static_cast<std::ptrdiff_t>(seed * 5 % made.graph.edges.size()));
        const exec::synthetic_digests digests(made.program);
        const exec::synthetic_kernels kernels(made.program, digests);
        exec::simulated_device device({.compute_lanes = 2,
                                       .duration = exec::modelled_duration{&made.program, &made.graph},
                                       .jitter = 0.9});
        exec::executor executor{
            made.program, made.graph, kernels, device, {.priority = exec::seeded_random{}}};
        bool wrong = false;
        for (std::uint64_t run = 0; run < 20 && !wrong; ++run) {
            kernels.fill(executor, made.graph.start);
            wrong = !executor.run({.seed = run});
            if (wrong) CHECK(executor.report().error->message.find("wrong contents") != std::string::npos);
        }
        if (wrong) ++found;
    }
    CHECK(found >= 3);
}

TEST_CASE(
    "on the host a lane has its next operators before the first has ended; lanes of copies hold fewer") {
    program source;
    turnip::memgraph graph;
    graph.arena_bytes = {0};
    for (std::uint32_t v = 0; v < 6; ++v) {
        source.add_operator({});
        graph.add({.op = v}, {}, {});
        if (v > 0) graph.edges.push_back({v - 1, v, turnip::edge_kind::control});
    }
    const tensor_graph chain = make_tensor_graph(source);
    std::atomic<std::uint32_t> submitted{0};
    exec::host_device device({.inject = [&](const exec::lane_work&) {
        ++submitted;
        return exec::injection{};
    }});
    std::uint32_t seen = 0;
    const auto kernel = [&](const exec::kernel_call<exec::lane_index>& call) {
        if (call.op != 0) return;
        for (int nap = 0; nap < 5000 && submitted.load() < 6; ++nap)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        seen = submitted.load();
    };
    exec::executor executor{chain, graph, kernel, device};
    CHECK(executor.run());
    CHECK(seen == 6);

    exec::detail::flight_rings flights;
    flights.prepare(2, 4);
    flights.limit(1, 2);
    for (std::uint32_t v = 0; v < 2; ++v) {
        flights.push(0, {.vertex = v});
        flights.push(1, {.vertex = v});
    }
    CHECK_FALSE(flights.full(0));
    CHECK(flights.full(1));
    flights.clear();
    CHECK_FALSE(flights.full(1));
}
