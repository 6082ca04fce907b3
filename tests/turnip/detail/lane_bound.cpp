#include <stowage/turnip/detail/lane_bound.hpp>

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/detail/time_bound.hpp>
#include <stowage/turnip/simulate.hpp>
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;

namespace {

/// A machine on which only the lanes to and from the host take time.
turnip::machine only_lanes() {
    turnip::machine m;
    m.flops_per_second = m.bytes_per_second = 1e300;
    m.host_to_device_bytes_per_second = 1;
    m.device_to_host_bytes_per_second = 4;
    m.launch_seconds = m.copy_seconds = 0;
    return m;
}

}  // namespace

TEST_CASE("weights that come in twice take their bytes at the rate of that lane") {
    stowage::program step;
    const auto w = step.add_buffer({.bytes = 80, .kind = stowage::buffer_kind::parameter});
    step.add_operator({.reads = {w}});
    step.add_operator({.workspace = 100});
    step.add_operator({.reads = {w}});
    const turnip::compiled made =
        turnip::compile(step, {.devices = {{.capacity = 100}}, .machine = only_lanes()});
    REQUIRE(made.ok());
    CHECK(made.makespan_lower_bound == doctest::Approx(160));  // both lanes together could do it in 32
}

TEST_CASE("no run of a memgraph is shorter than its lanes are busy at least") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const auto start = static_cast<turnip::start_rule>(seed % 3);
        const turnip::taskgraph task = turnip::make_taskgraph(
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 14, .largest = 9})),
            {.start = start});
        turnip::compile_options options{
            .devices = {{.capacity = 0}}, .limits = {.states = 500}, .machine = only_lanes()};
        options.devices[0].capacity = turnip::compile(task, options).least_capacity + 3;
        const turnip::compiled made = turnip::compile(task, options);
        REQUIRE(made.ok());
        const auto in = static_cast<double>(made.bytes_reloaded);
        const auto out = static_cast<double>(made.bytes_offloaded) / 4;
        const std::vector<stowage::operator_index> order = stowage::program_order(task.program);
        const turnip::detail::residency_model model =
            turnip::detail::make_residency_model(task, order, options.alignment);
        for (const std::size_t rounds : {0U, 200U}) {
            const double bound = turnip::detail::lane_bound(
                {&model, options.devices[0].capacity, made.prices, rounds}, 1, options.machine);
            CHECK(bound <= std::max(in, out) * (1 + 1e-9));
            // branching may raise the bound on bytes above that of prices alone
            CHECK(bound * 5 >= static_cast<double>(made.bytes_moved_lower_bound) * 0.75);
        }
        CHECK(turnip::simulate(task.program, made.memgraph, options.machine).makespan >=
              made.makespan_lower_bound * (1 - 1e-9));
    }
}

TEST_CASE("the longest path passes over the links between devices") {
    stowage::program step;
    const auto a = step.add_buffer({.bytes = 100});
    const auto b = step.add_buffer({.bytes = 50, .kind = stowage::buffer_kind::output});
    step.add_operator({.writes = {a}, .device = 0});
    step.add_operator({.reads = {a}, .writes = {b}, .device = 1});
    const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(step), {.devices = 2});
    turnip::machine m = only_lanes();
    m.peer_bytes_per_second = 10;
    const std::vector<stowage::operator_index> order{0, 1};
    CHECK(turnip::detail::turns_bound(task, order, m).any_order(0) == doctest::Approx(10 + 12.5));
    m.peer_bytes_per_second = 0.1;  // then the host is the shorter way
    CHECK(turnip::detail::turns_bound(task, order, m).any_order(0) == doctest::Approx(25 + 100 + 12.5));
}
