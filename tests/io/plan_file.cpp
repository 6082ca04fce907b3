#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/io/plan_file.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/error_text.hpp"
#include "support/random_program.hpp"
#include "support/temporary_folder.hpp"

namespace io = stowage::io;
using stowage::tensor_graph;
using stowage::test::error_text;

namespace {

/// Program order, every buffer in bytes of its own.
stowage::plan plain_plan(const tensor_graph& graph) {
    stowage::plan plan;
    plan.order = stowage::program_order(graph);
    plan.fingerprint = graph.fingerprint();
    for (stowage::buffer_index b = 0; b < graph.buffer_count(); ++b) {
        plan.offsets.push_back(graph.is_planned(b) ? plan.arena.bytes : -1);
        if (graph.is_planned(b)) plan.arena.bytes += graph.bytes(b);
    }
    if (graph.has_workspace()) {
        for (stowage::operator_index op = 0; op < graph.operator_count(); ++op) {
            plan.workspace_offsets.push_back(graph.workspace(op) > 0 ? plan.arena.bytes : -1);
            plan.arena.bytes += graph.workspace(op);
        }
    }
    plan.peak.bytes = stowage::peak_bytes(graph, plan.order);
    plan.peak.lower_bound = plan.peak.bytes / 2;
    plan.arena.lower_bound = plan.peak.bytes / 2 + 1;
    plan.persistent_bytes = stowage::persistent_bytes(graph);
    plan.order_by = "program";
    plan.layout_by = "none";
    plan.seconds = {0.25, 0.5, 1.0 / 3.0};
    return plan;
}

tensor_graph sample() {
    return stowage::make_tensor_graph(stowage::test::random_program(4, {.operators = 6}));
}

std::string parse_error_of(const tensor_graph& graph, const std::string& text) {
    return error_text<stowage::parse_error>([&] { static_cast<void>(io::parse_plan(text, graph)); });
}

}  // namespace

TEST_CASE("a plan comes back as it was written") {
    const stowage::test::temporary_folder folder;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const tensor_graph graph =
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = seed % 9}));
        const stowage::plan plan = plain_plan(graph);
        io::write_plan(folder / "p.json", plan, {.graph = "random", .planner = {{"seed", seed}}});
        const io::plan_file file = io::read_plan(folder / "p.json", graph);
        CHECK(file.graph == "random");
        CHECK(file.plan.order == plan.order);
        CHECK(file.plan.offsets == plan.offsets);
        CHECK(file.plan.workspace_offsets == plan.workspace_offsets);
        CHECK(file.plan.alignment == plan.alignment);
        CHECK(file.plan.peak.bytes == plan.peak.bytes);
        CHECK(file.plan.peak.lower_bound == plan.peak.lower_bound);
        CHECK(file.plan.arena.bytes == plan.arena.bytes);
        CHECK(file.plan.arena.lower_bound == plan.arena.lower_bound);
        CHECK(file.plan.persistent_bytes == plan.persistent_bytes);
        CHECK(file.plan.status == plan.status);
        CHECK(file.plan.fingerprint == plan.fingerprint);
        CHECK(file.plan.seconds.total == plan.seconds.total);
    }
}

