#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stowage/detail/random.hpp>
#include <stowage/io/layout_csv.hpp>
#include <string>
#include <vector>

#include "support/error_text.hpp"

namespace io = stowage::io;
namespace layout = stowage::layout;
using stowage::test::error_text;

namespace {

const std::filesystem::path cases = STOWAGE_TEST_DATA "/cases";

std::string parse_error_of(const std::string& text) {
    return error_text<stowage::parse_error>(
        [&] { static_cast<void>(io::parse_layout_problem(text, "f.csv")); });
}

}  // namespace

TEST_CASE("columns in any order, blanks, line ends, quotes and unknown columns") {
    const layout::problem problem = io::parse_layout_problem(
        "\xef\xbb\xbf"
        " size ,gaps, id,note,upper,lower , alignment,offset,pool\r\n"
        "5,, first ,x,9,-3,,,\r\n"
        "\r\n"
        "   \n"
        "9223372036854775807,2-3 -1-1 4-6 3-4 8-9,\"a, \"\"b\"\"\",\"two\nlines\",9,-1,64,0,2\n"
        "0,-5--4,third id,,7,-5,1,,0");
    REQUIRE(problem.buffers.size() == 3);
    CHECK(problem.names == std::vector<std::string>{"first", "a, \"b\"", "third id"});
    const layout::buffer& a = problem.buffers[0];
    CHECK(a.lower == -3);
    CHECK(a.upper == 9);
    CHECK(a.size == 5);
    CHECK(a.alignment == 1);
    CHECK(a.offset == std::nullopt);
    CHECK(a.pool == std::nullopt);
    CHECK(a.gaps.empty());
    const layout::buffer& b = problem.buffers[1];
    CHECK(b.size == 9223372036854775807);
    CHECK(b.alignment == 64);
    CHECK(b.offset == 0);
    CHECK(b.pool == 2U);
    CHECK(b.gaps == std::vector<layout::interval>{{-1, 1}, {2, 6}, {8, 9}});
    CHECK(problem.buffers[2].gaps == std::vector<layout::interval>{{-5, -4}});
    CHECK(problem.buffers[2].pool == 0U);
}

TEST_CASE("a header without rows is an empty problem") {
    CHECK(io::parse_layout_problem("id,lower,upper,size").buffers.empty());
    CHECK(io::parse_layout_problem("size,upper,lower,id\r\n").buffers.empty());
}

