#include <stowage/roam/segment_program.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"
#include "support/known_programs.hpp"

using namespace stowage;

TEST_CASE("live bytes in a segment are those of its operators in the whole program") {
    stowage::detail::splitmix64 random(23);
    std::size_t cut = 0;
    for (int round = 0; round < 300; ++round) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 12, .window = 2}));
        roam::segmentation parts = roam::independent_segments(graph);
        if (round % 2 == 0) {  // any cuts of program order will do
            parts.segments.assign(1 + random.below(4), {});
            std::size_t at = 0;
            for (operator_index op = 0; op < graph.operator_count(); ++op) {
                if (at + 1 < parts.segments.size() && random.below(3) == 0) ++at;
                parts.segments[at].operators.push_back(op);
            }
        }
        cut += parts.segments.size() > 1 ? 1U : 0U;
        const roam::segment_programs programs(graph, parts);
        std::vector<operator_index> whole;
        std::vector<std::int64_t> live;
        for (std::size_t i = 0; i < programs.size(); ++i) {
            const roam::segment_program part = programs[i];
            const auto order = program_order(part.graph);
            for (const std::int64_t bytes : live_bytes(part.graph, order))
                live.push_back(bytes + part.passing_bytes);
            for (const operator_index op : part.in_whole(order))
                whole.push_back(op);
            std::int64_t born = 0;
            for (buffer_index b = 0; b < part.graph.buffer_count(); ++b)
                born += part.graph.kind(b) == buffer_kind::output ? part.graph.bytes(b) : 0;
            CHECK(born == part.leaving_bytes);
        }
        CHECK(live == live_bytes(graph, whole));
    }
    CHECK(cut > 100);
}

TEST_CASE("a segment knows its boundary") {
    const tensor_graph graph = make_tensor_graph(
        test::arrows(5, {{0, 1, 10}, {0, 4, 7}, {1, 2, 3}, {1, 3, 5}, {2, 4, 1}, {3, 4, 2}}));
    const roam::segmentation parts{
        .segments = {{.operators = {0}}, {.operators = {1, 2, 3}}, {.operators = {4}}}};
    const roam::segment_programs programs(graph, parts);
    const roam::segment_program middle = programs[1];
    CHECK(middle.passing_bytes == 7);
    CHECK(middle.entering_bytes == 10);
    CHECK(middle.leaving_bytes == 3);
    CHECK(middle.graph.operator_count() == 3);
    CHECK(std::vector(middle.graph.predecessors(2).begin(), middle.graph.predecessors(2).end()) ==
          std::vector<operator_index>{0});
}

TEST_CASE("segments that are not legal are refused, the operator named") {
    const tensor_graph graph = make_tensor_graph(test::arrows(2, {{0, 1, 5}}));
    const auto message = [&](const roam::segmentation& parts) -> std::string {
        try {
            (void)roam::segment_programs(graph, parts);
        } catch (const program_error& error) {
            return error.what();
        }
        return "accepted";
    };
    CHECK(message({.segments = {{.operators = {1}}, {.operators = {0}}}}) ==
          "operator 1: it depends on a later segment");
    CHECK(message({.segments = {{.operators = {0}}}}) == "operator 1: it is in no segment");
    CHECK(message({.segments = {{.operators = {0, 1}}, {.operators = {1}}}}) ==
          "operator 1: it stands in two segments");
    CHECK(message({.segments = {{.operators = {0, 1, 2}}}}) ==
          "operator 2: a segment names an operator too many");
    CHECK(message({.segments = {{.operators = {0, 1}}}}) == "accepted");
}
