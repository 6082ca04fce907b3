#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/io/access_list.hpp>
#include <stowage/io/memgraph_file.hpp>
#include <string>
#include <vector>

#include "support/error_text.hpp"
#include "support/gzip.hpp"
#include "support/random_program.hpp"
#include "support/temporary_folder.hpp"

namespace io = stowage::io;
namespace turnip = stowage::turnip;
using stowage::tensor_graph;
using stowage::test::error_text;

namespace {

/// x is read from the host; t leaves device 0 for the host and returns to device 1; y is made of it there.
tensor_graph small_program() {
    stowage::program program;
    const auto x = program.add_buffer({.bytes = 8, .kind = stowage::buffer_kind::input});
    const auto t = program.add_buffer({.bytes = 16});
    const auto y = program.add_buffer({.bytes = 4, .kind = stowage::buffer_kind::output});
    program.add_operator({.reads = {x}, .writes = {t}, .workspace = 32});
    program.add_operator({.reads = {t}, .writes = {y}, .device = 1});
    return stowage::make_tensor_graph(program);
}

turnip::memgraph small_memgraph() {
    using turnip::operand;
    using turnip::vertex_kind;
    turnip::memgraph graph;
    graph.graph = "small";
    graph.fingerprint = small_program().fingerprint();
    graph.alignment = 4;
    graph.arena_bytes = {56, 20};
    graph.host_bytes = 24;
    const std::vector<operand> none;
    graph.add({.kind = vertex_kind::reload, .host_address = 0}, none, std::vector<operand>{{0, 0, 16}});
    graph.add({.op = 0, .workspace_address = 24}, std::vector<operand>{{0, 0, 16}},
              std::vector<operand>{{1, 0, 0}});
    graph.add({.kind = vertex_kind::offload, .host_address = 8}, std::vector<operand>{{1, 0, 0}}, none);
    graph.add({.kind = vertex_kind::transfer, .device = 1}, std::vector<operand>{{1, 0, 0}},
              std::vector<operand>{{1, 1, 0}});
    graph.add({.op = 1, .device = 1}, std::vector<operand>{{1, 1, 0}}, std::vector<operand>{{2, 1, 16}});
    graph.edges = {{0, 1}, {1, 2}, {1, 3}, {3, 4}, {2, 4, turnip::edge_kind::control}};
    graph.start = {{0, turnip::host, 0}};
    graph.final = {{2, 1, 16}};
    graph.repeatable = true;
    return graph;
}

std::string parse_error_of(const std::string& text) {
    const tensor_graph program = small_program();
    return error_text<stowage::parse_error>([&] { static_cast<void>(io::parse_memgraph(text, program)); });
}

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a memgraph comes back as it was written, plain or compressed") {
    const stowage::test::temporary_folder folder;
    const turnip::memgraph graph = small_memgraph();
    io::write_memgraph(folder / "m.json", graph);
    CHECK(io::read_memgraph(folder / "m.json", small_program()) == graph);
    CHECK(folder.size() == 1);
    std::ofstream(folder / "m.json.gz", std::ios::binary) << stowage::test::gzip(io::memgraph_text(graph));
    CHECK(io::read_memgraph(folder / "m.json.gz", small_program()) == graph);
    turnip::memgraph bare;
    bare.fingerprint = small_program().fingerprint();
    CHECK(io::parse_memgraph(io::memgraph_text(bare), small_program()) == bare);
}

