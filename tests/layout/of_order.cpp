#include <stowage/layout/of_order.hpp>

#include <doctest/doctest.h>

#include <vector>

#include <stowage/graph.hpp>
#include <stowage/layout/problem.hpp>

using namespace stowage;

namespace {

tensor_graph small() {
    program p;
    const auto w = p.add_buffer({.bytes = 100, .kind = buffer_kind::parameter, .name = "w"});
    const auto d = p.add_buffer({.bytes = 10, .kind = buffer_kind::donated, .name = "d"});
    const auto a = p.add_buffer({.bytes = 20, .name = "a", .alignment = 8});
    const auto o = p.add_buffer({.bytes = 30, .kind = buffer_kind::output, .name = "o", .pinned_offset = 64});
    p.add_buffer({.bytes = 40, .name = "nobody's"});
    p.add_operator({.name = "f", .reads = {w, d}, .writes = {a}});
    p.add_operator({.name = "g", .reads = {a}, .writes = {o}, .workspace = 7});
    p.add_operator({.name = "h", .reads = {a}, .writes = {a}});
    return make_tensor_graph(p);
}

}  // namespace

TEST_CASE("items are the buffers under their own index, then the workspaces in running order") {
    const tensor_graph graph = small();
    const std::vector<operator_index> order = {0, 1, 2};
    const layout::order_layout made = layout::layout_problem_of(graph, order, 16);
    REQUIRE(made.problem.buffers.size() == 6);
    CHECK(made.item_count() == 6);
    CHECK(made.problem.alignment == 16);
    const auto life = [&](std::size_t i) {
        return layout::interval{made.problem.buffers[i].lower, made.problem.buffers[i].upper};
    };
    CHECK(!made.problem.buffers[0].takes_part());
    CHECK(life(1) == layout::interval{0, 1});
    CHECK(life(2) == layout::interval{0, 3});
    CHECK(life(3) == layout::interval{1, 3});
    CHECK(!made.problem.buffers[4].takes_part());
    CHECK(life(5) == layout::interval{1, 2});
    CHECK(made.problem.buffers[2].alignment == 8);
    CHECK(made.problem.buffers[3].offset == 64);
    CHECK(made.problem.buffers[5].size == 7);
    CHECK(made.item_of_buffer(0) == layout::no_item);
    CHECK(made.item_of_buffer(3) == 3);
    CHECK(made.item_of_buffer(4) == layout::no_item);
    CHECK(made.item_of_workspace(0) == layout::no_item);
    CHECK(made.item_of_workspace(1) == 5);
    CHECK(made.owner(5) == 1);
    CHECK(made.owner(2) == no_operator);
    CHECK(made.problem.names[5] == "workspace of operator 1 (g)");
    CHECK_NOTHROW(layout::validate(made.problem));
    const std::vector<std::int64_t> offsets = {0, 0, 16, 64, 0, 32};
    CHECK(made.buffer_offsets(offsets) == std::vector<std::int64_t>{-1, 0, 16, 64, -1});
    CHECK(made.workspace_offsets(offsets) == std::vector<std::int64_t>{-1, 32, -1});
}

TEST_CASE("a donated buffer lives from the start, an output to the end, whatever the order") {
    program p;
    const auto d = p.add_buffer({.bytes = 10, .kind = buffer_kind::donated});
    const auto o = p.add_buffer({.bytes = 20, .kind = buffer_kind::output});
    p.add_operator({.writes = {o}});
    p.add_operator({.reads = {d}});
    const tensor_graph graph = make_tensor_graph(p);
    const std::vector<operator_index> forward = {0, 1};
    const std::vector<operator_index> backward = {1, 0};
    const auto first = layout::layout_problem_of(graph, forward).problem.buffers;
    CHECK(first[0].upper == 2);
    CHECK(first[1].lower == 0);
    const auto second = layout::layout_problem_of(graph, backward).problem.buffers;
    CHECK(second[0].lower == 0);
    CHECK(second[0].upper == 1);
    CHECK(second[1].lower == 1);
    CHECK(second[1].upper == 2);
    CHECK(layout::layout_problem_of(graph, forward).problem.names.empty());
}

TEST_CASE("bad orders and alignments are refused") {
    const tensor_graph graph = small();
    const std::vector<operator_index> twice = {0, 0, 2};
    CHECK_THROWS_AS((void)layout::layout_problem_of(graph, twice), program_error);
    const std::vector<operator_index> order = {0, 1, 2};
    CHECK_THROWS_AS((void)layout::layout_problem_of(graph, order, 0), layout_error);
}
