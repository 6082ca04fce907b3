// The program `memgraph` on small programs: exit status, JSON, memgraphs checked by verify, errors by name,
// and no file left behind.

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stowage/io/access_list.hpp>
#include <stowage/io/memgraph_file.hpp>
#include <stowage/verify/memgraph.hpp>
#include <string>
#include <vector>

#include "support/run_program.hpp"

namespace io = stowage::io;
using nlohmann::json;
using stowage::test::outcome;
using stowage::test::temporary_folder;

namespace {

const std::string program = STOWAGE_PROGRAM_DIR "/memgraph";
const std::string data = STOWAGE_EXAMPLE_DATA;

/// A weight and two wide tensors; at 30 bytes something must leave.
std::string small_program(const temporary_folder& folder) {
    const std::string path = (folder.path() / "small.json").string();
    std::ofstream(path) << R"({"format": "access-list/1",
        "columns": {"storages": ["bytes", "kind", "name"], "ops": ["name", "reads", "writes", "seconds"]},
        "storages": [[10, "parameter", "w"], [10, "intermediate", "a"], [20, "intermediate", "b"],
                     [10, "output", "y"]],
        "ops": [["first", [0], [1], 1], ["second", [], [2], 1], ["third", [1], [3], 1],
                ["fourth", [2, 3], [3], 1]]})";
    return path;
}

}  // namespace

TEST_CASE("every option makes a memgraph that is right, and the JSON says what it is") {
    const temporary_folder folder;
    const std::string path = small_program(folder);
    const auto loaded = io::read_access_list(path);
    for (const char* options :
         {"", "--policy horizon", "--start device", "--start steady", "--once", "--fixed-order",
          "--order dfs", "--order cheapest", "--goal time", "--alignment 2", "--host 100", "--budget 0.1",
          "--policy horizon --start steady"}) {
        CAPTURE(options);
        const std::string file = (folder.path() / "m.json").string();
        const outcome result = stowage::test::run(
            program + " " + path + " --capacity 40 --json --simulate -o " + file + " " + options);
        CAPTURE(result.err);
        REQUIRE(result.status == 0);
        CHECK(result.err.empty());
        const auto graph = io::read_memgraph(file, loaded.graph);
        const auto verdict = stowage::verify::check_memgraph(loaded.graph, graph, {.capacities = {40}});
        CHECK(verdict.reason == "");
        const json summary = json::parse(result.out);
        CHECK(summary["arena_bytes"] == graph.arena_bytes);
        CHECK(summary["host_bytes"] == graph.host_bytes);
        CHECK(summary["vertices"] == graph.vertices.size());
        CHECK(summary["edges"] == graph.edges.size());
        CHECK(summary["bytes_moved"].get<std::int64_t>() ==
              summary["bytes_offloaded"].get<std::int64_t>() + summary["bytes_reloaded"].get<std::int64_t>());
        CHECK(summary["bytes_moved_lower_bound"].get<std::int64_t>() <=
              summary["bytes_moved"].get<std::int64_t>());
        CHECK(summary["makespan_seconds"].get<double>() >= 4);
        CHECK(summary["makespan_lower_bound_seconds"].get<double>() <=
              summary["makespan_seconds"].get<double>() + 1e-9);
        for (const char* key : {"status", "bytes_transferred", "memory_edges", "seconds"})
            CHECK(summary.contains(key));
    }
}

TEST_CASE("two devices: placed by the compiler, each with its capacity") {
    const temporary_folder folder;
    const std::string path = small_program(folder);
    const std::string file = (folder.path() / "m.json").string();
    const outcome result = stowage::test::run(program + " " + path + " --capacity 40,1kB --json -o " + file);
    REQUIRE(result.status == 0);
    const auto loaded = io::read_access_list(path);
    const auto graph = io::read_memgraph(file, loaded.graph);
    CHECK(graph.arena_bytes.size() == 2);
    CHECK(stowage::verify::check_memgraph(loaded.graph, graph, {.capacities = {40, 1000}}).reason == "");
}