TEST_CASE("the text is plan/1: its keys in order, the same from run to run but for seconds") {
    const tensor_graph graph = sample();
    stowage::plan plan = plain_plan(graph);
    const auto json = io::plan_json(plan, {.graph = "g", .planner = {{"seed", 7}, {"order", "mine"}}});
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items())
        keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"format", "graph", "fingerprint", "status", "order", "alignment",
                                           "offsets", "workspace_offsets", "peak_bytes", "arena_bytes",
                                           "persistent_bytes", "peak_lower_bound_bytes",
                                           "arena_lower_bound_bytes", "planner", "seconds"});
    CHECK(json["fingerprint"] == io::fingerprint_text(graph.fingerprint()));
    CHECK(json["planner"]["seed"] == 7);
    CHECK(json["planner"]["order"] == "mine");
    CHECK(json["planner"]["layout"] == "none");
    const auto figures = io::plan_json(plan, {.graph = "g"}, io::plan_parts::figures);
    CHECK_FALSE(figures.contains("order"));
    CHECK_FALSE(figures.contains("offsets"));
    CHECK_FALSE(figures.contains("workspace_offsets"));
    CHECK(figures["arena_bytes"] == plan.arena.bytes);

    const std::string text = io::json_text(json);
    CHECK(nlohmann::ordered_json::parse(text) == json);
    plan.seconds.total = 99;
    const std::string later =
        io::json_text(io::plan_json(plan, {.graph = "g", .planner = {{"seed", 7}, {"order", "mine"}}}));
    CHECK(text.substr(0, text.find("\"seconds\"")) == later.substr(0, later.find("\"seconds\"")));
}

TEST_CASE("names that are no UTF-8 do not stop a plan from being written") {
    const tensor_graph graph = sample();
    const std::string text = io::json_text(io::plan_json(plain_plan(graph), {.graph = "a\xff"}));
    CHECK(io::parse_plan(text, graph).graph == "a\xef\xbf\xbd");
}

TEST_CASE("fingerprints are sixteen digits") {
    CHECK(io::fingerprint_text(0) == "0000000000000000");
    CHECK(io::fingerprint_text(0x00d0e2ce35d93725U) == "00d0e2ce35d93725");
    CHECK(io::fingerprint_text(std::numeric_limits<std::uint64_t>::max()) == "ffffffffffffffff");
}

TEST_CASE("the plan of another program is refused") {
    const tensor_graph graph = sample();
    const tensor_graph other = stowage::make_tensor_graph(stowage::test::random_program(5, {.operators = 6}));
    const std::string text = io::json_text(io::plan_json(plain_plan(graph), {}));
    try {
        static_cast<void>(io::parse_plan(text, other, "p.json"));
        FAIL("no error");
    } catch (const io::fingerprint_error& error) {
        CHECK(error.of_plan() == graph.fingerprint());
        CHECK(error.of_program() == other.fingerprint());
        CHECK(std::string(error.what()) == "p.json: fingerprint: it was made for the program " +
                                               io::fingerprint_text(graph.fingerprint()) +
                                               ", this is the program " +
                                               io::fingerprint_text(other.fingerprint()));
    }
}

