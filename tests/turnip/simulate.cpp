#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stowage/graph.hpp>
#include <stowage/turnip/simulate.hpp>
#include <utility>
#include <vector>

#include "support/error_text.hpp"
#include "support/naive_memgraph.hpp"
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using doctest::Approx;
using stowage::tensor_graph;
using turnip::machine;
using turnip::simulate;
using turnip::simulation;

namespace {

/// A byte a second each way, no latencies.
constexpr machine slow = {.flops_per_second = 1,
                          .bytes_per_second = 1e9,
                          .host_to_device_bytes_per_second = 1,
                          .device_to_host_bytes_per_second = 1,
                          .peer_bytes_per_second = 1,
                          .launch_seconds = 0,
                          .copy_seconds = 0};

/// Figure 1 of the paper: while an offload and a reload are in flight, kernel X waits for the bytes that the
/// offload reads, kernel Y for the contents that the reload brings.
struct two_kernels {
    tensor_graph program;
    turnip::memgraph graph;

    two_kernels(std::int64_t leaving, std::int64_t coming) {
        stowage::program p;
        const auto old = p.add_buffer({.bytes = leaving, .name = "old"});
        const auto weight =
            p.add_buffer({.bytes = coming, .kind = stowage::buffer_kind::parameter, .name = "weight"});
        const auto x = p.add_buffer({.bytes = leaving, .kind = stowage::buffer_kind::output, .name = "x"});
        const auto y = p.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::output, .name = "y"});
        const auto z = p.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::output, .name = "z"});
        p.add_operator({.name = "make", .writes = {old}, .seconds = 0.0});
        p.add_operator({.name = "X", .writes = {x}, .seconds = 4.0});
        p.add_operator({.name = "Y", .reads = {weight}, .writes = {y}, .seconds = 4.0});
        p.add_operator({.name = "use", .reads = {old}, .writes = {z}, .seconds = 0.0});
        program = stowage::make_tensor_graph(p);
        using turnip::vertex_kind;
        graph.fingerprint = program.fingerprint();
        graph.arena_bytes = {2 * leaving + coming + 2};
        graph.host_bytes = leaving + coming;
        const std::int64_t end = 2 * leaving + coming;
        add({.op = 0}, {}, {{0, 0, 0}});                                                             // 0
        add({.kind = vertex_kind::offload, .host_address = coming}, {{0, 0, 0}}, {});                // 1
        add({.kind = vertex_kind::reload, .host_address = 0}, {}, {{1, 0, leaving}});                // 2
        add({.op = 1}, {}, {{2, 0, 0}});                                                             // 3: X
        add({.op = 2}, {{1, 0, leaving}}, {{3, 0, end}});                                            // 4: Y
        add({.kind = vertex_kind::reload, .host_address = coming}, {}, {{0, 0, leaving + coming}});  // 5
        add({.op = 3}, {{0, 0, leaving + coming}}, {{4, 0, end + 1}});                               // 6
        graph.edges = {{0, 1}, {1, 3, turnip::edge_kind::memory}, {2, 4}, {1, 5}, {5, 6}};
        graph.start = {{1, turnip::host, 0}};
        graph.final = {{2, 0, 0}, {3, 0, end}, {4, 0, end + 1}};
    }
    void add(const turnip::vertex& v, std::vector<turnip::operand> reads,
             std::vector<turnip::operand> writes) {
        graph.add(v, reads, writes);
    }
};

tensor_graph random_tasks(std::uint64_t seed) {
    return stowage::make_tensor_graph(
        stowage::test::random_program(seed, {.operators = 4 + seed % 20, .largest = 12}));
}

turnip::memgraph random_graph(const tensor_graph& program, std::uint64_t seed) {
    return stowage::test::naive_memgraph(program, seed,
                                         {.devices = static_cast<std::uint32_t>(1 + seed % 3), .slack = 4});
}

}  // namespace

TEST_CASE("whichever copy ends first, its kernel starts at once; a fixed order idles") {
    for (const bool reload_wins : {false, true}) {
        const two_kernels sample = reload_wins ? two_kernels(6, 2) : two_kernels(2, 6);
        const simulation open = simulate(sample.program, sample.graph, slow);
        const std::size_t first = reload_wins ? 4 : 3;
        CHECK(open.runs[first].begin == Approx(2));
        CHECK(open.runs[7 - first].begin == Approx(6));
        CHECK(open.devices[0].compute == Approx(8));
        const simulation fixed =
            simulate(sample.program, sample.graph, slow, {.schedule = turnip::schedule::fixed_order});
        CHECK(fixed.runs[3].begin == Approx(reload_wins ? 6 : 2));
        CHECK(fixed.runs[4].begin == Approx(reload_wins ? 10 : 6));
        if (reload_wins) {
            CHECK(open.devices[0].waiting_for_data == Approx(4));
            CHECK(fixed.devices[0].waiting_for_memory == Approx(6));
        } else {
            CHECK(open.devices[0].waiting_for_memory == Approx(2));
        }
    }
}