TEST_CASE("every ill-formed row is an error with line, column and the buffer's id") {
    const std::string head = "id,lower,upper,size,alignment,offset,gaps,pool\n";
    CHECK(parse_error_of("") == "f.csv:1:1: no header");
    CHECK(parse_error_of("\n \n") == "f.csv:1:1: no header");
    CHECK(parse_error_of("id,lower,upper\n") == "f.csv:1:1: size: the header has no such column");
    CHECK(parse_error_of("\nid,lower,upper\n") == "f.csv:2:1: size: the header has no such column");
    CHECK(parse_error_of("id,lower,id,upper,size\n") == "f.csv:1:10: id: the column occurs twice");
    CHECK(parse_error_of("id,lower,upper,size\na,1,2\n") ==
          "f.csv:2:5: buffer `a`: the row has 3 fields, the header 4");
    CHECK(parse_error_of("id,lower,upper,size\na,1,2,3,4\n") ==
          "f.csv:2:9: buffer `a`: the row has 5 fields, the header 4");
    CHECK(parse_error_of("lower,upper,size,id\n1\n") == "f.csv:2:1: the row has 1 fields, the header 4");
    CHECK(parse_error_of("id,lower,upper,size\na,1,2,3\nb,0,5,7\na,1,2,3\n") ==
          "f.csv:4:1: id: buffer `a`: another buffer has this id");
    CHECK(parse_error_of("id,lower,upper,size\na,,2,3\n") ==
          "f.csv:2:3: lower: buffer `a`: the field is empty");
    CHECK(parse_error_of("id,lower,upper,size\na,1.5,2,3\n") ==
          "f.csv:2:3: lower: buffer `a`: `1.5` is no integer");
    CHECK(parse_error_of("id,lower,upper,size\na,1,0x7,3\n") ==
          "f.csv:2:5: upper: buffer `a`: `0x7` is no integer");
    CHECK(parse_error_of("id,lower,upper,size\na,1,2,9223372036854775808\n") ==
          "f.csv:2:7: size: buffer `a`: `9223372036854775808` does not fit 64 bits");
    CHECK(parse_error_of("id,lower,upper,size\na,1,2,-3\n") ==
          "f.csv:2:7: size: buffer `a`: size -3 is negative");
    CHECK(parse_error_of(head + "a,0,1,1,-2,,,\n") ==
          "f.csv:2:9: alignment: buffer `a`: alignment -2 is not positive");
    CHECK(parse_error_of(head + "a,0,1,1,,-8,,\n") ==
          "f.csv:2:10: offset: buffer `a`: offset -8 is negative");
    CHECK(parse_error_of(head + "a,0,1,1,,9223372036854775807,,\n") ==
          "f.csv:2:10: offset: buffer `a`: offset + size passes 2^63 - 1");
    CHECK(parse_error_of(head + "a,0,9,1,,,3,\n") == "f.csv:2:11: gaps: buffer `a`: `3` is no `lower-upper`");
    CHECK(parse_error_of(head + "a,0,9,1,,,3-x,\n") == "f.csv:2:11: gaps: buffer `a`: `x` is no integer");
    CHECK(parse_error_of(head + "a,0,9,1,,,1-2 4-3,\n") ==
          "f.csv:2:11: gaps: buffer `a`: the gap `4-3` is not inside its lifetime");
    CHECK(parse_error_of(head + "a,0,9,1,,,8-10,\n") ==
          "f.csv:2:11: gaps: buffer `a`: the gap `8-10` is not inside its lifetime");
    CHECK(parse_error_of(head + "a,0,9,1,,,,-1\n") ==
          "f.csv:2:12: pool: buffer `a`: pool -1 is not in 0 to 65535");
    CHECK(parse_error_of("id,lower,upper,size\n\"a,1,2,3\n") == "f.csv:2:1: a quoted field is not closed");
    CHECK(parse_error_of("id,lower,upper,size\n\"a\"b,1,2,3\n") ==
          "f.csv:2:4: text follows the end of a quoted field");
    CHECK(parse_error_of("id,lower,upper,size\n\"a\nb\",1,2,x\n") ==
          "f.csv:3:8: size: buffer `a?b`: `x` is no integer");
}

TEST_CASE("the cases: two are refused by name and line, the others are problems") {
    CHECK(error_text<stowage::parse_error>([] {
              static_cast<void>(io::read_layout_problem(cases / "lifetime-ends-before-it-begins.csv"));
          }) == (cases / "lifetime-ends-before-it-begins.csv").string() +
                    ":3:8: upper: buffer `back`: lower 7 > upper 3: its lifetime ends before it begins");
    CHECK(error_text<stowage::parse_error>([] {
              static_cast<void>(io::read_layout_problem(cases / "alignment-zero.csv"));
          }) == (cases / "alignment-zero.csv").string() +
                    ":3:9: alignment: buffer `b`: alignment 0 is not positive");
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(cases)) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with(".csv") || name == "alignment-zero.csv" || name.starts_with("lifetime-ends"))
            continue;
        CAPTURE(name);
        CHECK(io::read_layout_problem(entry.path()).buffers.size() > 1);
        ++count;
    }
    CHECK(count == 12);
    const std::string text = error_text<stowage::overflow_error>(
        [] { layout::validate(io::read_layout_problem(cases / "sum-passes-2-to-63.csv")); });
    CHECK(text.find("(x)") != std::string::npos);
    CHECK(text.find("(y)") != std::string::npos);
}

