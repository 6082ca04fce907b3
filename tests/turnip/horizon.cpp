#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/verify/memgraph.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/memgraph_contents.hpp"
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using stowage::tensor_graph;
using stowage::test::runs_right;
using stowage::verify::check_memgraph;
using turnip::start_rule;

namespace {

struct problem {
    turnip::taskgraph tasks;
    turnip::compile_options options;
    std::int64_t least = 0;
};

/// A random program on one to three devices; capacity: what the largest operator needs, and some more.
problem problem_of(std::uint64_t seed, start_rule start, bool once) {
    stowage::detail::splitmix64 random(seed);
    const auto devices = static_cast<std::uint32_t>(1 + seed % 3);
    tensor_graph program = stowage::make_tensor_graph(
        stowage::test::random_program(seed, {.operators = 3 + seed % 11, .largest = 9}));
    turnip::taskgraph_options options{.devices = devices, .start = start, .once = once};
    for (std::size_t op = 0; op < program.operator_count(); ++op)
        options.placement.push_back(static_cast<std::uint32_t>(random.below(devices)));
    problem result;
    result.tasks = turnip::make_taskgraph(std::move(program), options);
    result.options.alignment = seed % 4 == 0 ? 4 : 1;
    for (stowage::operator_index op = 0; op < result.tasks.program.operator_count(); ++op) {
        result.least = std::max(result.least, turnip::detail::bytes_side_by_side(result.tasks.program, op,
                                                                                 result.options.alignment));
    }
    return result;
}

/// Weight w is used by the first and the last of three operators; the one between fills the device.
turnip::taskgraph clean_weight(int uses) {
    stowage::program p;
    const auto w = p.add_buffer({.bytes = 10, .kind = stowage::buffer_kind::parameter, .name = "w"});
    const auto t = p.add_buffer({.bytes = 4, .name = "t"});
    p.add_operator({.name = "make", .writes = {t}});
    for (int i = 0; i < uses; ++i) {
        const auto wide = p.add_buffer({.bytes = 10});
        p.add_operator({.name = "use", .reads = {w, t}, .workspace = 2});
        p.add_operator({.name = "fill", .writes = {wide}, .workspace = 10});
    }
    const auto y = p.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::output});
    p.add_operator({.name = "end", .reads = {w, t}, .writes = {y}});
    return turnip::make_taskgraph(stowage::make_tensor_graph(p));
}

}  // namespace

TEST_CASE("every memgraph is right, by verification and by running it, for any start, devices and capacity") {
    std::size_t moves = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const bool once = seed % 5 == 0;
        const auto start = static_cast<start_rule>(seed / 2 % 3);
        problem given = problem_of(seed, start, once);
        std::int64_t capacity = given.least + static_cast<std::int64_t>(seed % 4) * 6;
        if (start == start_rule::on_device) {
            for (stowage::buffer_index b = 0; b < given.tasks.program.buffer_count(); ++b) {
                if (given.tasks.start[b] < 3 || given.tasks.program.kind(b) == stowage::buffer_kind::output)
                    capacity += given.tasks.program.bytes(b) + 3;
            }
        }
        given.options.devices.assign(given.tasks.devices, {.capacity = capacity});
        for (const turnip::horizon_options options :
             {turnip::horizon_options{}, turnip::horizon_options{.keep_host_copies = true, .lookahead = 1}}) {
            const turnip::compiled made =
                turnip::compile(given.tasks, given.options, turnip::horizon{options});
            REQUIRE(made.ok());
            const auto verdict = check_memgraph(given.tasks, made.memgraph,
                                                {.capacities = std::vector(given.tasks.devices, capacity)});
            CHECK(verdict.reason == "");
            for (std::uint64_t run = 0; run < 3; ++run)
                CHECK(runs_right(given.tasks.program, made.memgraph, run));
            moves += made.memgraph.vertices.size() - given.tasks.program.operator_count();
            const turnip::compiled again =
                turnip::compile(given.tasks, given.options, turnip::horizon{options});
            CHECK(again.memgraph == made.memgraph);
            CHECK(made.bytes_moved_lower_bound <= made.bytes_moved);
        }
    }
    CHECK(moves > 500);
}

