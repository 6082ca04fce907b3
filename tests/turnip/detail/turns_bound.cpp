#include <stowage/turnip/detail/turns_bound.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/turnip/simulate.hpp>
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using turnip::detail::timed_job;

TEST_CASE("Jackson's schedule is the largest over all sets of first head, sum and least tail") {
    stowage::detail::splitmix64 random(7);
    for (int round = 0; round < 300; ++round) {
        std::vector<timed_job> jobs(1 + random.below(9));
        for (timed_job& job : jobs) {
            job = {static_cast<double>(random.below(20)), static_cast<double>(random.below(6)),
                   static_cast<double>(random.below(20))};
        }
        double most = 0;
        for (std::uint32_t set = 1; set < 1U << jobs.size(); ++set) {
            timed_job all{std::numeric_limits<double>::infinity(), 0,
                          std::numeric_limits<double>::infinity()};
            for (std::size_t k = 0; k < jobs.size(); ++k) {
                if ((set >> k & 1U) == 0) continue;
                all = {std::min(all.head, jobs[k].head), all.seconds + jobs[k].seconds,
                       std::min(all.tail, jobs[k].tail)};
            }
            most = std::max(most, all.head + all.seconds + all.tail);
        }
        CHECK(turnip::detail::jackson_bound(jobs) == most);
    }
}

TEST_CASE("on each of two devices four operators take turns before the other device may go on") {
    stowage::program step;
    std::vector<stowage::buffer_id> made;
    std::vector<turnip::memory_index> placement;
    for (turnip::memory_index d = 0; d < 2; ++d) {
        std::vector<stowage::buffer_id> results;
        for (int k = 0; k < 4; ++k) {
            results.push_back(step.add_buffer({.bytes = 100}));
            step.add_operator({.reads = made, .writes = {results.back()}, .seconds = 1.0});
            placement.push_back(d);
        }
        made = {step.add_buffer({.bytes = 100, .kind = stowage::buffer_kind::output})};
        step.add_operator({.reads = results, .writes = made, .seconds = 1.0});
        placement.push_back(d);
    }
    const turnip::taskgraph task =
        turnip::make_taskgraph(stowage::make_tensor_graph(step), {.devices = 2, .placement = placement});
    turnip::machine m;
    m.copy_seconds = 0;
    m.peer_bytes_per_second = m.host_to_device_bytes_per_second = m.device_to_host_bytes_per_second = 50;
    const std::vector<stowage::operator_index> order = stowage::program_order(task.program);
    const turnip::detail::turns_bound bound(task, order, m);
    // Five operators, a transfer of two seconds, five operators, and two seconds to the host.
    CHECK(bound.any_order(1000) == 5 + 2 + 5 + 2);
    CHECK(bound.in_order() == 5 + 2 + 5 + 2);
    CHECK(bound.any_order(0) == 11);  // one device, beside the longest path
    m.compute_lanes = 2;
    const turnip::detail::turns_bound with_lanes(task, order, m);
    CHECK(with_lanes.any_order(1000) == 3 + 2 + 3 + 2);
    CHECK(with_lanes.in_order() <= 3 + 2 + 3 + 2);
}

TEST_CASE("no run of any memgraph of several devices is faster than the bound, in its order or not") {
    int above_path = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        stowage::detail::splitmix64 random(seed);
        stowage::tensor_graph program =
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 14, .largest = 9}));
        turnip::taskgraph_options options{.devices = 2 + static_cast<std::uint32_t>(seed % 2),
                                          .start = static_cast<turnip::start_rule>(seed % 3)};
        for (std::size_t op = 0; op < program.operator_count(); ++op)
            options.placement.push_back(static_cast<std::uint32_t>(random.below(options.devices)));
        const turnip::taskgraph task = turnip::make_taskgraph(std::move(program), options);
        turnip::compile_options asked{
            .devices = std::vector<turnip::memory_limit>(options.devices, {.capacity = 60}),
            .limits = {.states = 500}};
        asked.machine.host_to_device_bytes_per_second = asked.machine.device_to_host_bytes_per_second = 2e6;
        asked.machine.peer_bytes_per_second = 1e6;
        asked.machine.compute_lanes = 1 + static_cast<std::uint32_t>(seed % 5 == 0);
        const std::vector<stowage::operator_index> order = stowage::program_order(task.program);
        const turnip::detail::turns_bound bound(task, order, asked.machine);
        const double any = bound.any_order(10'000);
        above_path += any > bound.any_order(0) ? 1 : 0;
        for (const turnip::compiled& made :
             {turnip::compile(task, asked), turnip::compile(task, asked, turnip::horizon{})}) {
            if (!made.ok()) continue;
            for (const auto priority : {turnip::priority::need, turnip::priority::random}) {
                CHECK(turnip::simulate(task.program, made.memgraph, asked.machine,
                                       {.priority = priority, .seed = seed})
                          .makespan >= any * (1 - 1e-9));
            }
            CHECK(turnip::simulate(task.program, made.memgraph, asked.machine,
                                   {.schedule = turnip::schedule::fixed_order})
                      .makespan >= bound.in_order() * (1 - 1e-9));
        }
    }
    CHECK(above_path > 3);
}
