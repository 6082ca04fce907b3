#include "../../examples/bytes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <vector>

using examples::parse_byte_list;
using examples::parse_bytes;

TEST_CASE("byte counts with and without suffix") {
    CHECK(parse_bytes("0") == 0);
    CHECK(parse_bytes("4096") == 4096);
    CHECK(parse_bytes("12B") == 12);
    CHECK(parse_bytes("512MiB") == 512LL << 20);
    CHECK(parse_bytes("16GB") == 16'000'000'000);
    CHECK(parse_bytes("1.5 GiB") == 3LL << 29);
    CHECK(parse_bytes("0.001kB") == 1);
    CHECK(parse_bytes("2TiB") == 2LL << 40);
    CHECK(parse_bytes("9223372036854775807") == INT64_MAX);
    CHECK(parse_bytes("8388607TiB") == 8388607LL << 40);
}

TEST_CASE("what is no byte count") {
    for (const char* text : {"", " ", "-1", "+1", "1e3", "abc", "MiB", ".5", "1.", "1..2", "1.5", "0.3KiB",
                             "1 2", "9223372036854775808", "8388608TiB", "9999999999999999999TiB",
                             "1.0000000000001TB", "10Mb", "99999999999999999999999999999999999999999999"}) {
        CAPTURE(text);
        CHECK(parse_bytes(text) == std::nullopt);
    }
}

TEST_CASE("lists") {
    CHECK(parse_byte_list("1,2KiB,3") == std::vector<std::int64_t>{1, 2048, 3});
    CHECK(parse_byte_list("7") == std::vector<std::int64_t>{7});
    CHECK(parse_byte_list("") == std::nullopt);
    CHECK(parse_byte_list("1,") == std::nullopt);
    CHECK(parse_byte_list("1,,2") == std::nullopt);
}
