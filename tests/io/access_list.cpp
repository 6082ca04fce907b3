#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stowage/detail/random.hpp>
#include <stowage/io/access_list.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/error_text.hpp"
#include "support/gzip.hpp"
#include "support/temporary_folder.hpp"

namespace io = stowage::io;
using stowage::test::error_text;

namespace {

const std::filesystem::path cases = STOWAGE_TEST_DATA "/cases";

std::string parse_error_of(const std::string& text) {
    return error_text<stowage::parse_error>([&] { static_cast<void>(io::parse_access_list(text)); });
}
std::string program_error_of(const std::string& text) {
    return error_text<stowage::program_error>([&] { static_cast<void>(io::parse_access_list(text)); });
}

/// A file of two operators with these parts.
std::string file(const std::string& storage_columns, const std::string& storages,
                 const std::string& op_columns, const std::string& ops) {
    return R"({"format": "access-list/1", "columns": {"storages": [)" + storage_columns + R"(], "ops": [)" +
           op_columns + R"(]}, "storages": [)" + storages + R"(], "ops": [)" + ops + "]}";
}

const std::string good =
    file(R"("bytes","kind","name")", R"([8,"input","x"],[16,"intermediate","t"],[4,"output","o"])",
         R"("name","stage","reads","writes","flops")",
         R"(["a","forward",[0],[1],1],["b","backward",[1],[2],2.5])");

}  // namespace

TEST_CASE("a program is read with everything that the file says") {
    const io::access_list program = io::parse_access_list(
        R"({"format":"access-list/1","model":"small","batch":3,"more":{"a":[1,{"b":null}]},
            "columns":{"storages":["name","offset","bytes","odd","alignment","kind"],
                       "ops":["writes","device","workspace","reads","seconds","name","flops","stage","odd"],"x":[1]},
            "storages":[["x",null,8,[[1]],64,"input"],["t",128,16,{"k":0},null,"intermediate"],
                        ["o",null,9223372036854775000,1,1,"output","beyond"]],
            "ops":[[[1],2,100,[0],0.5,"a",1e3,"forward",[[2],3]],[[2],null,null,[1,0],null,"b",null,null,{"z":[0]}]]})");
    const stowage::tensor_graph& graph = program.graph;
    CHECK(program.model == "small");
    CHECK(program.has_devices);
    REQUIRE(graph.buffer_count() == 3);
    REQUIRE(graph.operator_count() == 2);
    CHECK(graph.bytes(0) == 8);
    CHECK(graph.bytes(2) == 9223372036854775000);
    CHECK(graph.kind(0) == stowage::buffer_kind::input);
    CHECK(graph.kind(2) == stowage::buffer_kind::output);
    CHECK(graph.alignment(0) == 64);
    CHECK(graph.alignment(1) == 1);
    CHECK_FALSE(graph.pinned_offset(0));
    CHECK(graph.pinned_offset(1) == 128);
    CHECK(graph.buffer_name(1) == "t");
    CHECK(graph.operator_name(1) == "b");
    CHECK(graph.stage(0) == stowage::stage::forward);
    CHECK(graph.stage(1) == stowage::stage::unknown);
    CHECK(graph.workspace(0) == 100);
    CHECK(graph.workspace(1) == 0);
    CHECK(graph.device(0) == 2);
    CHECK(graph.flops(0) == 1000.0);
    CHECK(graph.seconds(0) == 0.5);
    CHECK_FALSE(graph.flops(1));
    CHECK(std::vector(graph.reads(1).begin(), graph.reads(1).end()) ==
          std::vector<stowage::buffer_index>{1, 0});
    CHECK(std::vector(graph.writes(0).begin(), graph.writes(0).end()) ==
          std::vector<stowage::buffer_index>{1});
}

TEST_CASE("names and optional columns may be left out") {
    const io::access_list program = io::parse_access_list(
        file(R"("kind","bytes")", R"(["intermediate",5])", R"("reads","writes")", "[[],[0]],[[0],[]]"));
    CHECK(program.graph.operator_count() == 2);
    CHECK(program.graph.operator_name(0).empty());
    CHECK_FALSE(program.has_devices);
    CHECK(program.model.empty());
}