TEST_CASE("one byte less than the largest operator needs is infeasible, with the operator and the capacity") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        problem given = problem_of(seed, start_rule::on_host, false);
        if (given.least == 0) continue;
        given.options.devices.assign(given.tasks.devices, {.capacity = given.least - 1});
        const turnip::compiled made = turnip::compile(given.tasks, given.options, turnip::horizon{});
        CHECK(made.status == stowage::status::infeasible);
        CHECK(made.least_capacity == given.least);
        REQUIRE(made.blamed != stowage::no_operator);
        CHECK(made.memory == given.tasks.placement[made.blamed]);
        CHECK(made.memgraph.vertices.empty());
        CHECK(made.reason.find("operator " + std::to_string(made.blamed)) == 0);
    }
}

TEST_CASE("what starts and ends on a device has a place at the capacity that is named, and none below") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const start_rule start = seed % 2 == 0 ? start_rule::on_device : start_rule::steady;
        problem given = problem_of(seed, start, false);
        given.options.devices.assign(given.tasks.devices, {.capacity = 1'000'000});
        given.options.devices[0].capacity = 0;
        const auto made_at = [&](std::int64_t capacity) {
            given.options.devices[0].capacity = capacity;
            return turnip::compile(given.tasks, given.options, turnip::horizon{});
        };
        const turnip::compiled refused = made_at(0);
        if (refused.ok()) continue;
        REQUIRE(refused.status == stowage::status::infeasible);
        REQUIRE(refused.least_capacity > 0);
        CHECK(made_at(refused.least_capacity - 1).status == stowage::status::infeasible);
        CHECK(made_at(refused.least_capacity).ok());
    }
}

TEST_CASE(
    "operands go side by side with the least rounding, and infeasible is said only where it is proven") {
    stowage::program step;
    const auto x = step.add_buffer({.bytes = 17, .kind = stowage::buffer_kind::input, .name = "x"});
    const auto y = step.add_buffer({.bytes = 16, .kind = stowage::buffer_kind::output, .name = "y"});
    step.add_operator({.name = "f", .reads = {x}, .writes = {y}});
    const auto made_at = [](const stowage::program& p, std::int64_t capacity, std::int64_t alignment) {
        return turnip::compile(p, {.devices = {{.capacity = capacity}}, .alignment = alignment},
                               turnip::horizon{});
    };
    CHECK(made_at(step, 33, 16).ok());  // y at 0, x at 16
    CHECK(made_at(step, 32, 16).status == stowage::status::infeasible);
    CHECK(made_at(step, 32, 16).least_capacity == 33);
    // Two buffers of one byte at multiples of 16 have room for the third between them: 17 bytes would do.
    stowage::program mixed;
    const auto a = mixed.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::input, .alignment = 16});
    const auto b = mixed.add_buffer({.bytes = 15, .kind = stowage::buffer_kind::input});
    const auto c = mixed.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::output, .alignment = 16});
    mixed.add_operator({.reads = {a, b}, .writes = {c}});
    CHECK(made_at(mixed, 16, 1).status == stowage::status::infeasible);
    CHECK(made_at(mixed, 17, 1).ok());  // by residency's layout
    CHECK(made_at(mixed, 32, 1).ok());
}

TEST_CASE("a clean weight leaves for free; a tensor that was saved is saved again, unless its copy is kept") {
    const turnip::taskgraph tasks = clean_weight(3);
    const turnip::compile_options options{.devices = {{.capacity = 20}}};
    const auto paper = turnip::compile(tasks, options, turnip::horizon{{.lookahead = 1}});
    const auto kept =
        turnip::compile(tasks, options, turnip::horizon{{.keep_host_copies = true, .lookahead = 1}});
    REQUIRE(paper.ok());
    REQUIRE(kept.ok());
    // w: in each time, never out. t: out each time in the paper's way, else once; y: out at the end.
    CHECK(kept.bytes_offloaded <= 4 + 1);
    CHECK(paper.bytes_offloaded >= kept.bytes_offloaded);
    CHECK(check_memgraph(tasks, paper.memgraph).reason == "");
    CHECK(check_memgraph(tasks, kept.memgraph).reason == "");
}

