#include <doctest/doctest.h>

#include <cstdint>
#include <stowage/graph.hpp>
#include <stowage/turnip/place_in_parts.hpp>
#include <vector>

namespace turnip = stowage::turnip;

TEST_CASE("a chain is cut into parts of nearly equal time, where few bytes cross") {
    stowage::program p;
    auto last = p.add_buffer({.bytes = 100, .kind = stowage::buffer_kind::input});
    for (int i = 0; i < 40; ++i) {
        const auto next = p.add_buffer({.bytes = i == 19 ? 1 : 100});
        p.add_operator({.reads = {last}, .writes = {next}, .seconds = 1.0});
        last = next;
    }
    const auto program = stowage::make_tensor_graph(p);
    std::vector<stowage::operator_index> order(40);
    for (std::uint32_t i = 0; i < 40; ++i)
        order[i] = i;
    const auto halves = turnip::place_in_parts(program, order, 2);
    for (std::size_t i = 0; i < 40; ++i)
        CHECK(halves[i] == (i < 20 ? 0 : 1));
    const auto quarters = turnip::place_in_parts(program, order, 4);
    std::vector<int> sizes(4, 0);
    for (std::size_t i = 0; i < 40; ++i) {
        ++sizes[quarters[i]];
        if (i > 0) CHECK(quarters[i] >= quarters[i - 1]);
    }
    for (const int size : sizes) {
        CHECK(size >= 8);
        CHECK(size <= 12);
    }
}

TEST_CASE("more devices than operators, no operators, no device") {
    stowage::program p;
    p.add_operator({});
    p.add_operator({});
    const auto program = stowage::make_tensor_graph(p);
    const std::vector<stowage::operator_index> order = {0, 1};
    for (const turnip::memory_index d : turnip::place_in_parts(program, order, 5))
        CHECK(d < 5);
    CHECK(turnip::place_in_parts(stowage::make_tensor_graph(stowage::program{}), {}, 3).empty());
    CHECK_THROWS_AS(static_cast<void>(turnip::place_in_parts(program, order, 0)), stowage::error);
}
