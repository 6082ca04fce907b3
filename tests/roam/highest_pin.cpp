#include <stowage/roam/highest_pin.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>

#include <stowage/error.hpp>
#include <stowage/graph.hpp>

using stowage::buffer_kind;
using stowage::roam::highest_pin;

TEST_CASE("the pinned buffer that ends highest bounds the arena; what has no bytes in the plan does not") {
    stowage::program step;
    step.add_operator({});
    CHECK(highest_pin(stowage::make_tensor_graph(step)).bytes == 0);
    const auto add = [&](std::int64_t bytes, std::optional<std::int64_t> pin) {
        const auto buffer =
            step.add_buffer({.bytes = bytes, .kind = buffer_kind::donated, .pinned_offset = pin});
        step.add_operator({.reads = {buffer}});
    };
    add(10, 5);
    add(0, 90);
    add(9, 8);
    add(1, 16);
    add(99, std::nullopt);
    const stowage::roam::pinned_end highest = highest_pin(stowage::make_tensor_graph(step));
    CHECK(highest.bytes == 17);
    CHECK(highest.buffer == 2);
    add(1, std::numeric_limits<std::int64_t>::max());
    const stowage::tensor_graph too_high = stowage::make_tensor_graph(step);
    CHECK_THROWS_AS(static_cast<void>(highest_pin(too_high)), stowage::overflow_error);
}