TEST_CASE("the text is memgraph/1: its keys in order, rows as the format says") {
    const auto json = nlohmann::ordered_json::parse(io::memgraph_text(small_memgraph()));
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items())
        keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"format", "graph", "fingerprint", "alignment", "devices", "host",
                                           "vertices", "edges", "residence", "final", "repeatable"});
    CHECK(json["vertices"][0] == nlohmann::json::parse(R"(["reload", null, 0, [], [[0, 16]], 0, null])"));
    CHECK(json["vertices"][1] == nlohmann::json::parse(R"(["op", 0, 0, [[0, 16]], [[1, 0]], null, 24])"));
    CHECK(json["vertices"][2] == nlohmann::json::parse(R"(["offload", null, 0, [[1, 0]], [], 8, null])"));
    CHECK(json["vertices"][3] ==
          nlohmann::json::parse(R"(["transfer", null, 1, [[1, 0, 0]], [[1, 0]], null, null])"));
    CHECK(json["edges"][4] == nlohmann::json::parse(R"([2, 4, "control"])"));
    CHECK(json["residence"] == nlohmann::json::parse(R"([[0, "host", 0]])"));
    CHECK(json["final"] == nlohmann::json::parse("[[2, 1, 16]]"));
}

TEST_CASE("the memgraph of another program is refused, one without a fingerprint is taken") {
    auto json = nlohmann::ordered_json::parse(io::memgraph_text(small_memgraph()));
    json["fingerprint"] = "00000000000000ff";
    const std::string other = json.dump();
    CHECK(error_text<io::fingerprint_error>([&] {
              static_cast<void>(io::parse_memgraph(other, small_program(), "m.json"));
          }).starts_with("m.json: fingerprint: "));
    json.erase("fingerprint");
    CHECK(io::parse_memgraph(json.dump(), small_program()) == small_memgraph());
}

TEST_CASE("every missing or ill-typed value is named") {
    const auto json = nlohmann::ordered_json::parse(io::memgraph_text(small_memgraph()));
    for (const char* key : {"format", "devices", "host", "vertices", "edges"}) {
        auto changed = json;
        changed.erase(key);
        CHECK(parse_error_of(changed.dump()) == "<input>: " + std::string(key) + ": the key is missing");
    }
    const auto with = [&](const char* pointer, const nlohmann::json& value) {
        auto changed = json;
        changed[nlohmann::ordered_json::json_pointer(pointer)] = value;
        return parse_error_of(changed.dump());
    };
    CHECK(with("/format", "plan/1") == "<input>: format: unknown format `plan/1`, expected `memgraph/1`");
    CHECK(with("/fingerprint", "xyz").find("<input>: fingerprint: is to be 16 hexadecimal") == 0);
    CHECK(with("/alignment", 0).find("<input>: alignment: is to be an integer from 1") == 0);
    CHECK(with("/repeatable", 1) == "<input>: repeatable: is to be true or false, it is 1");
    CHECK(with("/host", 3) == "<input>: host: is no object but 3");
    CHECK(with("/host", nlohmann::json::array()) == "<input>: host: is no object but an array");
    CHECK(with("/host", nlohmann::json::object()) == "<input>: host.arena_bytes: the key is missing");
    CHECK(with("/devices/1", 3) == "<input>: devices[1]: is no object but 3");
    CHECK(with("/devices/1/arena_bytes", -1).find("<input>: devices[1].arena_bytes: is to be an") == 0);
    CHECK(with("/devices/1", nlohmann::json::object()) ==
          "<input>: devices[1].arena_bytes: the key is missing");
    CHECK(with("/vertices", nlohmann::json::object()) == "<input>: vertices: is no array but an object");
    CHECK(with("/vertices/1", 7) == "<input>: vertices[1]: is no array but 7");
    CHECK(with("/vertices/1/0", "jump") ==
          "<input>: vertices[1][0]: is to be `op`, `offload`, `reload` or `transfer`, it is `jump`");
    CHECK(with("/vertices/1/1", 2) == "<input>: vertices[1][1]: there is no operator 2, only 2");
    CHECK(with("/vertices/0/1", 0).find("<input>: vertices[0][1]: a move runs no operator") == 0);
    CHECK(with("/vertices/1/2", 2) == "<input>: vertices[1]: there is no device 2, only 2");
    CHECK(with("/vertices/1/3", 1) == "<input>: vertices[1][3]: is no array but 1");
    CHECK(with("/vertices/1/3/0", 1) == "<input>: vertices[1][3][0]: is no array but 1");
    CHECK(with("/vertices/1/3/0/0", 3) == "<input>: vertices[1][3][0][0]: there is no storage 3, only 3");
    CHECK(with("/vertices/1/3/0/1", "a").find("<input>: vertices[1][3][0][1]: is to be an integer") == 0);
    CHECK(with("/vertices/1/4/0", {0}) == "<input>: vertices[1][4][0]: has 1 entries, 2 are needed");
    CHECK(with("/vertices/1", {"op", 0}) == "<input>: vertices[1]: has 2 entries, 5 are needed");
    CHECK(with("/vertices/2/4", {{1, 0}}) ==
          "<input>: vertices[2]: an offload reads one storage and writes none");
    CHECK(with("/vertices/0/3", {{1, 0}}) ==
          "<input>: vertices[0]: a reload writes one storage and reads none");
    CHECK(with("/vertices/3/4", {{2, 0}}) ==
          "<input>: vertices[3]: a transfer reads one storage and writes the same");
    CHECK(with("/vertices/3/3", {{1, 0}}).find("<input>: vertices[3]: the read entry of a transfer") == 0);
    CHECK(with("/vertices/3/3", {{1, 0, 5}}) == "<input>: vertices[3][3]: there is no device 5, only 2");
    CHECK(with("/edges/0/2", "why") ==
          "<input>: edges[0][2]: is to be `data`, `memory` or `control`, it is `why`");
    CHECK(with("/edges/1", {0, 5, "data"}) == "<input>: edges[1]: there is no vertex 5, only 5");
    CHECK(with("/residence/0/1", "moon") ==
          "<input>: residence[0][1]: is to be `host` or a device, it is `moon`");
    CHECK(with("/final/0/1", 2) == "<input>: final[0]: there is no device 2, only 2");
    CHECK(parse_error_of("[]") == "<input>: the file holds an array instead of an object");
    CHECK(parse_error_of("{\"format\": \"memgraph/1\",").find("<input>:1:") == 0);
    CHECK(parse_error_of("{\"edges\": [], \"edges\": []}") == "<input>: edges: the key occurs twice");
}

