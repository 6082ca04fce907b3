#include <stowage/turnip/detail/moment_bound.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/order/depth_first.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/detail/time_bound.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/turnip/simulate.hpp>
#include <stowage/turnip/timely.hpp>
#include "support/random_program.hpp"
#include "support/rounds.hpp"

namespace turnip = stowage::turnip;
using stowage::operator_index;

namespace {

/// A byte takes a second, either way, and nothing else takes time but what operators are given.
turnip::machine slow_lanes() {
    turnip::machine m;
    m.flops_per_second = m.bytes_per_second = 1e300;
    m.host_to_device_bytes_per_second = m.device_to_host_bytes_per_second = 1;
    m.launch_seconds = m.copy_seconds = 0;
    return m;
}

double bound_of(const turnip::taskgraph& task, std::int64_t capacity, const turnip::machine& m,
                std::uint32_t parts) {
    const std::vector<operator_index> order = stowage::program_order(task.program);
    const auto model = turnip::detail::make_residency_model(task, order, 1);
    const auto division = turnip::detail::divide_order(task, model, m, parts);
    turnip::detail::moment_bound bound(task, model, capacity, m, division);
    return bound.improve(std::numeric_limits<double>::infinity(), 600);
}

}  // namespace

TEST_CASE("two peaks one after the other each take their copies out and in") {
    // Twice: `kept` is made, has to leave for an operator that fills the device, and comes back.
    stowage::program step;
    const auto sum = step.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::output});
    const auto part = [&](bool first) {
        const auto kept = step.add_buffer({.bytes = 100});
        step.add_operator({.writes = {kept}, .seconds = 1.0});
        step.add_operator({.workspace = 100, .seconds = 1.0});
        if (first) {
            step.add_operator({.reads = {kept}, .writes = {sum}, .seconds = 1.0});
        } else {
            step.add_operator({.reads = {kept, sum}, .writes = {sum}, .seconds = 1.0});
        }
    };
    part(true);
    part(false);
    const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(step));
    const std::int64_t capacity = 110;
    const double bound = bound_of(task, capacity, slow_lanes(), 6);
    // Each time 90 bytes go out and come in, and three operators run: what one moment cannot see of the
    // other.
    const std::vector<operator_index> order = stowage::program_order(task.program);
    const auto model = turnip::detail::make_residency_model(task, order, 1);
    const double split = turnip::detail::time_bound(task, model, order, capacity, 0, slow_lanes(), true);
    CHECK(bound > 1.7 * split);
    const turnip::compiled made =
        turnip::compile(task, {.devices = {{.capacity = capacity}}, .machine = slow_lanes()});
    REQUIRE(made.ok());
    const double seconds = turnip::simulate(task.program, made.memgraph, slow_lanes()).makespan;
    CHECK(bound <= seconds * (1 + 1e-9));
    CHECK(bound > 0.85 * seconds);
}

TEST_CASE("least time lets go of what can come back while the lane is idle, though bytes prefer another") {
    // One of two buffers has to leave for `full`. That of the longer gap is read right after it, the other
    // one only a minute later.
    stowage::program step;
    const auto soon = step.add_buffer({.bytes = 50});
    const auto later = step.add_buffer({.bytes = 50});
    step.add_operator({.writes = {soon}, .seconds = 1.0});
    for (int k = 0; k < 6; ++k)
        step.add_operator({.seconds = 1.0});
    step.add_operator({.writes = {later}, .seconds = 1.0});
    step.add_operator({.seconds = 60.0});
    step.add_operator({.name = "full", .workspace = 60, .seconds = 1.0});
    step.add_operator({.reads = {soon}, .seconds = 1.0});
    step.add_operator({.seconds = 60.0});
    step.add_operator({.reads = {later}, .seconds = 1.0});
    const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(step));
    turnip::compile_options options{.devices = {{.capacity = 110}}, .machine = slow_lanes()};
    options.fixed_order = true;
    const turnip::compiled bytes = turnip::compile(task, options);
    options.goal = turnip::goal::time;
    const turnip::compiled time = turnip::compile(task, options);
    const auto seconds = [&](const turnip::compiled& made) {
        return turnip::simulate(task.program, made.memgraph, options.machine,
                                {.schedule = turnip::schedule::fixed_order})
            .makespan;
    };
    const double computing = 8 + 60 + 2 + 60 + 1;
    CHECK(bytes.bytes_moved == time.bytes_moved);
    CHECK(seconds(bytes) >= computing + 49);
    CHECK(seconds(time) <= computing + 1);
}

TEST_CASE("no plan that keeps the order is faster than the bound, by any division") {
    for (std::uint64_t seed = 0; seed < stowage::test::rounds(std::uint64_t{90}); ++seed) {
        CAPTURE(seed);
        stowage::detail::splitmix64 random(seed);
        const turnip::taskgraph task = turnip::make_taskgraph(
            stowage::make_tensor_graph(
                stowage::test::random_program(seed, {.operators = 6 + random.below(12), .largest = 12})),
            {.start = static_cast<turnip::start_rule>(seed % 3), .once = seed % 5 == 0});
        turnip::compile_options options{.devices = {{.capacity = 0}}, .limits = {.states = 300}};
        options.alignment = seed % 4 == 0 ? 4 : 1;
        turnip::machine& m = options.machine;
        m.host_to_device_bytes_per_second = static_cast<double>(1 + random.below(4));
        m.device_to_host_bytes_per_second = static_cast<double>(1 + random.below(4));
        m.bytes_per_second = 0.5 + static_cast<double>(random.below(8));
        m.copy_seconds = random.below(2) == 0 ? 0.5 : 0;
        const std::vector<operator_index> order = seed % 2 == 0 ? stowage::program_order(task.program)
                                                                : stowage::order::depth_first{}(task.program);
        options.devices[0].capacity = turnip::compile(task, order, options).least_capacity +
                                      static_cast<std::int64_t>(random.below(20));
        const auto model = turnip::detail::make_residency_model(task, order, options.alignment);
        double bound = 0;
        for (const std::uint32_t parts : {2U, 3U, 6U, 30U}) {
            const auto division = turnip::detail::divide_order(task, model, m, parts);
            turnip::detail::moment_bound found(task, model, options.devices[0].capacity, m, division);
            bound = std::max(bound, found.improve(std::numeric_limits<double>::infinity(), 150));
        }
        std::vector<turnip::compiled> plans{turnip::compile(task, order, options),
                                            turnip::compile(task, order, options, turnip::horizon{})};
        options.goal = turnip::goal::time;
        plans.push_back(turnip::compile(task, order, options));
        plans.push_back(turnip::compile(task, order, options, turnip::timely{}));
        for (const turnip::compiled& made : plans) {
            if (!made.ok()) continue;
            const double seconds =
                turnip::simulate(task.program, made.memgraph, m, {.schedule = turnip::schedule::fixed_order})
                    .makespan;
            CHECK(seconds >= bound * (1 - 1e-9));
        }
    }
}
