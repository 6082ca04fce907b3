// The program `layout` on the cases: exit status, JSON, answers checked by verify, errors by name, and no
// file left behind. STOWAGE_PROGRAM_DIR is where the programs are.

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stowage/io.hpp>
#include <stowage/verify/layout.hpp>
#include <string>
#include <vector>

#include "support/run_program.hpp"

namespace io = stowage::io;
namespace layout = stowage::layout;
using nlohmann::json;
using stowage::test::outcome;
using stowage::test::temporary_folder;

namespace {

const std::filesystem::path cases = STOWAGE_TEST_DATA "/cases";
const std::string program = STOWAGE_PROGRAM_DIR "/layout";

std::string path_of(const std::string& name) {
    return (cases / (name + ".csv")).string();
}

/// Runs the program on a problem, checks what must always hold, and gives its JSON.
json answer_of(const std::string& problem_path, const std::string& options, int status) {
    const temporary_folder folder;
    const std::string answer_path = (folder.path() / "answer.csv").string();
    const outcome result =
        stowage::test::run(program + " " + problem_path + " --json -o " + answer_path + " " + options);
    CAPTURE(problem_path);
    CAPTURE(result.err);
    REQUIRE(result.status == status);
    CHECK(result.err.empty() == (status == 0));
    json summary = json::parse(result.out);
    layout::problem problem = io::read_layout_problem(problem_path);
    const layout::problem answer = io::read_layout_problem(answer_path);
    CHECK(summary["buffers"] == problem.buffers.size());
    REQUIRE(answer.names == problem.names);
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> pools;
    for (const layout::buffer& b : answer.buffers) {
        offsets.push_back(b.offset.value());
        pools.push_back(b.pool.value_or(0));
    }
    problem.capacities.assign(summary["arena"].is_array() ? summary["arena"].size() : 1,
                              std::numeric_limits<std::int64_t>::max());
    const stowage::verify::verdict verdict = stowage::verify::check_layout(problem, offsets, pools);
    CHECK(verdict.reason.empty());
    if (summary["arena"].is_array())
        CHECK(summary["arena"] == verdict.arenas);
    else
        CHECK(summary["arena"] == verdict.arena);
    return summary;
}

}  // namespace

TEST_CASE("the cases without a capacity are optimal at the arena that is right") {
    const json expected = json::parse(io::read_file(cases / "expected.json"));
    std::size_t count = 0;
    for (const json& entry : expected) {
        if (entry["room"] != "layout" || !entry["expect"].contains("arena")) continue;
        const std::string name = entry["case"];
        CAPTURE(name);
        const json summary = answer_of(path_of(name), "", 0);
        CHECK(summary["arena"] == entry["expect"]["arena"]);
        CHECK(summary["lower_bound"] == summary["arena"]);
        CHECK(summary["status"] == "optimal");
        if (entry["expect"].contains("load")) CHECK(summary["load"] == entry["expect"]["load"]);
        ++count;
    }
    CHECK(count == 11);
}

TEST_CASE("within a capacity: feasible, or infeasible with who is to blame and what would do") {
    CHECK(answer_of(path_of("first-heuristic-does-not-fit"), "--capacity 1KiB", 0)["arena"] == 1024);
    CHECK(answer_of(path_of("sixty-buffers-without-slack"), "--capacity 4099", 0)["arena"] == 4099);
    CHECK(answer_of(path_of("buffer-larger-than-capacity"), "--capacity 330", 0)["arena"] == 330);
    CHECK(answer_of(path_of("alignment-decides-the-optimum"), "--capacity 81", 0)["arena"] == 81);

    const json huge = answer_of(path_of("buffer-larger-than-capacity"), "--capacity 256", 1);
    CHECK(huge["status"] == "infeasible");
    CHECK(huge["blame"] == json{"huge"});
    CHECK(huge["least_capacity"] == 330);

    const json blame = answer_of(path_of("who-is-to-blame"), "--capacity 100", 1);
    CHECK(blame["status"] == "infeasible");
    CHECK(std::set<std::string>(blame["blame"].begin(), blame["blame"].end()) ==
          std::set<std::string>{"p0", "p1", "p2", "p3"});
    CHECK(blame["least_capacity"] == 115);

    const json aligned = answer_of(path_of("alignment-decides-the-optimum"), "--capacity 80", 1);
    CHECK(aligned["status"] == "infeasible");
    CHECK(aligned["least_capacity"] == 81);
    CHECK(aligned["blame"].size() >= 2);
}

TEST_CASE("a limit that runs out is unknown, never infeasible") {
    for (const char* options : {"--states 1", "--budget 0", "--states 60"}) {
        const temporary_folder folder;
        const outcome result = stowage::test::run(program + " " + path_of("sixty-buffers-without-slack") +
                                                  " --capacity 4099 --json " + options);
        const json summary = json::parse(result.out);
        if (result.status == 0) {
            CHECK(summary["arena"] == 4099);
        } else {
            CHECK(result.status == 1);
            CHECK(summary["status"] == "unknown");
            CHECK(summary["arena"] > 4099);
            CHECK(summary["lower_bound"] == 4099);
            CHECK(result.err.find("unknown at capacity 4099") != std::string::npos);
        }
    }
}