TEST_CASE("unknown keys and further columns are ignored") {
    auto json = nlohmann::ordered_json::parse(io::memgraph_text(small_memgraph()));
    json["more"] = {{"deep", {1, 2, {3}}}};
    json["host"]["more"] = {{"arena", 1}};
    json["devices"][0]["more"] = {1, {2}};
    json["vertices"][0].push_back(3);
    json["edges"][0].push_back("why");
    CHECK(io::parse_memgraph(json.dump(), small_program()) == small_memgraph());
}

TEST_CASE("a text cut or changed anywhere is an error or another memgraph, never more") {
    const tensor_graph program = small_program();
    const std::string whole = io::memgraph_text(small_memgraph());
    stowage::detail::splitmix64 random(7);
    const auto attempt = [&](const std::string& text) {
        try {
            static_cast<void>(io::parse_memgraph(text, program));
        } catch (const stowage::error&) {
            return;
        }
    };
    for (std::size_t n = 0; n < whole.size(); ++n)
        attempt(whole.substr(0, n));
    for (int i = 0; i < 2000; ++i) {
        std::string text = whole;
        const char* const marks = "[]{},:\"0-9en";
        text[random.below(text.size())] = marks[random.below(12)];
        attempt(text);
    }
}

TEST_CASE("the shared cases read and come back") {
    const std::filesystem::path folder = std::string(STOWAGE_SHARED) + "/cases";
    if (!std::filesystem::is_directory(folder)) return;
    int read = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        const std::size_t at = name.find(".right.memgraph.json");
        if (at == std::string::npos) continue;
        const auto program = io::read_access_list(folder / (name.substr(0, at) + ".program.json"));
        const turnip::memgraph graph = io::read_memgraph(entry.path(), program.graph);
        CHECK(io::parse_memgraph(io::memgraph_text(graph), program.graph) == graph);
        CHECK_FALSE(contents(entry.path()).empty());
        ++read;
    }
    CHECK(read >= 9);
}
