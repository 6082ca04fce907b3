#include <stowage/io/picture.hpp>

#include <doctest/doctest.h>

#include <array>

#include "support/picture_sample.hpp"

using namespace stowage;

TEST_CASE("a picture holds the curves, the boxes and the peak") {
    const tensor_graph graph = test::sample_graph();
    const plan made = test::sample_plan(graph);
    const std::vector<operator_index> program = program_order(graph);
    const std::array<io::other_order, 1> others = {io::other_order{"program order", program}};
    const io::picture shown = io::make_picture(graph, made, "sample", others);

    REQUIRE(shown.curves.size() == 2);
    CHECK(shown.curves[0].label == "program order");
    CHECK(shown.curves[1].live == live_bytes(graph, made.order));
    CHECK(shown.operators == std::vector<std::string>{"load", "scale <1>", "sum"});
    CHECK(shown.peak_step == 2);

    // x is an input and has no place; b without a name is shown by its index; the workspace is a box of its
    // own.
    REQUIRE(shown.boxes.size() == 5);
    CHECK(shown.boxes[0].name == "d & e");
    CHECK(shown.boxes[0].kind == "donated");
    CHECK(shown.boxes[0].producer == no_operator);
    CHECK(shown.boxes[1].name == "a");
    CHECK(shown.boxes[2].name == "buffer 3");
    CHECK(shown.boxes[3].name == "workspace of operator 1 (scale <1>)");
    CHECK(shown.boxes[3].first == 1);
    CHECK(shown.boxes[3].last == 1);
    CHECK(shown.boxes[4].kind == "output");

    std::int64_t alive = 0;
    for (const std::uint32_t box : shown.alive_at_peak)
        alive += shown.boxes[box].bytes;
    CHECK(alive == shown.curves[1].live[shown.peak_step]);
    CHECK(shown.boxes[shown.alive_at_peak[0]].bytes >= shown.boxes[shown.alive_at_peak[1]].bytes);
}

TEST_CASE("a plan of another program is refused") {
    const tensor_graph graph = test::sample_graph();
    plan other = test::sample_plan(graph);
    other.offsets.pop_back();
    CHECK_THROWS_AS((void)io::make_picture(graph, other, "x"), program_error);
}

TEST_CASE("bytes as people read them") {
    CHECK(io::human_bytes(0) == "0 B");
    CHECK(io::human_bytes(1023) == "1023 B");
    CHECK(io::human_bytes(1024) == "1.00 KiB");
    CHECK(io::human_bytes(1536 * 1024) == "1.50 MiB");
    CHECK(io::human_bytes(std::int64_t{9223372036854775807}) == "8.00 EiB");
}
