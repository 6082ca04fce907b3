#include <stowage/roam/granule.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "support/random_program.hpp"

using namespace stowage;

namespace {

/// a (10 bytes) and b (16, aligned to `own`) are used by one operator, with workspace if asked for.
program two_buffers(std::int64_t own, std::int64_t workspace = 0) {
    program result;
    const auto a = result.add_buffer({.bytes = 10});
    const auto b = result.add_buffer({.bytes = 16, .alignment = own});
    result.add_operator({.name = "make", .writes = {a, b}, .workspace = workspace});
    result.add_operator({.name = "use", .reads = {a, b}});
    return result;
}

}  // namespace

TEST_CASE("the granule divides every offset, and no more than that") {
    CHECK(roam::common_granule(make_tensor_graph(two_buffers(1)), 8) == 8);
    CHECK(roam::common_granule(make_tensor_graph(two_buffers(64)), 8) == 8);
    program both;
    const auto a = both.add_buffer({.bytes = 10, .alignment = 24});
    const auto b = both.add_buffer({.bytes = 10, .alignment = 36});
    both.add_operator({.writes = {a, b}});
    CHECK(roam::common_granule(make_tensor_graph(both), 1) == 12);
    CHECK(roam::common_granule(make_tensor_graph(both), 8) == 24);  // multiples of 24 and of 72
    CHECK(roam::common_granule(make_tensor_graph(program{}), 8) == 8);
    both.add_operator({.reads = {a, b}, .workspace = 4});
    CHECK(roam::common_granule(make_tensor_graph(both), 8) == 8);
}

TEST_CASE("sizes are rounded up, and count a granule less from the threshold on") {
    const tensor_graph graph = make_tensor_graph(two_buffers(1, 3));
    const roam::counted_program program(graph, 8);
    CHECK(program.granule() == 8);
    CHECK(std::vector<std::int64_t>(program.pads().begin(), program.pads().end()) ==
          std::vector<std::int64_t>{0, 5, 6});
    CHECK(program.no_threshold() == 7);
    CHECK(program.rounded().bytes(0) == 16);
    CHECK(program.rounded().bytes(1) == 16);
    CHECK(program.rounded().workspace(0) == 8);
    const tensor_graph counted = program.counted(6);
    CHECK(counted.bytes(0) == 8);
    CHECK(counted.bytes(1) == 16);
    CHECK(counted.workspace(0) == 8);
    CHECK(program.counted(1).workspace(0) == 0);
    CHECK(counted.fingerprint() == graph.fingerprint());
    CHECK(program.round(17) == 24);
    CHECK(program.round(24) == 24);
    const std::vector<operator_index> order = {0, 1};
    CHECK(program.leaves_room(order, 34));  // 40 rounded bytes fit below 40
    CHECK_FALSE(program.leaves_room(order, 33));
}

TEST_CASE("where rounding changes nothing, or cannot be summed, sizes are as they are") {
    for (const std::int64_t granule : {std::int64_t{1}, std::int64_t{2}}) {
        const tensor_graph graph = make_tensor_graph(two_buffers(1));
        const roam::counted_program program(graph, granule);
        CHECK(program.granule() == 1);
        CHECK(&program.rounded() == &graph);
        CHECK(program.no_threshold() == 1);
        CHECK(program.round(7) == 7);
    }
    program large;
    constexpr std::int64_t half = std::numeric_limits<std::int64_t>::max() / 2;
    large.add_operator({.writes = {large.add_buffer({.bytes = half}), large.add_buffer({.bytes = half})}});
    const tensor_graph graph = make_tensor_graph(large);
    const roam::counted_program program(graph, std::int64_t{1} << 61U);
    CHECK(program.granule() == 1);
    CHECK(&program.rounded() == &graph);
}