TEST_CASE("a limit of the host's memory is kept or named") {
    const turnip::taskgraph tasks = clean_weight(2);
    turnip::compile_options options{.devices = {{.capacity = 20}}, .host = {.capacity = 64}};
    const auto made = turnip::compile(tasks, options, turnip::horizon{});
    REQUIRE(made.ok());
    CHECK(made.memgraph.host_bytes <= 64);
    options.host.capacity = 3;
    const auto none = turnip::compile(tasks, options, turnip::horizon{});
    CHECK_FALSE(none.ok());
    CHECK(none.memory == turnip::host);
    CHECK(none.reason.find("copies on the host take") == 0);
}

TEST_CASE("free bytes used longest ago are taken first") {
    turnip::detail::horizon_arena arena(100);
    arena.take(0, 10, 1);
    arena.take(10, 10, 2);
    arena.take(20, 10, 3);
    arena.take(30, 70, 4);
    arena.give(0, 5);
    arena.give(10, 3);
    arena.give(20, 4);
    CHECK(arena.free_place(10, 1) == 10);
    CHECK(arena.free_place(11, 1) == 10);
    CHECK(arena.free_place(25, 1) == 0);
    CHECK(arena.free_place(31, 1) == -1);
    CHECK(arena.free_place(5, 16) == 16);
    arena.take(10, 4, 5);
    CHECK(arena.free_place(6, 1) == 14);
    std::vector<std::uint32_t> owners;
    arena.owners(owners);
    CHECK(owners == std::vector<std::uint32_t>{5, 4});
    const auto next_use = [](std::uint32_t owner) { return owner == 4 ? std::int64_t{50} : std::int64_t{9}; };
    CHECK(arena.place_of_victims(
              40, 1, [](std::uint32_t) { return false; }, next_use) == 14);
    CHECK(arena.place_of_victims(
              40, 1, [](std::uint32_t owner) { return owner == 4; }, next_use) == -1);
}

TEST_CASE("the best window agrees with a look at all windows") {
    stowage::detail::splitmix64 random(11);
    for (int round = 0; round < 300; ++round) {
        turnip::detail::horizon_arena arena(40);
        std::vector<std::uint32_t> owner(40, 0);
        std::vector<std::int64_t> last(40, -1);
        std::int64_t at = 0;
        std::vector<std::int64_t> starts;
        for (std::uint32_t k = 1; at < 40; ++k) {
            const auto bytes =
                std::min<std::int64_t>(40 - at, 1 + static_cast<std::int64_t>(random.below(6)));
            arena.take(at, bytes, k);
            const bool give = random.below(2) == 0;
            const auto when = static_cast<std::int64_t>(random.below(9));
            if (give) arena.give(at, when);
            for (std::int64_t i = at; i < at + bytes; ++i) {
                owner[static_cast<std::size_t>(i)] = give ? 0 : k;
                last[static_cast<std::size_t>(i)] = give ? when : 1000;
            }
            at += bytes;
        }
        const auto bytes = static_cast<std::int64_t>(1 + random.below(12));
        std::int64_t best = -1;
        for (std::int64_t first = 0; first + bytes <= 40; ++first) {
            std::int64_t used = -1;
            for (std::int64_t i = first; i < first + bytes; ++i)
                used = std::max(used, last[static_cast<std::size_t>(i)]);
            if (used < 1000 && (best < 0 || used < best)) best = used;
        }
        const std::int64_t found = arena.free_place(bytes, 1);
        CHECK((found < 0) == (best < 0));
        if (found < 0) continue;
        std::int64_t used = -1;
        for (std::int64_t i = found; i < found + bytes; ++i)
            used = std::max(used, last[static_cast<std::size_t>(i)]);
        CHECK(used == best);
    }
}
