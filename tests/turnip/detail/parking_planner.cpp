#include <stowage/turnip/detail/parking_planner.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/verify/memgraph.hpp>
#include "support/memgraph_contents.hpp"
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;

namespace {

/// Device 0 makes three buffers that it needs again at the end, and has room for one of them beside what it
/// works on; device 1 has little to do in between.
turnip::taskgraph two_devices() {
    stowage::program step;
    std::vector<stowage::buffer_id> kept;
    for (int k = 0; k < 3; ++k) {
        kept.push_back(step.add_buffer({.bytes = 10}));
        step.add_operator({.writes = {kept.back()}});
    }
    step.add_operator({.workspace = 18});
    const auto other = step.add_buffer({.bytes = 1});
    step.add_operator({.writes = {other}});
    std::vector<turnip::memory_index> placement{0, 0, 0, 0, 1};
    for (const stowage::buffer_id b : kept) {
        step.add_operator({.reads = {b}});
        placement.push_back(0);
    }
    return turnip::make_taskgraph(stowage::make_tensor_graph(step), {.devices = 2, .placement = placement});
}

}  // namespace

TEST_CASE("what does not fit a device waits on another that has room, not on the host") {
    const turnip::taskgraph task = two_devices();
    const turnip::compile_options options{.devices = {{.capacity = 30}, {.capacity = 25}}};
    const turnip::compiled parked = turnip::compile(task, options);
    REQUIRE(parked.ok());
    CHECK(stowage::verify::check_memgraph(task, parked.memgraph, {.capacities = {30, 25}}).reason == "");
    CHECK(parked.bytes_moved == 0);
    CHECK(parked.bytes_transferred == 40);  // two buffers, there and back
    CHECK(parked.status == stowage::status::optimal);
    const turnip::compiled on_host = turnip::compile(task, options, turnip::residency{{.parking = false}});
    REQUIRE(on_host.ok());
    CHECK(on_host.bytes_moved == 40);
    // Too little room there for both: one goes to the host.
    const turnip::compiled one = turnip::compile(task, {.devices = {{.capacity = 30}, {.capacity = 15}}});
    REQUIRE(one.ok());
    CHECK(one.bytes_moved == 20);
    CHECK(one.bytes_transferred == 20);
}

TEST_CASE("with parking no more bytes move, and every memgraph is right") {
    std::size_t better = 0;
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
        CAPTURE(seed);
        stowage::detail::splitmix64 random(seed);
        stowage::tensor_graph program =
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 25, .largest = 9}));
        turnip::taskgraph_options how{.devices = 2 + static_cast<std::uint32_t>(seed % 2),
                                      .start = static_cast<turnip::start_rule>(seed / 2 % 3)};
        // Long stretches on one device: the others are idle then.
        for (std::size_t op = 0; op < program.operator_count(); ++op)
            how.placement.push_back(static_cast<std::uint32_t>(op / 4 % how.devices));
        const turnip::taskgraph task = turnip::make_taskgraph(std::move(program), how);
        turnip::compile_options options{.limits = {.states = 2'000}};
        options.devices.assign(how.devices, {.capacity = 40});
        options.goal = seed % 4 == 0 ? turnip::goal::time : turnip::goal::bytes;
        const turnip::compiled with = turnip::compile(task, options);
        const turnip::compiled without =
            turnip::compile(task, options, turnip::residency{{.parking = false}});
        REQUIRE(with.ok() == without.ok());
        if (!with.ok()) continue;
        CHECK(stowage::verify::check_memgraph(task, with.memgraph,
                                              {.capacities = std::vector<std::int64_t>(how.devices, 40)})
                  .reason == "");
        for (std::uint64_t run = 0; run < 3; ++run)
            CHECK(stowage::test::runs_right(task.program, with.memgraph, run));
        CHECK(with.bytes_moved >= with.bytes_moved_lower_bound);
        if (options.goal == turnip::goal::time) continue;
        CHECK(with.bytes_moved <= without.bytes_moved);
        better += with.bytes_moved < without.bytes_moved ? 1 : 0;
    }
    CHECK(better > 5);
}
