#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <stowage/graph.hpp>
#include <stowage/io/simulation_trace.hpp>
#include <stowage/turnip/simulate.hpp>
#include <string>
#include <utility>

#include "support/naive_memgraph.hpp"
#include "support/random_program.hpp"
#include "support/temporary_folder.hpp"

namespace turnip = stowage::turnip;

TEST_CASE("every vertex is one box on its lane, boxes of a lane do not overlap, lanes have names") {
    const auto program = stowage::make_tensor_graph(stowage::test::random_program(3, {.operators = 12}));
    const turnip::memgraph graph = stowage::test::naive_memgraph(program, 3, {.devices = 2});
    const turnip::simulation run = turnip::simulate(program, graph);
    const auto json = nlohmann::json::parse(stowage::io::trace_text(program, graph, run));
    std::map<int, double> end;
    std::size_t boxes = 0;
    std::size_t names = 0;
    std::map<std::pair<int, double>, double> by_begin;
    for (const auto& event : json["traceEvents"]) {
        if (event["ph"] == "M") {
            ++names;
            continue;
        }
        ++boxes;
        by_begin[{event["tid"], event["ts"]}] = event["dur"];
        CHECK(event["pid"] == run.lanes[event["tid"]].device);
        CHECK(event["args"].contains(event["cat"] == "op" ? "operator" : "bytes"));
    }
    for (const auto& [place, dur] : by_begin) {
        CHECK(end[place.first] <= place.second + 1e-6);
        end[place.first] = place.second + dur;
    }
    CHECK(boxes == graph.vertices.size());
    CHECK(names == 2 + run.lanes.size());
    const stowage::test::temporary_folder folder;
    stowage::io::write_trace(folder / "t.json", program, graph, run);
    CHECK(folder.size() == 1);
}