TEST_CASE("bad input: exit status 2, place and name on standard error, no file") {
    const auto refused = [](const std::string& arguments, const std::vector<std::string>& words) {
        const temporary_folder folder;
        const outcome result = stowage::test::run("cd " + folder.path().string() + " && " + program + " " +
                                                  arguments + " -o answer.csv --svg picture.svg");
        CAPTURE(arguments);
        CHECK(result.status == 2);
        CHECK(result.out.empty());
        for (const std::string& word : words) {
            CAPTURE(result.err);
            CHECK(result.err.find(word) != std::string::npos);
        }
        CHECK(std::filesystem::is_empty(folder.path()));
    };
    refused(path_of("lifetime-ends-before-it-begins"), {".csv:3:", "back", "lower 7 > upper 3"});
    refused(path_of("alignment-zero"), {".csv:3:", "`b`", "alignment 0"});
    refused(path_of("sum-passes-2-to-63"), {"sum-passes-2-to-63.csv", "(x)", "(y)"});
    refused("/nowhere.csv", {"/nowhere.csv", "No such file"});
    refused(cases.string(), {cases.string()});
    refused(path_of("who-is-to-blame") + " --capacity 10Mx", {"--capacity"});
    refused(path_of("who-is-to-blame") + " --capacity -5", {});
    refused(path_of("who-is-to-blame") + " --alignment 0", {"--alignment"});
    refused(path_of("who-is-to-blame") + " --budget nan", {"--budget"});
    refused(path_of("who-is-to-blame") + " --budget 1 --states 5", {"--budget"});
    refused(path_of("who-is-to-blame") + " --wrong", {"--wrong"});
    refused("", {"problem"});

    const temporary_folder folder;
    const std::string base =
        "cd " + folder.path().string() + " && " + program + " " + path_of("lifetimes-that-touch");
    CHECK(stowage::test::run(base + " -o answer.csv --svg none/picture.svg").status == 2);
    CHECK(stowage::test::run(base + " --svg picture.svg -o none/answer.csv").status == 2);
    CHECK(stowage::test::run(base + " -o - --json").status == 2);
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("answers go to standard output if asked, pictures to a file, help is no error") {
    const temporary_folder folder;
    const std::string svg = (folder.path() / "p.svg").string();
    const outcome result =
        stowage::test::run(program + " " + path_of("lifetimes-that-touch") + " -o - --svg " + svg);
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    const layout::problem answer = io::parse_layout_problem(result.out);
    CHECK(answer.buffers.size() == 4);
    CHECK(answer.buffers[0].offset.has_value());
    CHECK(io::read_file(svg).find("<svg") == 0);
    CHECK(stowage::test::run(program + " -h").status == 0);
    const outcome text = stowage::test::run(program + " " + path_of("lifetimes-that-touch"));
    CHECK(text.out.find("4 buffers, load 128, lower bound 128, arena 128: optimal") == 0);
}

TEST_CASE("pins, gaps, pools and alignment of the columns are kept") {
    const temporary_folder folder;
    const std::string path = (folder.path() / "problem.csv").string();
    io::write_file(path,
                   "pool,id,lower,upper,size,alignment,offset,gaps\n"
                   "0,pinned,0,10,8,,32,\n"
                   "0,gapped,0,10,100,64,,2-8\n"
                   "0,inside,3,7,90,,,\n"
                   "1,\"other, pool\",0,5,1000,,,\n"
                   "1,empty,5,5,7,,,\n"
                   "1,zero,0,9,0,,,\n");
    const json summary = answer_of(path, "", 0);
    REQUIRE(summary["arena"].size() == 2);
    CHECK(summary["arena"][1] == 1000);
    CHECK(answer_of(path, "--capacity 1KiB,1000", 0)["status"] != "unknown");
    CHECK(answer_of(path, "--capacity 1KiB,999", 1)["status"] == "infeasible");
    const outcome missing = stowage::test::run(program + " " + path + " --capacity 5000");
    CHECK(missing.status == 2);
    CHECK(missing.err.find("other, pool") != std::string::npos);
    const json aligned = answer_of(path_of("lifetimes-that-touch"), "--alignment 256", 0);
    CHECK(aligned["arena"].get<std::int64_t>() >= 128);
}

TEST_CASE("the same answer from run to run, whatever the number of threads") {
    const std::string base = program + " " + path_of("sixty-buffers-without-slack") + " -o - --seed 9 ";
    const outcome first = stowage::test::run(base);
    CHECK(first.status == 0);
    CHECK(stowage::test::run(base).out == first.out);
    CHECK(stowage::test::run(base + "--threads 2").out == first.out);
}

TEST_CASE("several pools: a buffer without a pool may lie in any, and a no is proven") {
    const stowage::test::temporary_folder folder;
    const std::string problem = (folder.path() / "two.csv").string();
    std::ofstream(problem) << "id,lower,upper,size\na,0,5,400\nb,0,5,300\n";
    const std::string command =
        std::string(STOWAGE_PROGRAM_DIR) + "/layout " + problem + " --json --capacity ";
    const stowage::test::outcome fits = stowage::test::run(command + "300,400");
    CHECK(fits.status == 0);
    CHECK(nlohmann::json::parse(fits.out)["status"] == "feasible");
    const stowage::test::outcome too_small = stowage::test::run(command + "300,300");
    CHECK(too_small.status == 1);
    const nlohmann::json answer = nlohmann::json::parse(too_small.out);
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["blame"] == nlohmann::json::array({"a"}));
}
