#include <stowage/turnip/detail/least_cut_bound.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/order/depth_first.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/simulate.hpp>
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using turnip::detail::only;
using turnip::detail::side_count;

TEST_CASE("an operator that may run on either side of a moment does not make the bound weak") {
    // x is made, then needed at the end; `square` may run early, but its result is as large.
    stowage::program step;
    const auto x = step.add_buffer({.bytes = 100});
    const auto y = step.add_buffer({.bytes = 100});
    const auto z = step.add_buffer({.bytes = 1});
    const auto out = step.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::output});
    step.add_operator({.writes = {x}, .seconds = 1.0});
    step.add_operator({.writes = {z}, .workspace = 110, .seconds = 1.0});
    step.add_operator({.reads = {x}, .writes = {y}, .seconds = 1.0});
    step.add_operator({.reads = {y, z}, .writes = {out}, .seconds = 1.0});
    const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(step));
    const auto order = stowage::program_order(task.program);
    const auto model = turnip::detail::make_residency_model(task, order, 1);
    turnip::machine m;
    m.host_to_device_bytes_per_second = m.device_to_host_bytes_per_second = 1;
    m.copy_seconds = 0;
    turnip::detail::least_cut_bound at(task, model, 250, m);
    // At the last operator all is before: nothing crosses beyond the capacity, 3 seconds before, 1 after.
    CHECK(at(3, only(side_count::compute), only(side_count::compute)) == doctest::Approx(4).epsilon(1e-6));
    CHECK(at(3, only(side_count::compute), only(side_count::sure_copies)) ==
          doctest::Approx(3 + 1).epsilon(1e-6));
    turnip::detail::least_cut_bound tight(task, model, 40, m);
    // y or x is there while z is made, or z waits meanwhile; at operator 1 only its own reader is after it.
    // What operator 2 writes is on the device too.
    CHECK(tight(2, only(side_count::compute), only(side_count::crossing)) ==
          doctest::Approx(1 + 100 - (40 - 100)).epsilon(1e-6));
}

TEST_CASE("computing and copying together say more than either alone") {
    // `square` before the moment at which `other` starts: much is computed by then; after it: x has to leave.
    stowage::program step;
    const auto x = step.add_buffer({.bytes = 8});
    const auto y = step.add_buffer({.bytes = 30});
    const auto squared = step.add_buffer({.bytes = 1});
    const auto z = step.add_buffer({.bytes = 1});
    const auto out = step.add_buffer({.bytes = 100, .kind = stowage::buffer_kind::output});
    step.add_operator({.writes = {x, y}, .seconds = 1.0});
    step.add_operator({.name = "square", .reads = {x}, .writes = {squared}, .seconds = 8.0});
    step.add_operator({.name = "other", .reads = {y}, .writes = {z}, .seconds = 1.0});
    step.add_operator({.reads = {squared, z, y}, .writes = {out}, .seconds = 1.0});
    const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(step));
    const auto model = turnip::detail::make_residency_model(task, stowage::program_order(task.program), 1);
    turnip::machine m;
    m.host_to_device_bytes_per_second = m.device_to_host_bytes_per_second = 1;
    m.copy_seconds = 0;
    turnip::detail::least_cut_bound at(task, model, 30, m);
    const auto copies = only(side_count::sure_copies);  // the output's, whatever is before
    CHECK(at(2, only(side_count::compute), copies) == doctest::Approx(1 + 100).epsilon(1e-6));
    CHECK(at(2, only(side_count::crossing), copies) == doctest::Approx(2 + 100).epsilon(1e-6));
    // Nine seconds either way; weights of 7/15 and 8/15 prove 5.27 of them.
    const double mixed = at(2, only(side_count::compute), copies, 9 + 100, 40);
    CHECK(mixed > 5 + 100);
    CHECK(mixed < 5.2667 + 100);
}

TEST_CASE("no run in any order is shorter than a least cut says") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        const auto start = static_cast<turnip::start_rule>(seed % 3);
        const turnip::taskgraph task = turnip::make_taskgraph(
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 12, .largest = 9})),
            {.start = start});
        turnip::compile_options options{.devices = {{.capacity = 0}}, .limits = {.states = 300}};
        options.machine.host_to_device_bytes_per_second = 2;
        options.machine.device_to_host_bytes_per_second = 1;
        options.machine.bytes_per_second = 3;
        const auto first = stowage::program_order(task.program);
        const auto second = stowage::order::depth_first{}(task.program);
        options.devices[0].capacity = turnip::compile(task, first, options).least_capacity + 4;
        const auto model = turnip::detail::make_residency_model(task, first, 1);
        turnip::detail::least_cut_bound at(task, model, options.devices[0].capacity, options.machine);
        double bound = 0;
        constexpr std::size_t rounds = 6;
        for (const stowage::operator_index op : first) {
            for (const side_count before :
                 {side_count::compute, side_count::crossing, side_count::sure_copies}) {
                for (const side_count after :
                     {side_count::compute, side_count::crossing, side_count::sure_copies})
                    bound = std::max(bound, at(op, only(before), only(after), 1e3, rounds));
            }
        }
        for (const auto& order : {first, second}) {
            const turnip::compiled made = turnip::compile(task, order, options);
            if (!made.ok()) continue;
            CHECK(turnip::simulate(task.program, made.memgraph, options.machine).makespan >=
                  bound * (1 - 1e-9));
        }
    }
}
