#include <doctest/doctest.h>

#include <stowage/io/machine_file.hpp>
#include <string>

#include "support/error_text.hpp"

namespace io = stowage::io;

namespace {

std::string error_of(const std::string& text) {
    return stowage::test::error_text<stowage::parse_error>(
        [&] { static_cast<void>(io::parse_machine(text)); });
}

}  // namespace

TEST_CASE("an empty object is the default machine, unknown keys are ignored") {
    CHECK(io::parse_machine("{}") == stowage::turnip::machine{});
    CHECK(io::parse_machine(R"({"name": "x", "more": {"jitter": [1, {}]}})") == stowage::turnip::machine{});
}

TEST_CASE("every key is read") {
    const stowage::turnip::machine m = io::parse_machine(R"({"flops_per_second": 1e13, "bytes_per_second": 2,
        "host_to_device_bytes_per_second": 3, "device_to_host_bytes_per_second": 4.5,
        "peer_bytes_per_second": 5, "launch_seconds": 0, "copy_seconds": 0.25, "compute_lanes": 7, "jitter": 1})");
    CHECK(m.flops_per_second == 1e13);
    CHECK(m.bytes_per_second == 2);
    CHECK(m.host_to_device_bytes_per_second == 3);
    CHECK(m.device_to_host_bytes_per_second == 4.5);
    CHECK(m.peer_bytes_per_second == 5);
    CHECK(m.launch_seconds == 0);
    CHECK(m.copy_seconds == 0.25);
    CHECK(m.compute_lanes == 7);
    CHECK(m.jitter == 1);
}

TEST_CASE("what is no machine is named") {
    CHECK(error_of("[]") == "<input>: the file holds an array instead of an object");
    CHECK(error_of("3") == "<input>: the file holds 3 instead of an object");
    CHECK(error_of("{\"jitter\": ") ==
          "<input>:1:12: jitter: syntax error while parsing value - unexpected end of "
          "input; expected '[', '{', or a literal");
    CHECK(error_of(R"({"jitter": "much"})") == "<input>: jitter: is to be a number, it is a string");
    CHECK(error_of(R"({"jitter": 1.5})") == "<input>: machine: jitter is not from 0 to 1");
    CHECK(error_of(R"({"jitter": [0]})") == "<input>: jitter: is to be a number, it is an array");
    CHECK(error_of(R"({"bytes_per_second": 0})") == "<input>: machine: bytes_per_second is not positive");
    CHECK(error_of(R"({"bytes_per_second": 1e-320})") ==
          "<input>: machine: bytes_per_second is not from 1e-9 to 1e300");
    CHECK(error_of(R"({"bytes_per_second": 1e308})") ==
          "<input>: machine: bytes_per_second is not from 1e-9 to 1e300");
    CHECK(error_of(R"({"compute_lanes": 0})") ==
          "<input>: compute_lanes: is to be an integer from 1 to 65535, it is 0");
    CHECK(error_of(R"({"compute_lanes": 1.5})") ==
          "<input>: compute_lanes: is to be an integer from 1 to 65535, it is 1.5");
    CHECK(error_of(R"({"jitter": 0, "jitter": 0})") == "<input>: jitter: the key occurs twice");
}
