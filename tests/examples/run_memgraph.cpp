// The program `run_memgraph`: one hash for every device, seed and window, wrong memgraphs refused before a
// run or found out by it, errors by name. STOWAGE_PROGRAM_DIR is where the programs are.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include <stowage/exec.hpp>
#include <stowage/io.hpp>
#include <stowage/io/memgraph_file.hpp>

#include "support/run_program.hpp"

using nlohmann::json;
using stowage::test::outcome;
using stowage::test::run;

namespace {

const std::string program = STOWAGE_PROGRAM_DIR "/run_memgraph ";

/// A program of a chain on one device, as a file, and a memgraph of it.
struct sample {
    stowage::test::temporary_folder folder;
    std::string files;
    stowage::tensor_graph graph;
    stowage::turnip::memgraph memgraph;

    sample() {
        const std::string text =
            R"({"format": "access-list/1", "columns": {"storages": ["bytes", "kind", "name"],
            "ops": ["name", "stage", "reads", "writes"]},
            "storages": [[24, "input", "x"], [24, "intermediate", "a"], [24, "output", "y"]],
            "ops": [["first", "", [0], [1]], ["second", "", [0, 1], [2]]]})";
        stowage::io::write_file(folder / "p.json", text);
        graph = stowage::io::parse_access_list(text).graph;
        using stowage::turnip::vertex_kind;
        const stowage::turnip::operand x{0, 0, 0};
        const stowage::turnip::operand a{1, 0, 24};
        const stowage::turnip::operand y{2, 0, 48};
        memgraph.fingerprint = graph.fingerprint();
        memgraph.arena_bytes = {72};
        memgraph.host_bytes = 48;
        memgraph.start = {{0, stowage::turnip::host, 0}};
        memgraph.final = {{2, stowage::turnip::host, 24}};
        memgraph.add({.kind = vertex_kind::reload, .host_address = 0}, {}, {&x, 1});
        memgraph.add({.op = 0}, {&x, 1}, {&a, 1});
        const stowage::turnip::operand both[] = {x, a};
        memgraph.add({.op = 1}, both, {&y, 1});
        memgraph.add({.kind = vertex_kind::offload, .host_address = 24}, {&y, 1}, {});
        memgraph.edges = {{0, 1}, {0, 2}, {1, 2}, {2, 3}};
        write();
    }
    void write() {
        stowage::io::write_memgraph(folder / "m.json", memgraph);
        files = (folder / "p.json").string() + " " + (folder / "m.json").string() + " ";
    }
};

}  // namespace

TEST_CASE("every device, priority, window and seed gives the one hash") {
    const sample s;
    const std::uint64_t hash = stowage::exec::synthetic_digests(s.graph).contents_hash();
    char expected[17];
    std::snprintf(expected, sizeof expected, "%016llx", static_cast<unsigned long long>(hash));
    for (const std::string options : {"--device host", "--device simulated", "--priority need --window 3",
                                      "--priority fifo --seed 5 --runs 4",
                                      "--device simulated --priority random --runs 20 --no-verify"}) {
        const outcome result = run(program + s.files + "--json " + options);
        CAPTURE(options);
        CAPTURE(result.err);
        REQUIRE(result.status == 0);
        const json answer = json::parse(result.out);
        CHECK(answer["status"] == "ok");
        CHECK(answer["contents_hash"] == expected);
        CHECK(answer["bytes_reloaded"] == 24);
        CHECK(answer["bytes_offloaded"] == 24);
        CHECK(answer["runs"] == (options.find("--runs 4") != std::string::npos    ? 4
                                 : options.find("--runs 20") != std::string::npos ? 20
                                                                                  : 1));
    }
}

TEST_CASE("a wrong memgraph is refused, or found out by the run") {
    sample s;
    s.memgraph.edges = {{0, 1}, {0, 2}, {2, 3}};  // the second operator no longer waits for the first
    s.write();
    const outcome refused = run(program + s.files + "--json");
    CHECK(refused.status == 1);
    CHECK(json::parse(refused.out)["status"] == "not verified");
    CHECK(refused.err.find("race") != std::string::npos);
    // right by luck in the order of one run: orders by chance find it
    CHECK(run(program + s.files + "--json --no-verify --device simulated").status == 1);

    s.memgraph.vertices[0].host_address = 24;  // the copy takes bytes where no input is
    s.memgraph.edges = {{0, 1}, {0, 2}, {1, 2}, {2, 3}};
    s.write();
    for (const std::string device : {"host", "simulated"}) {
        const outcome failed = run(program + s.files + "--json --no-verify --device " + device);
        CHECK(failed.status == 1);
        const json answer = json::parse(failed.out);
        CHECK(answer["status"] == "failed");
        CHECK(answer["operator"] == 0);
        CHECK(answer["vertex"] == 1);
        CHECK(answer["device"] == 0);
        CHECK(answer["lane"] == "d0.compute");
        CHECK_FALSE(answer.contains("contents_hash"));
    }
}

TEST_CASE("the report shows the memgraph and what each lane did") {
    const sample s;
    const std::filesystem::path page = s.folder / "run.html";
    for (const std::string device : {"host", "simulated"}) {
        REQUIRE(run(program + s.files + "--device " + device + " --html " + page.string()).status == 0);
        std::ifstream file(page);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        for (const char* part : {"\"d0.compute\"", "\"reload x\"", "\"second\"", "\"makespan\""})
            CHECK(text.find(part) != std::string::npos);
    }
}

TEST_CASE("where standard output cannot be written, no file is left behind") {
    const sample s;
    const std::filesystem::path page = s.folder / "run.html";
    const std::filesystem::path trace = s.folder / "run.trace.json";
    const outcome full = run("(" + program + s.files + "--json --html " + page.string() + " --trace " +
                             trace.string() + " >/dev/full)");
    CHECK(full.status == 2);
    CHECK(full.err.find("standard output") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(page));
    CHECK_FALSE(std::filesystem::exists(trace));
}

TEST_CASE("CUDA is refused by name where it is not") {
    const sample s;
    const outcome result = run(program + s.files + "--json --device cuda --nvtx");
    if (result.status == 0) {
        CHECK(json::parse(result.out)["status"] == "ok");
        return;
    }
    CHECK(result.err.find("CUDA") != std::string::npos);
    if (result.status != 2) CHECK(json::parse(result.out)["status"] == "failed");
}

TEST_CASE("bad usage and bad input are 2, with the name of what is bad") {
    const sample s;
    CHECK(run(program + s.files + "--device abacus").status == 2);
    for (const std::string window : {"0", "4097"}) {
        const outcome refused = run(program + s.files + "--window " + window);
        CHECK(refused.status == 2);
        CHECK(refused.err.find("`" + window + "` is no whole number from 1 to 4096") != std::string::npos);
    }
    CHECK(run(program + (s.folder / "p.json").string()).status == 2);
    const outcome missing = run(program + (s.folder / "p.json").string() + " /nowhere/m.json");
    CHECK(missing.status == 2);
    CHECK(missing.err.find("/nowhere/m.json") != std::string::npos);
    CHECK(run(program + "-h").status == 0);
}
