#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include <stowage/exec.hpp>
#include <stowage/io/run_trace.hpp>

#include "support/random_memgraph.hpp"
#include "support/temporary_folder.hpp"

using namespace stowage;

TEST_CASE("a run's trace has every vertex on its lane, by the report's times, and lanes have names") {
    const auto made = test::make_random_memgraph(4, {.operators = 20, .devices = 2});
    const auto kernel = [](const exec::kernel_call<exec::lane_index>&) {};
    exec::simulated_device device({.duration = [](const exec::lane_work&) { return 3e-6; }, .memory = false});
    exec::executor executor{made.program, made.graph, kernel, device, {.window = 2}};
    const exec::run_report& report = executor.run({.trace = true});
    REQUIRE(report.status == exec::run_status::ok);
    const auto json = nlohmann::json::parse(io::run_trace_text(made.program, made.graph, report));
    std::set<std::size_t> vertices;
    std::map<std::size_t, std::string> names;
    std::map<std::size_t, double> end;  // by lane; boxes come in the order of their ends
    for (const auto& event : json["traceEvents"]) {
        if (event["ph"] == "M") {
            if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
            continue;
        }
        const std::size_t lane = event["tid"];
        const std::size_t vertex = event["args"]["vertex"];
        CHECK(vertices.insert(vertex).second);
        CHECK(event["cat"] == turnip::to_string(made.graph.vertices[vertex].kind));
        CHECK(event["pid"] == report.lanes[lane].device);
        CHECK(event["dur"].get<double>() == doctest::Approx(3.0));
        CHECK(event["ts"].get<double>() >= end[lane] - 1e-6);
        end[lane] = event["ts"].get<double>() + 3.0;
    }
    CHECK(vertices.size() == made.graph.vertices.size());
    REQUIRE(names.size() == report.lanes.size());
    for (std::size_t l = 0; l < names.size(); ++l)
        CHECK(names[l] == report.lanes[l].name);
    const test::temporary_folder folder;
    io::write_run_trace(folder / "t.json", made.program, made.graph, report);
    CHECK(folder.size() == 1);
}
