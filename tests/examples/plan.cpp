// Runs the program `plan` as a user would and looks at its exit status, its JSON and the files that it
// writes.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include <stowage/detail/random.hpp>
#include <stowage/io.hpp>
#include <stowage/verify.hpp>

#include "support/run_program.hpp"

using nlohmann::json;
using namespace stowage;

namespace {

const std::string executable = std::string(STOWAGE_PROGRAM_DIR) + "/plan";
const std::string cases = std::string(STOWAGE_TEST_DATA) + "/cases/";
const std::string graphs = std::string(STOWAGE_EXAMPLE_DATA) + "/";

/// Programs of twelve operators side by side that share nothing; each operator reads up to three results.
json many_components(std::size_t components) {
    stowage::detail::splitmix64 random(12);
    json storages = json::array();
    json ops = json::array();
    for (std::size_t c = 0; c < components; ++c) {
        const std::size_t first = storages.size();
        for (std::size_t made = 0; made < 12; ++made) {
            std::set<std::size_t> reads;
            for (std::uint64_t left = made == 0 ? 0 : 1 + random.below(3); left > 0; --left)
                reads.insert(first + random.below(made));
            storages.push_back({1 + random.below(1'000'000), "intermediate"});
            ops.push_back({reads, {first + made}});
        }
    }
    return {{"format", "access-list/1"},
            {"model", "components"},
            {"columns", {{"storages", {"bytes", "kind"}}, {"ops", {"reads", "writes"}}}},
            {"storages", storages},
            {"ops", ops}};
}

}  // namespace

TEST_CASE("cases from public reports: the least peak is found and proven") {
    struct expectation {
        const char* name;
        std::int64_t best;
        std::int64_t program_order;
    };
    for (const expectation& e : {expectation{"workspace-decides-the-order", 120, 130},
                                 {"deferred-weight-gradients", 147, 190},
                                 {"independent-optimizer-steps", 59, 253},
                                 {"in-place-chain-with-a-reader", 108, 108},
                                 {"concatenation-in-one-storage", 52, 52}}) {
        CAPTURE(e.name);
        const test::outcome run = test::run(executable + " --json " + cases + e.name + ".program.json");
        REQUIRE(run.status == 0);
        const json answer = json::parse(run.out);
        CHECK(answer["peak_bytes"] == e.best);
        CHECK(answer["peak_lower_bound_bytes"] == e.best);
        CHECK(answer["program_peak_bytes"] == e.program_order);
        CHECK(answer["status"] == "optimal");
        CHECK_FALSE(answer.contains("order"));
    }
}

TEST_CASE("bad programs: exit status 2, the place on standard error, no file left behind") {
    const test::temporary_folder folder;
    for (const auto& entry : std::filesystem::directory_iterator(cases)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("bad-") && !name.starts_with("read-before")) continue;
        CAPTURE(name);
        const test::outcome run = test::run(executable + " " + entry.path().string() + " -o " +
                                            (folder.path() / "p.json").string());
        CHECK(run.status == 2);
        CHECK(run.out.empty());
        CHECK(run.err.find(name) != std::string::npos);
        CHECK(std::filesystem::is_empty(folder.path()));
    }
    CHECK(test::run(executable + " no-such-file.json").status == 2);
    CHECK(test::run(executable).status == 2);
    CHECK(
        test::run(executable + " --order no-such-order " + cases + "workspace-decides-the-order.program.json")
            .status == 2);
    CHECK(test::run(executable + " --alignment 0 " + cases + "workspace-decides-the-order.program.json")
              .status == 2);
    CHECK(test::run(executable + " -h").status == 0);
}

