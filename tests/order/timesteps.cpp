#include <stowage/order/timesteps.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/verify/timesteps.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_steps.hpp"

using namespace stowage;
using namespace stowage::order;

TEST_CASE("steps of one operator each are an order") {
    stowage::detail::splitmix64 random(51);
    for (int round = 0; round < 50; ++round) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 8}));
        const std::vector<operator_index> order = program_order(graph);
        const timesteps single = one_by_one(order);
        CHECK(flattened(single) == order);
        CHECK(live_bytes(graph, single) == stowage::live_bytes(graph, order));
        CHECK(peak_bytes(graph, single) == stowage::peak_bytes(graph, order));
        CHECK(verify::check_timesteps(graph, single).peak == stowage::peak_bytes(graph, order));
    }
}

TEST_CASE("what runs at once is alive at once") {
    program made;
    const buffer_id a = made.add_buffer({.bytes = 3});
    const buffer_id b = made.add_buffer({.bytes = 5});
    const buffer_id given = made.add_buffer({.bytes = 7, .kind = buffer_kind::donated});
    const buffer_id kept = made.add_buffer({.bytes = 11, .kind = buffer_kind::output});
    made.add_operator({.writes = {a}, .workspace = 100});
    made.add_operator({.reads = {given}, .writes = {b}, .workspace = 200});
    made.add_operator({.reads = {a, b}, .writes = {kept}});
    made.add_operator({.reads = {kept}});
    const tensor_graph graph = make_tensor_graph(made);
    const timesteps steps = {{{0, 1}, {2}, {3}}};
    CHECK(live_bytes(graph, steps) == std::vector<std::int64_t>{3 + 5 + 7 + 300, 3 + 5 + 11, 11});
    CHECK(peak_bytes(graph, steps) == test::peak_of_assignment(graph, {0, 0, 1, 2}, 3));
    CHECK(verify::check_timesteps(graph, steps).peak == 315);
}

TEST_CASE("grouping leaves empty steps out") {
    CHECK(grouped(std::vector<std::uint32_t>{4, 0, 4}) == timesteps{{{1}, {0, 2}}});
    CHECK(grouped({}) == timesteps{});
    CHECK(flattened(timesteps{{{1}, {0, 2}}}) == sequence{1, 0, 2});
}

TEST_CASE("steps that are no permutation are refused") {
    program made;
    made.add_operator({});
    made.add_operator({});
    const tensor_graph graph = make_tensor_graph(made);
    CHECK_THROWS_AS(static_cast<void>(live_bytes(graph, timesteps{{{0}}})), program_error);
    CHECK_THROWS_AS(static_cast<void>(live_bytes(graph, timesteps{{{0}, {0}}})), program_error);
    CHECK_THROWS_AS(static_cast<void>(live_bytes(graph, timesteps{{{0}, {2}}})), program_error);
}
