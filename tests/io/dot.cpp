#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <stowage/graph.hpp>
#include <stowage/io/dot.hpp>
#include <string>
#include <vector>

#include "support/random_program.hpp"

namespace io = stowage::io;

namespace {

stowage::tensor_graph sample() {
    stowage::program program;
    const auto x = program.add_buffer({.bytes = 8, .kind = stowage::buffer_kind::input, .name = "x"});
    const auto t = program.add_buffer({.bytes = 100, .name = "t"});
    const auto u = program.add_buffer({.bytes = 20, .kind = stowage::buffer_kind::output, .name = "u"});
    program.add_operator(
        {.name = "say \"a\\b\"\n", .reads = {x}, .writes = {t}, .stage = stowage::stage::forward});
    program.add_operator({.reads = {t, t}, .writes = {u}, .stage = stowage::stage::backward});
    return stowage::make_tensor_graph(program);
}

}  // namespace

TEST_CASE("operators are nodes, dependencies edges with their bytes") {
    CHECK(io::dot_text(sample()) ==
          "digraph \"program\" {\n"
          "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
          "  0 [label=\"say \\\"a\\\\b\\\" \", fillcolor=\"#cfe2f3\"];\n"
          "  1 [label=\"operator 1\", fillcolor=\"#f9dcc4\"];\n"
          "  0 -> 1 [label=\"100\"];\n"
          "}\n");
    CHECK(io::dot_text(sample(), {.name = "a \"b\"", .sizes = false}).find("  0 -> 1;\n") !=
          std::string::npos);
    CHECK(io::dot_text({}).find("digraph") == 0);
}

TEST_CASE("with an order, nodes show their step and its live bytes, and the peak is framed") {
    const stowage::tensor_graph graph = sample();
    const auto order = stowage::program_order(graph);
    const std::string text = io::dot_text(graph, {.order = order});
    CHECK(text.find("  0 [label=\"say \\\"a\\\\b\\\" \\nstep 0: 100 B\", fillcolor=\"#cfe2f3\"];") !=
          std::string::npos);
    CHECK(text.find("  1 [label=\"operator 1\\nstep 1: 120 B\", fillcolor=\"#f9dcc4\", penwidth=3];") !=
          std::string::npos);
    const std::vector<stowage::operator_index> wrong = {0, 0};
    CHECK_THROWS_AS(static_cast<void>(io::dot_text(graph, {.order = wrong})), stowage::program_error);
}

TEST_CASE("one line a node and one a dependency") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto graph = stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 12}));
        const std::string text = io::dot_text(graph);
        CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) ==
              3 + graph.operator_count() + graph.dependency_count());
    }
}