TEST_CASE("a captured training step: plan, report, picture and graph are written, the plan verifies") {
    const test::temporary_folder folder;
    const std::string out = (folder.path() / "plan.json").string();
    const std::string input = graphs + "alexnet-b1.json.gz";
    const test::outcome run =
        test::run(executable + " " + input + " -o " + out + " --html " + (folder.path() / "r.html").string() +
                  " --svg " + (folder.path() / "p.svg").string() + " --dot " +
                  (folder.path() / "g.dot").string() + " --alignment 512 --compare --budget 1");
    REQUIRE(run.status == 0);
    CHECK(run.out.find("288.00 MiB") != std::string::npos);
    CHECK(run.out.find("lescea+llfb-fit") != std::string::npos);
    for (const char* column : {"fragm.", "gap", "seconds"})  // of the comparison too
        CHECK(run.out.find(column, run.out.find("alexnet-b1", run.out.find("bound"))) != std::string::npos);
    const io::access_list read = io::read_access_list(input);
    const io::plan_file plan = io::read_plan(out, read.graph);
    const verify::verdict verdict = verify::check_plan(read.graph, plan.plan);
    CHECK_MESSAGE(verdict.ok, verdict.reason);
    CHECK(plan.plan.alignment == 512);
    for (const char* file : {"r.html", "p.svg", "g.dot"})
        CHECK(std::filesystem::file_size(folder.path() / file) > 1000);
}

TEST_CASE("two runs write the same bytes, but for the seconds") {
    const std::string command =
        executable + " --json -o - " + cases + "deferred-weight-gradients.program.json";
    json first = json::parse(test::run(command).out);
    json second = json::parse(test::run(command + " --threads 4").out);
    CHECK(first.contains("order"));
    first.erase("seconds");
    second.erase("seconds");
    CHECK(first == second);
}

TEST_CASE("two compilers plan the same bytes") {
    // The builds of tests/run lie side by side: dev is g++'s, clang is clang's. One that is older than a
    // header says nothing of the headers as they are.
    const std::filesystem::path here = std::filesystem::path(STOWAGE_PROGRAM_DIR).parent_path();
    const std::filesystem::path other =
        here.parent_path() / (here.filename() == "dev" ? "clang" : "dev") / "examples" / "plan";
    std::filesystem::file_time_type newest = std::filesystem::file_time_type::min();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(STOWAGE_EXAMPLE_DATA).parent_path().parent_path() / "include"))
        newest = std::max(newest, entry.last_write_time());
    if (!std::filesystem::exists(other) || std::filesystem::last_write_time(other) < newest) {
        MESSAGE("skipped: no build of another compiler beside this one, or an old one");
        return;
    }
    for (const std::string options :
         {"alexnet-b32.json.gz", "vgg16-b1.json.gz --alignment 512", "vgg16-b32.json.gz --threads 8",
          "alexnet-b1.json.gz --order roam-paper --alignment 512 --threads 2",
          "vgg16-b32.json.gz --order roam-paper --streams 2"}) {
        CAPTURE(options);
        const auto planned = [&](const std::string& program) {
            const test::outcome run = test::run(program + " --json -o - " + graphs + options);
            REQUIRE(run.status == 0);
            json answer = json::parse(run.out);
            answer.erase("seconds");
            return answer;
        };
        CHECK(planned(executable) == planned(other.string()));
    }
}

TEST_CASE("several programs: a table, or one JSON object") {
    const std::string both = " " + cases + "deferred-weight-gradients.program.json " + cases +
                             "workspace-decides-the-order.program.json";
    CHECK(test::run(executable + both).out.find("workspace-decides-the-order") != std::string::npos);
    const json answer = json::parse(test::run(executable + " --json --compare" + both).out);
    REQUIRE(answer["plans"].size() == 2);
    std::vector<std::string> planners;
    for (const json& entry : answer["plans"][1]["compare"])
        planners.push_back(entry["planner"]);
    CHECK(planners == std::vector<std::string>{"pytorch", "lescea+llfb", "lescea+llfb-fit", "xla-list",
                                               "model-ss", "model-ms", "roam-paper", "roam-best"});
    CHECK(test::run(executable + both + " -o /dev/null").status == 2);
}

TEST_CASE("the paper's planner, its rivals and several streams: every plan is verified") {
    const test::temporary_folder folder;
    const std::string out = (folder.path() / "p.json").string();
    const std::string input = cases + "deferred-weight-gradients.program.json";
    const io::access_list read = io::read_access_list(input);
    for (const std::string options :
         {"--order roam-paper", "--order roam-paper --layout llfb", "--order ilp --budget 1",
          "--layout exact", "--layout ilp --budget 1", "--order model-ss --budget 1",
          "--order model-ms --budget 1", "--streams 3", "--order roam-paper --streams 2"}) {
        CAPTURE(options);
        REQUIRE(test::run(executable + " " + input + " " + options + " -o " + out).status == 0);
        const io::plan_file file = io::read_plan(out, read.graph);
        CHECK(verify::check_plan(read.graph, file.plan).ok);
        CHECK((options.find("--streams") == std::string::npos || !file.plan.timesteps.empty()));
    }
    CHECK(test::run(executable + " " + input + " --streams 0").status == 2);
    CHECK(test::run(executable + " " + input + " --order paper").status == 2);
}