TEST_CASE("lanes: copies wait for their lane, and an operator that waits for them knows why") {
    stowage::program p;
    const auto a = p.add_buffer({.bytes = 3, .kind = stowage::buffer_kind::parameter});
    const auto b = p.add_buffer({.bytes = 5, .kind = stowage::buffer_kind::parameter});
    const auto y = p.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::output});
    p.add_operator({.reads = {a, b}, .writes = {y}, .seconds = 1.0});
    const tensor_graph program = stowage::make_tensor_graph(p);
    turnip::memgraph graph;
    graph.fingerprint = program.fingerprint();
    graph.arena_bytes = {9};
    graph.host_bytes = 8;
    const std::vector<turnip::operand> none;
    const std::vector<turnip::operand> at_a = {{0, 0, 0}};
    const std::vector<turnip::operand> at_b = {{1, 0, 3}};
    graph.add({.kind = turnip::vertex_kind::reload, .host_address = 0}, none, at_a);
    graph.add({.kind = turnip::vertex_kind::reload, .host_address = 3}, none, at_b);
    graph.add({.op = 0}, std::vector<turnip::operand>{{0, 0, 0}, {1, 0, 3}},
              std::vector<turnip::operand>{{2, 0, 8}});
    graph.edges = {{0, 2}, {1, 2}};
    graph.start = {{0, turnip::host, 0}, {1, turnip::host, 3}};
    graph.final = {{2, 0, 8}};
    const simulation run = simulate(program, graph, slow);
    CHECK(run.makespan == Approx(9));
    CHECK(run.lanes ==
          std::vector<turnip::lane>{{turnip::lane_kind::reload, 0, 0}, {turnip::lane_kind::compute, 0, 0}});
    CHECK(run.devices[0].waiting_for_lane == Approx(3));
    CHECK(run.devices[0].waiting_for_data == Approx(5));
    CHECK(run.devices[0].reload == Approx(8));
    CHECK(run.bytes_reloaded == 8);
    CHECK(run.devices[0].peak_bytes == 9);
}

TEST_CASE("random memgraphs: dependencies and lanes are kept, sums agree, bounds hold") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const tensor_graph program = random_tasks(seed);
        const turnip::memgraph graph = random_graph(program, seed);
        machine m = slow;
        m.compute_lanes = 1 + static_cast<std::uint32_t>(seed % 2);
        m.launch_seconds = 1;
        m.copy_seconds = 0.5;
        m.jitter = seed % 4 == 0 ? 0.3 : 0;
        for (const auto schedule :
             {turnip::schedule::event_driven, turnip::schedule::fixed_order, turnip::schedule::synchronous}) {
            for (const auto priority : {turnip::priority::critical, turnip::priority::need,
                                        turnip::priority::fifo, turnip::priority::random}) {
                const turnip::simulate_options options{
                    .schedule = schedule, .priority = priority, .seed = seed};
                const simulation run = simulate(program, graph, m, options);
                for (const turnip::edge& e : graph.edges)
                    CHECK(run.runs[e.from].end <= run.runs[e.to].begin);
                std::vector<std::vector<std::pair<double, double>>> spans(run.lanes.size());
                double total = 0;
                double latest = 0;
                for (turnip::vertex_index v = 0; v < graph.vertices.size(); ++v) {
                    const turnip::vertex_run& at = run.runs[v];
                    CHECK(at.ready <= at.begin);
                    const double plain = turnip::vertex_seconds(program, graph, v, m);
                    CHECK(at.end - at.begin >= (1 - m.jitter) * plain - 1e-9);
                    CHECK(at.end - at.begin <= (1 + m.jitter) * plain + 1e-9);
                    spans[at.lane].emplace_back(at.begin, at.end);
                    total += at.end - at.begin;
                    latest = std::max(latest, at.end);
                }
                CHECK(run.makespan == Approx(latest));
                CHECK(run.makespan <= Approx(total));
                double accounted = 0;
                double expected = 0;
                for (std::size_t l = 0; l < spans.size(); ++l) {
                    std::sort(spans[l].begin(), spans[l].end());
                    for (std::size_t i = 1; i < spans[l].size(); ++i)
                        CHECK(spans[l][i - 1].second <= spans[l][i].first + 1e-12);
                    if (run.lanes[l].kind == turnip::lane_kind::compute) expected += spans[l].back().second;
                }
                for (std::size_t d = 0; d < run.devices.size(); ++d) {
                    const turnip::device_use& use = run.devices[d];
                    accounted +=
                        use.compute + use.waiting_for_data + use.waiting_for_memory + use.waiting_for_lane;
                    CHECK(use.peak_bytes <= graph.arena_bytes[d]);
                }
                CHECK(accounted == Approx(expected));
                const simulation again = simulate(program, graph, m, options);
                CHECK(again.makespan == run.makespan);
                if (schedule == turnip::schedule::synchronous && graph.arena_bytes.size() == 1) {
                    CHECK(run.makespan == Approx(total));
                }
            }
        }
    }
}