TEST_CASE("keys may come in any order") {
    std::vector<std::string> parts = {
        R"("format": "access-list/1")",
        R"("columns": {"ops": ["reads","writes"], "storages": ["bytes","kind"]})",
        R"("storages": [[8,"input"],[16,"output"]])", R"("ops": [[[0],[1]]])"};
    const std::uint64_t expected =
        io::parse_access_list("{" + parts[0] + "," + parts[1] + "," + parts[2] + "," + parts[3] + "}")
            .graph.fingerprint();
    std::sort(parts.begin(), parts.end());
    do {
        const std::string text = "{" + parts[0] + "," + parts[1] + "," + parts[2] + "," + parts[3] + "}";
        CHECK(io::parse_access_list(text).graph.fingerprint() == expected);
    } while (std::next_permutation(parts.begin(), parts.end()));
}

TEST_CASE("the malformed cases are refused with key and index") {
    const std::pair<const char*, const char*> expected[] = {
        {"bad-storage-index", "ops[1].reads[0]: storage 7 does not exist, there are 3"},
        {"bad-negative-index", "ops[0].writes[0]: storage -1 does not exist, there are 3"},
        {"bad-index-type", "ops[0].reads[0]: is to be the index of a storage, it is a string"},
        {"bad-bytes-negative", "storages[1].bytes: is to be an integer from 0 to 2^63 - 1, it is -16"},
        {"bad-bytes-float", "storages[1].bytes: is to be an integer from 0 to 2^63 - 1, it is 16.5"},
        {"bad-bytes-2-to-63",
         "storages[1].bytes: is to be an integer from 0 to 2^63 - 1, it is past 2^63 - 1"},
        {"bad-bytes-string", "storages[1].bytes: is to be an integer from 0 to 2^63 - 1, it is a string"},
        {"bad-kind", "storages[1].kind: unknown kind `temporary`"},
        {"bad-short-row", "ops[1]: row too short: 3 values for 5 columns"},
        {"bad-no-reads-column", "columns.ops: no column `reads`"},
        {"bad-no-columns", "columns: the key is missing"},
        {"bad-format-name", "format: unknown format `access-list/2`, expected `access-list/1`"},
        {"bad-storages-null", "storages: is no array but null"},
        {"bad-truncated", ":1:245: ops[0].writes: syntax error"},
        {"bad-not-an-object", "the file holds an array instead of an object"},
        {"bad-invalid-utf8", ":1:162: storages[0].name: syntax error"},
    };
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(cases)) {
        count += entry.path().filename().string().starts_with("bad-") ? 1 : 0;
    }
    CHECK(count == std::size(expected));
    for (const auto& [name, message] : expected) {
        CAPTURE(name);
        const auto path = cases / (std::string(name) + ".program.json");
        const std::string text =
            error_text<stowage::parse_error>([&] { static_cast<void>(io::read_access_list(path)); });
        CAPTURE(text);
        CHECK(text.starts_with(path.string() + ":"));
        CHECK(text.find(message) != std::string::npos);
    }
}

TEST_CASE("a storage read before it is written is an error that names both, and the file") {
    const auto path = cases / "read-before-write.program.json";
    try {
        static_cast<void>(io::read_access_list(path));
        FAIL("no error");
    } catch (const stowage::program_error& error) {
        CHECK(error.operator_concerned().index == 1);
        CHECK(error.operator_concerned().name == "reads_garbage");
        CHECK(error.buffer_concerned().index == 1);
        CHECK(error.buffer_concerned().name == "never_written_before");
        CHECK(std::string(error.what()).find(path.string()) != std::string::npos);
    }
    const std::string columns = R"("bytes","kind")";
    CHECK(program_error_of(file(columns, R"([1,"output"])", R"("reads","writes")", ""))
              .find("buffer 0: an output that no operator writes") == 0);
    CHECK(error_text<stowage::overflow_error>([&] {
              static_cast<void>(io::parse_access_list(file(
                  columns, R"([9223372036854775807,"input"],[1,"constant"])", R"("reads","writes")", "")));
          }).starts_with("<input>: buffer 1"));
}

TEST_CASE("all other cases are programs") {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(cases)) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with(".program.json") || name.starts_with("bad-") || name.starts_with("read-before"))
            continue;
        CAPTURE(name);
        CHECK(io::read_access_list(entry.path()).graph.operator_count() > 0);
        ++count;
    }
    CHECK(count > 15);
}