TEST_CASE("an answer read back is the problem with its pins") {
    stowage::detail::splitmix64 random(5);
    for (int round = 0; round < 200; ++round) {
        layout::problem problem;
        std::vector<std::int64_t> offsets;
        std::vector<std::uint32_t> pools;
        const bool optional_columns = random.below(2) == 0;
        for (std::uint64_t i = 0; i < random.below(8); ++i) {
            layout::buffer b;
            b.lower = static_cast<std::int64_t>(random.below(20)) - 10;
            b.upper = b.lower + static_cast<std::int64_t>(random.below(10));
            b.size = static_cast<std::int64_t>(random.below(1000));
            if (optional_columns) {
                b.alignment = 1 + static_cast<std::int64_t>(random.below(3));
                if (b.upper - b.lower > 4) b.gaps = {{b.lower, b.lower + 1}, {b.lower + 2, b.upper}};
                if (random.below(2) == 0) b.pool = static_cast<std::uint32_t>(random.below(3));
            }
            problem.buffers.push_back(b);
            problem.names.push_back("odd, \"name\"\n" + std::to_string(i));
            offsets.push_back(static_cast<std::int64_t>(random.below(1U << 30U)));
            pools.push_back(b.pool.value_or(1));
        }
        if (!optional_columns) pools.clear();
        const layout::problem back =
            io::parse_layout_problem(io::layout_answer_text(problem, offsets, pools));
        REQUIRE(back.buffers.size() == problem.buffers.size());
        CHECK(back.names == problem.names);
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            CHECK(back.buffers[i].lower == problem.buffers[i].lower);
            CHECK(back.buffers[i].upper == problem.buffers[i].upper);
            CHECK(back.buffers[i].size == problem.buffers[i].size);
            CHECK(back.buffers[i].alignment == problem.buffers[i].alignment);
            CHECK(back.buffers[i].gaps == problem.buffers[i].gaps);
            CHECK(back.buffers[i].offset == offsets[i]);
            CHECK(back.buffers[i].pool == (pools.empty() ? std::nullopt : std::optional(pools[i])));
        }
    }
}

TEST_CASE("answers have only the columns that are needed") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5}};
    const std::vector<std::int64_t> offsets = {7};
    CHECK(io::layout_answer_text(problem, offsets) == "id,lower,upper,size,offset\n0,0,2,5,7\n");
    problem.buffers[0].pool = 1;
    CHECK(io::layout_answer_text(problem, offsets) == "id,lower,upper,size,pool,offset\n0,0,2,5,1,7\n");
    CHECK_THROWS_AS(static_cast<void>(io::layout_answer_text(problem, {})), stowage::layout_error);
}

TEST_CASE("changed bytes: an error of stowage or a problem, and never anything else") {
    std::vector<std::string> texts = {
        "id,lower,upper,size,alignment,offset,gaps,pool\na,0,9,5,2,4,1-2 5-6,1\n\"b\",1,3,7,,,,\n"};
    for (const auto& entry : std::filesystem::directory_iterator(cases)) {
        if (entry.path().extension() != ".csv") continue;
        std::ifstream stream(entry.path(), std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    }
    stowage::detail::splitmix64 random(2);
    const std::string alphabet = ",\"\n\r-0123456789 ab";
    std::size_t problems = 0;
    for (const std::string& text : texts) {
        for (int i = 0; i < 500; ++i) {
            std::string changed = text;
            for (auto changes = 1 + random.below(3); changes > 0; --changes) {
                const std::size_t at = random.below(changed.size());
                const char byte = random.below(4) != 0 ? alphabet[random.below(alphabet.size())]
                                                       : static_cast<char>(random.below(256));
                if (random.below(2) == 0)
                    changed[at] = byte;
                else
                    changed.insert(at, 1, byte);
            }
            try {
                static_cast<void>(io::parse_layout_problem(changed));
                ++problems;
            } catch (const stowage::error& error) {
                CHECK(std::string(error.what()).starts_with("<input>:"));
            }
        }
    }
    CHECK(problems > 0);
}