TEST_CASE("a proof replays in Python, and one with a byte more does not") {
    if (test::run("python3 -c 'import gzip, json'").status != 0) {
        MESSAGE("skipped: no Python here");
        return;
    }
    const test::temporary_folder folder;
    const std::string proof = (folder.path() / "proof.json").string();
    struct claimed {
        const char* name;
        const char* options;
        const char* figure;  // what is claimed
        std::int64_t more;
    };
    // one cut; a search; both in sizes counted by a granule
    for (const auto& [name, options, figure, more] :
         {claimed{"resnet50-b1", "", "peak_lower_bound_bytes", 1},
          claimed{"xla-unet-donate-mem", "", "peak_lower_bound_bytes", 1},
          claimed{"resnet50-b32", " --alignment 512", "counted_bytes", 512},
          claimed{"mnasnet1_0-b1", " --alignment 512", "counted_bytes", 512}}) {
        const std::string input = graphs + name + ".json.gz";
        REQUIRE(test::run(executable + " " + input + options + " --proof " + proof).status == 0);
        const std::string check =
            "python3 " STOWAGE_TEST_DATA "/../proof/check_proof.py " + input + " " + proof;
        CHECK(test::run(check).status == 0);
        std::ifstream file(proof);
        json claim = json::parse(file);
        CHECK(claim["replayable"] == true);
        CHECK(claim["status"] == "optimal");
        claim[figure] = claim[figure].get<std::int64_t>() + more;
        std::ofstream(proof) << claim;
        CHECK(test::run(check).status == 1);
        claim["fingerprint"] = "0123456789abcdef";
        std::ofstream(proof) << claim;
        CHECK(test::run(check).status == 1);
    }
}

TEST_CASE("a program of a thousand components has a proof of one of them, and no other proof will do") {
    if (test::run("python3 -c 'import gzip, json'").status != 0) {
        MESSAGE("skipped: no Python here");
        return;
    }
    const test::temporary_folder folder;
    const std::string input = (folder.path() / "program.json").string();
    const std::string proof = (folder.path() / "proof.json").string();
    std::ofstream(input) << many_components(1'000);
    REQUIRE(test::run(executable + " " + input + " --proof " + proof).status == 0);
    std::ifstream file(proof);
    const json claim = json::parse(file);
    CHECK(claim["status"] == "optimal");
    REQUIRE(claim["replayable"] == true);
    REQUIRE(claim["steps"][0][0] == "only");
    CHECK(claim["steps"][0][1].size() == 12);
    const auto replays = [&](const json& changed) {
        std::ofstream(proof) << changed;
        return test::run("python3 " STOWAGE_TEST_DATA "/../proof/check_proof.py " + input + " " + proof)
                   .status == 0;
    };
    CHECK(replays(claim));
    const auto refused = [&](const auto& change) {
        json changed = claim;
        change(changed);
        return !replays(changed);
    };
    CHECK(refused([](json& changed) {
        changed["peak_lower_bound_bytes"] = changed["peak_lower_bound_bytes"].get<std::int64_t>() + 1;
    }));
    CHECK(refused([](json& changed) {  // another component
        for (json& op : changed["steps"][0][1])
            op = (op.get<std::size_t>() + 12) % 12'000;
    }));
    CHECK(refused([](json& changed) { changed["steps"][0][1][11] = changed["steps"][0][1][0]; }));
    CHECK(refused([](json& changed) { std::swap(changed["steps"][0], changed["steps"][1]); }));
    // no operator runs before itself, which would prove anything
    const json none = json::array();
    CHECK(refused([&](json& changed) { changed["steps"] = {{"either", {7, 7}, none, {none, none}}}; }));
    CHECK(refused([&](json& changed) { changed["steps"] = {{"before", {7, 7, 7}, none, none}}; }));
}
