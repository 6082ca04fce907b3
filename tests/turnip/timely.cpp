#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/timely.hpp>
#include <stowage/verify/memgraph.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/memgraph_contents.hpp"
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using stowage::test::runs_right;
using stowage::verify::check_memgraph;

namespace {

turnip::taskgraph random_tasks(std::uint64_t seed, turnip::start_rule start) {
    stowage::detail::splitmix64 random(seed);
    const auto devices = static_cast<std::uint32_t>(1 + seed % 2);
    stowage::tensor_graph program = stowage::make_tensor_graph(
        stowage::test::random_program(seed, {.operators = 4 + seed % 12, .largest = 9}));
    turnip::taskgraph_options options{.devices = devices, .start = start};
    for (std::size_t op = 0; op < program.operator_count(); ++op)
        options.placement.push_back(static_cast<std::uint32_t>(random.below(devices)));
    return turnip::make_taskgraph(std::move(program), options);
}

std::int64_t least_capacity(const turnip::taskgraph& tasks) {
    std::int64_t least = 0;
    for (stowage::operator_index op = 0; op < tasks.program.operator_count(); ++op)
        least = std::max(least, turnip::detail::bytes_side_by_side(tasks.program, op, 1));
    return least;
}

}  // namespace

TEST_CASE("memgraphs are right, and never slower than residency's for either goal") {
    std::size_t faster = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        CAPTURE(seed);
        const turnip::taskgraph tasks =
            random_tasks(seed, seed % 3 == 0 ? turnip::start_rule::steady : turnip::start_rule::on_host);
        const std::int64_t capacity = least_capacity(tasks) + static_cast<std::int64_t>(seed % 5) * 5;
        turnip::compile_options options{.goal = turnip::goal::time};
        options.machine.host_to_device_bytes_per_second = 1e6;
        options.machine.device_to_host_bytes_per_second = 1e6;
        options.devices.assign(tasks.devices, {.capacity = capacity});
        const turnip::compiled made = turnip::compile(tasks, options, turnip::timely{});
        const turnip::compiled plain = turnip::compile(tasks, options);
        REQUIRE(made.ok() == plain.ok());
        if (!made.ok()) continue;
        CHECK(check_memgraph(tasks, made.memgraph, {.capacities = std::vector(tasks.devices, capacity)})
                  .reason == "");
        for (std::uint64_t run = 0; run < 4; ++run)
            CHECK(runs_right(tasks.program, made.memgraph, run));
        const auto seconds = [&](const turnip::compiled& of) {
            return turnip::simulate(tasks.program, of.memgraph, options.machine).makespan;
        };
        CHECK(made.makespan == doctest::Approx(seconds(made)));
        CHECK(seconds(made) <= seconds(plain) + 1e-12);
        CHECK(made.bytes_moved_lower_bound <= made.bytes_moved);
        faster += seconds(made) < seconds(plain) ? 1 : 0;
    }
    CHECK(faster > 0);
}

TEST_CASE("a guide decides what leaves: a memgraph's own leavings move no more than it, given room") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        CAPTURE(seed);
        const turnip::taskgraph tasks = random_tasks(2 * seed, turnip::start_rule::on_host);
        std::vector<stowage::operator_index> order = stowage::program_order(tasks.program);
        turnip::compile_options options{.devices = {{.capacity = least_capacity(tasks) + 10}}};
        const turnip::compiled plan = turnip::compile(tasks, options);
        if (!plan.ok()) continue;
        options.devices[0].capacity += 1000;
        const turnip::compiled anew = turnip::horizon{{.keep_host_copies = true}}.guided(
            tasks, order, options, turnip::detail::leaving_uses(tasks, order, plan.memgraph));
        REQUIRE(anew.ok());
        CHECK(check_memgraph(tasks, anew.memgraph).reason == "");
        CHECK(anew.bytes_moved <= plan.bytes_moved);
        CHECK(anew.bytes_transferred == 0);
    }
}