TEST_CASE("captured programs are read, compressed, and their fingerprints are the published ones") {
    const std::filesystem::path data = STOWAGE_EXAMPLE_DATA;
    const auto fingerprint = [&](const char* name) {
        return io::read_access_list(data / name).graph.fingerprint();
    };
    CHECK(fingerprint("gpt2-xl-b1.json.gz") == 0x7b6a70505111bf49U);
    CHECK(fingerprint("gpt2-xl-b4.json.gz") == 0x00d0e2ce35d93725U);
    CHECK(fingerprint("llama-7b-lora-b1.json.gz") == 0xb469882be7242918U);
    const io::access_list bert = io::read_access_list(data / "bert-b1.json.gz");
    CHECK(bert.name == "bert-b1");
    CHECK(bert.model == "bert");
    std::ifstream stream(data / "bert-b1.json.gz", std::ios::binary);
    CHECK(io::read_access_list(stream, "bert").graph.fingerprint() == bert.graph.fingerprint());
}

TEST_CASE("every ill-typed or missing value is named") {
    const std::string s = R"("bytes","kind")";
    const std::string o = R"("reads","writes")";
    const auto storage = [&](const std::string& columns, const std::string& row) {
        return parse_error_of(file(columns, row, o, ""));
    };
    const auto op = [&](const std::string& columns, const std::string& row) {
        return parse_error_of(file(s, R"([1,"input"])", columns, row));
    };
    CHECK(storage(s, "5") == "<input>: storages[0]: a row is to be an array, it is 5");
    CHECK(storage(s, R"([1,"input"],{})") ==
          "<input>: storages[1]: a row is to be an array, it is an object");
    CHECK(storage(s, R"([null,"input"])").find("storages[0].bytes: ") != std::string::npos);
    CHECK(storage(s, R"([[1],"input"])") == "<input>: storages[0].bytes: is an array");
    CHECK(storage(s, R"([1,null])") == "<input>: storages[0].kind: is to be a string, it is null");
    CHECK(storage(s, R"([true,"input"])").find("it is true") != std::string::npos);
    CHECK(storage(s, R"([99999999999999999999,"input"])").find("past 2^63 - 1") != std::string::npos);
    CHECK(storage(s, R"([-99999999999999999999,"input"])").find("-99999999999999999999") !=
          std::string::npos);
    CHECK(storage(s, R"([1e400,"input"])").find("storages[0].bytes: number overflow") != std::string::npos);
    CHECK(storage(s, R"([16.0,"input"])").find("it is 16.0") != std::string::npos);
    CHECK(storage(s + R"(,"alignment")", R"([1,"input",0])").find("storages[0].alignment: ") !=
          std::string::npos);
    CHECK(storage(s + R"(,"offset")", R"([1,"input",-1])").find("storages[0].offset: ") != std::string::npos);
    CHECK(storage(s + R"(,"offset")", R"([1,"donated",9223372036854775807])") ==
          "<input>: storages[0]: offset + bytes passes 2^63 - 1");
    CHECK(storage(s + R"(,"name")", R"([1,"input",7])").find("storages[0].name: ") != std::string::npos);
    CHECK(op(o, "[0,[]]") == "<input>: ops[0].reads: is to be an array of storages, it is 0");
    CHECK(op(o, "[{},[]]") == "<input>: ops[0].reads: is no array of storages but an object");
    CHECK(op(o, "[[],null]") == "<input>: ops[0].writes: is to be an array of storages, it is null");
    CHECK(op(o, "[[],[0,[0]]]") == "<input>: ops[0].writes[1]: is no index of a storage");
    CHECK(op(o, "[[],[0,0.5]]").find("ops[0].writes[1]: ") != std::string::npos);
    CHECK(op(o, "[[99999999999999999999],[]]").find("ops[0].reads[0]: ") != std::string::npos);
    CHECK(op(o + R"(,"stage")", R"([[],[0],"sideways"])") ==
          "<input>: ops[0].stage: unknown stage `sideways`");
    CHECK(op(o + R"(,"flops")", "[[],[0],-1]").find("ops[0].flops: ") != std::string::npos);
    CHECK(op(o + R"(,"seconds")", R"([[],[0],"1"])").find("ops[0].seconds: ") != std::string::npos);
    CHECK(op(o + R"(,"workspace")", "[[],[0],1.5]").find("ops[0].workspace: ") != std::string::npos);
    CHECK(op(o + R"(,"device")", "[[],[0],-1]").find("ops[0].device: ") != std::string::npos);
    CHECK(op(o + R"(,"reads")", "").find("columns.ops: the column `reads` occurs twice") !=
          std::string::npos);
    CHECK(op(o + ",1", "").find("columns.ops[2]: a column's name is to be a string") != std::string::npos);
}

