#include <stowage/graph/buffer_kind.hpp>

#include <doctest/doctest.h>

using namespace stowage;

TEST_CASE("each kind has the number and the name that files and fingerprints use") {
    static_assert(static_cast<int>(buffer_kind::parameter) == 0);
    static_assert(static_cast<int>(buffer_kind::buffer) == 1);
    static_assert(static_cast<int>(buffer_kind::optimizer_state) == 2);
    static_assert(static_cast<int>(buffer_kind::input) == 3);
    static_assert(static_cast<int>(buffer_kind::constant) == 4);
    static_assert(static_cast<int>(buffer_kind::donated) == 5);
    static_assert(static_cast<int>(buffer_kind::intermediate) == 6);
    static_assert(static_cast<int>(buffer_kind::output) == 7);
    CHECK(to_string(buffer_kind::optimizer_state) == "optimizer_state");
    CHECK(to_string(static_cast<buffer_kind>(8)) == "?");
    for (std::size_t i = 0; i < buffer_kind_count; ++i)
        CHECK(parse_buffer_kind(buffer_kind_names[i]) == static_cast<buffer_kind>(i));
    CHECK(!parse_buffer_kind("temporary"));
    CHECK(!parse_buffer_kind(""));
    CHECK(!parse_buffer_kind("Output"));
}

TEST_CASE("what the kinds mean") {
    for (std::size_t i = 0; i < buffer_kind_count; ++i) {
        const auto kind = static_cast<buffer_kind>(i);
        CAPTURE(to_string(kind));
        CHECK(is_persistent(kind) == (i < 5));
        CHECK(is_planned(kind) == (i >= 5));
        CHECK(is_alive_at_start(kind) == (i < 6));
    }
}
