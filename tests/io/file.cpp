#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <stowage/detail/random.hpp>
#include <stowage/io/file.hpp>
#include <string>

#include "support/error_text.hpp"
#include "support/gzip.hpp"
#include "support/temporary_folder.hpp"

namespace io = stowage::io;
using stowage::test::error_text;

namespace {

std::string long_text() {
    std::string text;
    stowage::detail::splitmix64 random(7);
    while (text.size() < 300'000)
        text += std::to_string(random.below(1000)) + ",";
    return text;
}

}  // namespace

TEST_CASE("plain bytes come back as they are, compressed ones as they were") {
    const std::string text = long_text();
    CHECK(io::decompress(text, "x") == text);
    CHECK(io::decompress(stowage::test::gzip(text), "x") == text);
    CHECK(io::decompress("", "x").empty());
    CHECK(io::decompress(stowage::test::gzip(""), "x").empty());
    CHECK(io::decompress("\x1f", "x") == "\x1f");
}

TEST_CASE("gzip members follow one another, and zeros may follow them") {
    const std::string two = stowage::test::gzip("first ") + stowage::test::gzip("second");
    CHECK(io::decompress(two, "x") == "first second");
    CHECK(io::decompress(two + std::string(100, '\0'), "x") == "first second");
    CHECK(error_text<stowage::parse_error>([&] {
              static_cast<void>(io::decompress(two + "rest", "f.gz"));
          }) == "f.gz: bytes follow the end of the gzip data");
}

TEST_CASE("a cut-off or changed gzip file is an error, never a wrong text") {
    const std::string text = long_text();
    const std::string packed = stowage::test::gzip(text);
    for (std::size_t length = 2; length < packed.size(); length += 1 + packed.size() / 50) {
        CHECK(error_text<stowage::parse_error>([&] {
                  static_cast<void>(io::decompress(packed.substr(0, length), "f"));
              }).find("f: ") == 0);
    }
    stowage::detail::splitmix64 random(3);
    int refused = 0;
    for (int i = 0; i < 200; ++i) {
        std::string changed = packed;
        const std::size_t at = 10 + random.below(packed.size() - 10);
        changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1U << random.below(8)));
        try {
            const std::string result = io::decompress(changed, "f");
            CHECK(result == text);
        } catch (const stowage::parse_error&) {
            ++refused;
        }
    }
    CHECK(refused > 190);
}

TEST_CASE("a small file that stands for a large text stops at the limit") {
    const std::string bomb = stowage::test::gzip(std::string(1U << 20U, 'a'));
    CHECK(bomb.size() < 5000);
    CHECK(error_text<stowage::parse_error>([&] {
              static_cast<void>(io::decompress(bomb, "f", {.max_bytes = 10'000}));
          }) == "f: more than 10000 bytes when decompressed");
    CHECK(io::decompress(bomb, "f", {.max_bytes = 1U << 20U}).size() == 1U << 20U);
    CHECK(error_text<stowage::parse_error>([&] {
              static_cast<void>(io::decompress("12345", "f", {.max_bytes = 4}));
          }) == "f: more than 4 bytes");
}

TEST_CASE("files are read whole") {
    const stowage::test::temporary_folder folder;
    const std::string text = long_text();
    std::ofstream(folder / "plain") << text;
    std::ofstream(folder / "packed", std::ios::binary) << stowage::test::gzip(text);
    CHECK(io::read_file(folder / "plain") == text);
    CHECK(io::read_file(folder / "packed") == text);
    CHECK_THROWS_AS(static_cast<void>(io::read_file(folder / "plain", {.max_bytes = 1000})),
                    stowage::parse_error);
    CHECK(error_text<io::file_error>([&] { static_cast<void>(io::read_file(folder / "none")); }) ==
          (folder / "none").string() + ": cannot be opened: No such file or directory");
    CHECK(error_text<io::file_error>([&] {
              static_cast<void>(io::read_file(folder.path()));
          }).find("Is a directory") != std::string::npos);
    CHECK_THROWS_AS(static_cast<void>(io::read_file("/dev/zero", {.max_bytes = 1'000'000})),
                    stowage::parse_error);
}

TEST_CASE("streams are read to their end") {
    std::istringstream stream(stowage::test::gzip("some text"));
    CHECK(io::read_stream(stream, "stream") == "some text");
    std::istringstream large(std::string(200'000, 'x'));
    CHECK_THROWS_AS(static_cast<void>(io::read_stream(large, "stream", {.max_bytes = 100'000})),
                    stowage::parse_error);
}

TEST_CASE("the short name of a program's file") {
    CHECK(io::short_name("/a/b/vit_b_16-b1.json.gz") == "vit_b_16-b1");
    CHECK(io::short_name("x.json") == "x");
    CHECK(io::short_name("plain.program.json") == "plain.program");
    CHECK(io::short_name("other") == "other");
}