TEST_CASE("every missing or ill-typed value is named") {
    const tensor_graph graph = sample();
    const auto json = io::plan_json(plain_plan(graph), {.graph = "g"});
    for (const char* key :
         {"format", "fingerprint", "status", "order", "offsets", "peak_bytes", "arena_bytes"}) {
        auto changed = json;
        changed.erase(key);
        CHECK(parse_error_of(graph, changed.dump()) ==
              "<input>: " + std::string(key) + ": the key is missing");
    }
    for (const char* key : {"graph", "planner", "seconds", "alignment", "persistent_bytes",
                            "peak_lower_bound_bytes", "arena_lower_bound_bytes"}) {
        auto changed = json;
        changed.erase(key);
        CHECK_NOTHROW(static_cast<void>(io::parse_plan(changed.dump(), graph)));
    }
    const auto with = [&](const char* key, const nlohmann::ordered_json& value) {
        auto changed = json;
        changed[nlohmann::ordered_json::json_pointer(key)] = value;
        return parse_error_of(graph, changed.dump());
    };
    CHECK(with("/format", "plan/2") == "<input>: format: unknown format `plan/2`, expected `plan/1`");
    CHECK(with("/fingerprint", "12") == "<input>: fingerprint: is to be 16 hexadecimal digits, it is `12`");
    CHECK(with("/fingerprint", 12) == "<input>: fingerprint: is to be a string, it is 12");
    CHECK(with("/status", "infeasible") ==
          "<input>: status: is to be `optimal` or `feasible`, it is `infeasible`");
    CHECK(with("/order/2", -1) == "<input>: order[2]: is to be an integer from 0 to 2^63 - 1, it is -1");
    CHECK(with("/order/2", 4294967295) == "<input>: order[2]: operator 4294967295 cannot exist");
    CHECK(with("/order/2", nullptr).starts_with("<input>: order[2]: "));
    CHECK(with("/order/2", {1}) == "<input>: order[2]: is an array");
    CHECK(with("/order/2", 6).starts_with("<input>: order: "));
    CHECK(with("/order/2", 0).find("twice") != std::string::npos);
    CHECK(with("/order", nullptr) == "<input>: order: is no array but null");
    CHECK(with("/offsets", {0, 1}).find("offsets: has 2 entries, the program asks for") != std::string::npos);
    CHECK(with("/offsets/0", 1.5) ==
          "<input>: offsets[0]: is to be an integer from 0 to 2^63 - 1, it is 1.5");
    CHECK(with("/workspace_offsets/1", "x").starts_with("<input>: workspace_offsets[1]: "));
    CHECK(with("/workspace_offsets", nlohmann::ordered_json::array()).find("has 0 entries") !=
          std::string::npos);
    CHECK(with("/alignment", 0).starts_with("<input>: alignment: is to be an integer from 1"));
    CHECK(with("/peak_bytes", {{"a", 1}}) == "<input>: peak_bytes: is an object");
    CHECK(with("/seconds", 5) == "<input>: seconds: is no object but 5");
    CHECK(with("/seconds/order", "x").starts_with("<input>: seconds.order: "));
    CHECK(with("/seconds/order", {1}) == "<input>: seconds.order: is an array");
    CHECK(parse_error_of(graph, "[]") == "<input>: the file holds an array instead of an object");
    CHECK(parse_error_of(graph, "{\n\"order\": [0, 1,, 2]}")
              .starts_with("<input>:2:16: order[2]: syntax error"));
    CHECK(parse_error_of(graph, R"({"order": [], "order": []})") == "<input>: order: the key occurs twice");
    CHECK(parse_error_of(graph, R"({"x": )" + std::string(100'000, '[')) ==
          "<input>: x: nested deeper than 200 levels");
}

TEST_CASE("workspace offsets may be missing only where there is no workspace") {
    stowage::program program;
    const auto out = program.add_buffer({.bytes = 4});
    program.add_operator({.writes = {out}});
    const tensor_graph without = stowage::make_tensor_graph(program);
    CHECK_NOTHROW(
        static_cast<void>(io::parse_plan(io::json_text(io::plan_json(plain_plan(without), {})), without)));
    program.add_operator({.workspace = 8});
    const tensor_graph with = stowage::make_tensor_graph(program);
    auto json = io::plan_json(plain_plan(with), {});
    json.erase("workspace_offsets");
    CHECK(parse_error_of(with, json.dump()) ==
          "<input>: workspace_offsets: has 0 entries, the program asks for 2");
}

TEST_CASE("changed bytes: an error of stowage or a plan, and never anything else") {
    const tensor_graph graph = sample();
    const std::string text = io::json_text(io::plan_json(plain_plan(graph), {.graph = "g"}));
    stowage::detail::splitmix64 random(1);
    const std::string alphabet = R"({}[],:"0123456789-.eE nulltrue\)";
    std::size_t plans = 0;
    for (int i = 0; i < 5000; ++i) {
        std::string changed = text;
        for (auto changes = 1 + random.below(3); changes > 0; --changes) {
            changed[random.below(changed.size())] = random.below(4) != 0
                                                        ? alphabet[random.below(alphabet.size())]
                                                        : static_cast<char>(random.below(256));
        }
        try {
            static_cast<void>(io::parse_plan(changed, graph));
            ++plans;
        } catch (const stowage::error& error) {
            CHECK(std::string(error.what()).find("<input>") != std::string::npos);
        }
    }
    CHECK(plans > 0);
}
