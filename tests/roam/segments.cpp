#include <stowage/roam/segments.hpp>

#include <doctest/doctest.h>

#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"
#include "support/known_programs.hpp"

using namespace stowage;

namespace {

/// By the definition: an ancestor or a descendant of every other operator of the core.
std::vector<operator_index> by_definition(const tensor_graph& graph, const std::vector<bool>& core) {
    reachability paths(graph);
    std::vector<operator_index> result;
    for (operator_index v = 0; v < graph.operator_count(); ++v) {
        bool all = core[v];
        for (operator_index u = 0; u < graph.operator_count() && all; ++u)
            all = u == v || !core[u] || paths.reaches(u, v) || paths.reaches(v, u);
        if (all) result.push_back(v);
    }
    return result;
}

}  // namespace

TEST_CASE("memory-insensitive operators are those of the definition, on whole programs and on parts") {
    stowage::detail::splitmix64 random(11);
    std::size_t found = 0;
    for (int round = 0; round < 400; ++round) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 4 + random.below(14), .window = 3}));
        CHECK(roam::memory_insensitive_operators(graph) ==
              by_definition(graph, std::vector<bool>(graph.operator_count(), true)));
        std::vector<bool> core(graph.operator_count());
        for (std::size_t op = 0; op < core.size(); ++op)
            core[op] = random.below(3) != 0;
        const auto insensitive = roam::memory_insensitive_operators(graph, core);
        CHECK(insensitive == by_definition(graph, core));
        found += insensitive.size();
    }
    CHECK(found > 100);
}

TEST_CASE("a chain has only boundaries, a diamond one segment between two of them") {
    const tensor_graph chain = make_tensor_graph(test::arrows(3, {{0, 1, 5}, {1, 2, 5}}));
    CHECK(roam::independent_segments(chain).segments.size() == 3);
    CHECK(roam::independent_segments(chain).longest() == 1);
    const tensor_graph diamond =
        make_tensor_graph(test::arrows(5, {{0, 1, 5}, {0, 2, 5}, {1, 3, 5}, {2, 3, 5}, {3, 4, 5}}));
    const roam::segmentation parts = roam::independent_segments(diamond);
    REQUIRE(parts.segments.size() == 4);
    CHECK(parts.segments[0].boundary);
    CHECK_FALSE(parts.segments[1].boundary);
    CHECK(parts.segments[1].operators == std::vector<operator_index>{1, 2});
    CHECK(parts.segment_of() == std::vector<std::uint32_t>{0, 1, 1, 2, 3});
    CHECK(parts.independent);
}

TEST_CASE("an operator that touches nothing of the plan does not hold segments together") {
    program step;
    const auto counter = step.add_buffer({.bytes = 8, .kind = buffer_kind::buffer});
    const auto a = step.add_buffer({.bytes = 4});
    const auto b = step.add_buffer({.bytes = 4});
    step.add_operator({.writes = {a}});
    step.add_operator({.reads = {counter}, .writes = {counter}});
    step.add_operator({.reads = {a}, .writes = {b}});
    const tensor_graph graph = make_tensor_graph(step);
    CHECK(roam::is_weightless(graph, 1));
    CHECK_FALSE(roam::is_weightless(graph, 0));
    CHECK(roam::memory_insensitive_operators(graph).empty());
    CHECK(roam::independent_segments(graph).segments.size() == 3);
}

TEST_CASE("programs without operators, and flags that do not fit") {
    CHECK(roam::independent_segments(tensor_graph{}).segments.empty());
    const tensor_graph chain = make_tensor_graph(test::arrows(2, {{0, 1, 5}}));
    CHECK_THROWS_AS((void)roam::memory_insensitive_operators(chain, std::vector<bool>{true}), program_error);
}