TEST_CASE("a report, a trace and a text for people") {
    const temporary_folder folder;
    const std::string path = small_program(folder);
    const outcome result =
        stowage::test::run(program + " " + path + " --capacity 40 --html " + (folder / "r.html").string() +
                           " --trace " + (folder / "t.json").string());
    REQUIRE(result.status == 0);
    CHECK(result.out.find("small: ") == 0);
    CHECK(result.out.find("simulated: ") != std::string::npos);
    std::ifstream trace(folder / "t.json");
    CHECK(json::parse(trace)["traceEvents"].size() > 4);
    CHECK(std::filesystem::file_size(folder / "r.html") > 10'000);
    CHECK(folder.size() == 3);
}

TEST_CASE("what does not fit: status 1, the operator and the least capacity, no file") {
    const temporary_folder folder;
    const std::string path = small_program(folder);
    for (const char* policy : {"residency", "horizon"}) {
        CAPTURE(policy);
        const outcome result = stowage::test::run(program + " " + path + " --capacity 29 --json -o " +
                                                  (folder / "m.json").string() + " --policy " + policy);
        CHECK(result.status == 1);
        const json summary = json::parse(result.out);
        CHECK(summary["status"] == "infeasible");
        CHECK(summary["least_capacity_bytes"] == 30);
        CHECK(summary["operator"] == 3);
        CHECK(result.err.find("fourth") != std::string::npos);
        CHECK(folder.size() == 1);
    }
}

TEST_CASE("bad usage and bad input: status 2, place and name, no file") {
    const temporary_folder folder;
    const std::string path = small_program(folder);
    const std::string file = " -o " + (folder / "m.json").string();
    const auto refused = [&](const std::string& options, const std::string& words) {
        const outcome result = stowage::test::run(program + " " + options + file);
        CAPTURE(result.err);
        CHECK(result.status == 2);
        CHECK(result.out.empty());
        CHECK((result.err.find(words) != std::string::npos));
        CHECK(folder.size() == 1);
    };
    refused(path, "--capacity is required");
    refused(path + " --capacity 12xB", "12xB");
    refused(path + " --capacity 40 --host much", "much");
    refused(path + " --capacity 40 --policy best", "--policy");
    refused(path + " --capacity 40 --budget -1", "--budget");
    refused(path + " --capacity 40 --trace \"\"", "--trace");
    refused(path + " --capacity 40 --machine /nowhere.json", "/nowhere.json");
    refused("/nowhere.json --capacity 40", "/nowhere.json");
    refused(path + " --capacity 40 --html " + (folder.path() / "." / "m.json").string(), "two options");
    CHECK(stowage::test::run(program + " " + path + " --capacity 40 --json -o -").status == 2);
    CHECK(stowage::test::run(program + " --help").status == 0);
}

TEST_CASE("where standard output cannot be written or nobody reads it, no file is left behind") {
    const temporary_folder folder;
    const std::string path = small_program(folder);
    const std::string command =
        program + " " + path + " --capacity 40 --html " + (folder / "r.html").string();
    const std::string file = (folder / "m.json").string();
    const outcome full = stowage::test::run("(" + command + " --json -o " + file + " >/dev/full)");
    CHECK(full.status == 2);
    CHECK(full.err.find("standard output") != std::string::npos);
    CHECK(folder.size() == 1);
    const outcome unread =
        stowage::test::run("{ " + command + " -o - --trace " + file + "; echo $? >&2; } | true");
    CHECK(folder.size() == (unread.err == "0\n" ? 3 : 1));  // 0: it was faster than `true`
}

TEST_CASE("a program that takes longer than the universe has its times all the same") {
    const temporary_folder folder;
    const std::string path = (folder.path() / "long.json").string();
    std::ofstream(path) << R"({"format": "access-list/1",
        "columns": {"storages": ["bytes", "kind"], "ops": ["reads", "writes", "seconds"]},
        "storages": [[10, "output"]], "ops": [[[], [0], 1e300]]})";
    const outcome result = stowage::test::run(program + " " + path + " --capacity 40 --simulate");
    CHECK(result.err.empty());
    CHECK(result.status == 0);
    CHECK(result.out.find("ms") != std::string::npos);
}