TEST_CASE("missing, repeated and ill-typed keys are named") {
    CHECK(parse_error_of("").find("<input>:1:1: syntax error") == 0);
    CHECK(parse_error_of("null") == "<input>: the file holds null instead of an object");
    CHECK(parse_error_of("{}") == "<input>: format: the key is missing");
    CHECK(parse_error_of(R"({"format":1})") == "<input>: format: is no string but 1");
    CHECK(parse_error_of(R"({"format":["access-list/1"]})") == "<input>: format: is no string");
    CHECK(parse_error_of(R"({"columns":[]})") == "<input>: columns: is no object but an array");
    CHECK(parse_error_of(R"({"columns":{"storages":5}})") ==
          "<input>: columns.storages: is no array of names but 5");
    CHECK(parse_error_of(R"({"columns":{"storages":{}}})") ==
          "<input>: columns.storages: is no array of names");
    CHECK(parse_error_of(R"({"columns":{"storages":["bytes","kind"]}})") ==
          "<input>: columns.ops: the key is missing");
    CHECK(parse_error_of(R"({"ops":{}})") == "<input>: ops: is no array but an object");
    CHECK(parse_error_of(R"({"format":"access-list/1","format":"access-list/1"})") ==
          "<input>: format: the key occurs twice");
    CHECK(parse_error_of(good.substr(0, good.size() - 1) + R"(,"ops":[]})") ==
          "<input>: ops: the key occurs twice");
    CHECK(parse_error_of(good + "{}").find("syntax error") != std::string::npos);
}

TEST_CASE("deep nesting is refused") {
    const std::string head = good.substr(0, good.size() - 1) + R"(, "extra": )";
    CHECK(parse_error_of(head + std::string(100'000, '[')) ==
          "<input>: extra: nested deeper than 200 levels");
    std::string objects;
    for (int i = 0; i < 100'000; ++i)
        objects += R"({"a":)";
    CHECK(parse_error_of(head + objects) == "<input>: extra: nested deeper than 200 levels");
    CHECK_NOTHROW(
        static_cast<void>(io::parse_access_list(head + std::string(100, '[') + std::string(100, ']') + "}")));
    CHECK(parse_error_of(std::string(1'000'000, '[')).find("an array instead") != std::string::npos);
}

TEST_CASE("changed bytes: an error of stowage or a program, and never anything else") {
    std::vector<std::string> texts = {good, stowage::test::gzip(good)};
    for (const auto& entry : std::filesystem::directory_iterator(cases)) {
        if (entry.path().filename().string().ends_with(".program.json")) {
            std::ifstream stream(entry.path(), std::ios::binary);
            texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
        }
    }
    stowage::detail::splitmix64 random(1);
    const std::string alphabet = R"({}[],:"0123456789-.eE nulltrue\)";
    std::size_t programs = 0;
    for (const std::string& text : texts) {
        for (int i = 0; i < 300; ++i) {
            std::string changed = text;
            for (auto changes = 1 + random.below(4); changes > 0; --changes) {
                const std::size_t at = random.below(changed.size());
                const char byte = random.below(2) == 0 ? alphabet[random.below(alphabet.size())]
                                                       : static_cast<char>(random.below(256));
                switch (random.below(3)) {
                    case 0: changed[at] = byte; break;
                    case 1: changed.insert(at, 1, byte); break;
                    default: changed.erase(at, 1 + random.below(3)); break;
                }
                if (changed.empty()) changed = "{";
            }
            try {
                std::istringstream stream(changed);
                static_cast<void>(io::read_access_list(stream));
                ++programs;
            } catch (const stowage::error& error) {
                CHECK(std::string(error.what()).find("<input>") != std::string::npos);
            }
        }
    }
    CHECK(programs > 0);
}