TEST_CASE("the seed decides the jitter, and nothing else does") {
    const tensor_graph program = random_tasks(8);
    const turnip::memgraph graph = random_graph(program, 8);
    machine m = slow;
    m.jitter = 0.5;
    m.launch_seconds = 1;
    const auto took = [&](const turnip::simulate_options& options) {
        std::vector<double> list;
        for (const turnip::vertex_run& run : simulate(program, graph, m, options).runs)
            list.push_back(run.end - run.begin);
        return list;
    };
    const auto first = took({.seed = 1});
    const auto fixed = took({.schedule = turnip::schedule::fixed_order, .seed = 1});
    for (std::size_t v = 0; v < first.size(); ++v)
        CHECK(first[v] == Approx(fixed[v]));
    CHECK(first != took({.seed = 2}));
}

TEST_CASE("what cannot be simulated is an error") {
    using stowage::test::error_text;
    two_kernels sample(2, 3);
    const auto text = [&](const machine& m) {
        return error_text<stowage::error>(
            [&] { static_cast<void>(simulate(sample.program, sample.graph, m)); });
    };
    machine m = slow;
    m.flops_per_second = 0;
    CHECK(text(m) == "machine: flops_per_second is not positive");
    m = slow;
    m.launch_seconds = -1;
    CHECK(text(m) == "machine: launch_seconds is not from 0 to 1e9 seconds");
    m = slow;
    m.compute_lanes = 0;
    CHECK(text(m) == "machine: compute_lanes is 0");
    m = slow;
    m.jitter = 2;
    CHECK(text(m) == "machine: jitter is not from 0 to 1");
    sample.graph.edges.push_back({6, 0});
    CHECK(text(slow) == "the memgraph has a cycle");
    sample.graph.edges.back().to = 99;
    CHECK(text(slow) == "an edge names a vertex that does not exist");
    sample.graph.fingerprint ^= 1;
    CHECK(text(slow) == "the memgraph was made for another program");
}

TEST_CASE("the cost model: given seconds, else launch and the longer of arithmetic and traffic") {
    stowage::program p;
    const auto a = p.add_buffer({.bytes = 1'000, .kind = stowage::buffer_kind::input});
    const auto y = p.add_buffer({.bytes = 500, .kind = stowage::buffer_kind::output});
    p.add_operator({.reads = {a}, .writes = {y}, .flops = 2e6});
    p.add_operator({.reads = {a}, .writes = {y}});
    p.add_operator({.reads = {a}, .writes = {y}, .flops = 2e6, .seconds = 0.25});
    const tensor_graph program = stowage::make_tensor_graph(p);
    const machine m{
        .flops_per_second = 1e6, .bytes_per_second = 1e3, .launch_seconds = 0.5, .copy_seconds = 2};
    CHECK(turnip::operator_seconds(program, 0, m) == Approx(2.5));
    CHECK(turnip::operator_seconds(program, 1, m) == Approx(2.0));
    CHECK(turnip::operator_seconds(program, 2, m) == Approx(0.25));
    using turnip::vertex_kind;
    CHECK(turnip::move_seconds(vertex_kind::offload, 50'000'000'000, m) == Approx(4));
    CHECK(turnip::move_seconds(vertex_kind::reload, 25'000'000'000, m) == Approx(3));
    CHECK(turnip::move_seconds(vertex_kind::transfer, 50'000'000'000, m) == Approx(3));
    CHECK(turnip::move_seconds(vertex_kind::transfer, 500, m, true) == Approx(3));
}
