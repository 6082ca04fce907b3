#include <stowage/graph/detail/build.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace stowage;
using stowage::detail::buffer_facts;
using stowage::detail::graph_builder;
using stowage::detail::operator_facts;

TEST_CASE("an array stays empty as long as every value is the default") {
    std::vector<int> values;
    for (std::size_t i = 0; i < 3; ++i)
        detail::push_sparse(values, i, 7, 7);
    CHECK(values.empty());
    detail::push_sparse(values, 3, 5, 7);
    detail::push_sparse(values, 4, 7, 7);
    CHECK(values == std::vector{7, 7, 7, 5, 7});
    std::vector<int> from_the_start;
    detail::push_sparse(from_the_start, 0, 1, 7);
    CHECK(from_the_start == std::vector{1});
}

TEST_CASE("names that begin late or are never given take their places") {
    graph_builder builder;
    builder.add_buffer({});
    builder.add_buffer({.name = "second"});
    builder.add_buffer({});
    builder.begin_operator({}, {});
    builder.begin_operator({}, "named");
    const tensor_graph graph(builder.finish());
    CHECK(graph.buffer_name(0).empty());
    CHECK(graph.buffer_name(1) == "second");
    CHECK(graph.buffer_name(2).empty());
    CHECK(graph.operator_name(0).empty());
    CHECK(graph.operator_name(1) == "named");
    CHECK(graph.describe_buffer(1).text("buffer") == "buffer 1 (second)");
    CHECK(graph.describe_operator(7).text("operator") == "operator 7");
}

TEST_CASE("operators without accesses, without reads, without writes keep their rows apart") {
    graph_builder builder;
    builder.add_buffer({.bytes = 1});
    builder.begin_operator({}, {});
    builder.begin_operator({}, {});
    builder.add_write(0);
    builder.begin_operator({.workspace = 3}, {});
    builder.add_read(0);
    builder.begin_operator({}, {});
    builder.add_control_predecessor(0);
    const tensor_graph graph(builder.finish());
    CHECK(graph.operator_count() == 4);
    CHECK(graph.accesses(0).empty());
    CHECK(graph.reads(1).empty());
    CHECK(graph.writes(1).size() == 1);
    CHECK(graph.reads(2).size() == 1);
    CHECK(graph.writes(2).empty());
    CHECK(graph.workspace(2) == 3);
    CHECK(graph.predecessors(3).size() == 1);
}
