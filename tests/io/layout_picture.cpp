#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stowage/io/layout_picture.hpp>
#include <stowage/io/svg.hpp>
#include <string>
#include <vector>

namespace io = stowage::io;
namespace layout = stowage::layout;

TEST_CASE("buffers are boxes over ranks of times, one a span that holds bytes") {
    layout::problem problem;
    problem.buffers = {{.lower = -5, .upper = 1'000'000'000'000, .size = 10},
                       {.lower = 3, .upper = 20, .size = 7, .offset = 16, .gaps = {{5, 9}}},
                       {.lower = 0, .upper = 0, .size = 99},
                       {.lower = 0, .upper = 9, .size = 0}};
    problem.names = {"long", "", "empty", "zero"};
    const std::vector<std::int64_t> offsets = {0, 16, 0, 0};
    const io::picture picture = io::make_picture(problem, offsets, "p");
    CHECK(picture.arena_bytes == 23);
    CHECK(picture.operators == std::vector<std::string>{"from time -5", "from time 3", "from time 5",
                                                        "from time 9", "from time 20"});
    REQUIRE(picture.boxes.size() == 3);
    CHECK(picture.boxes[0].name == "long");
    CHECK(picture.boxes[0].first == 0);
    CHECK(picture.boxes[0].last == 4);
    CHECK(picture.boxes[1].name == "buffer 1");
    CHECK(picture.boxes[1].first == 1);
    CHECK(picture.boxes[1].last == 1);
    CHECK(picture.boxes[1].kind == "pinned");
    CHECK(picture.boxes[2].first == 3);
    CHECK(picture.boxes[2].last == 3);
    CHECK(picture.curves[0].live == std::vector<std::int64_t>{10, 17, 10, 17, 10});
    CHECK(picture.peak_step == 1);
    CHECK(picture.alive_at_peak == std::vector<std::uint32_t>{0, 1});
    CHECK(io::to_svg(picture).find("spans of time") != std::string::npos);
}

TEST_CASE("pools stand one above the other") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 10, .pool = 1}, {.lower = 0, .upper = 2, .size = 4}};
    problem.capacities = {100, 100};
    const std::vector<std::int64_t> offsets = {5, 0};
    const io::picture picture = io::make_picture(problem, offsets, "p");
    CHECK(picture.arena_bytes == 19);
    REQUIRE(picture.boxes.size() == 2);
    CHECK(picture.boxes[0].offset == 0);
    CHECK(picture.boxes[1].offset == 9);
    const io::picture other = io::make_picture(problem, offsets, "p", std::vector<std::uint32_t>{1, 1});
    CHECK(other.arena_bytes == 15);
}

TEST_CASE("no buffers, too few offsets, too many bytes") {
    layout::problem problem;
    CHECK(io::to_svg(io::make_picture(problem, {}, "empty")).find("<svg") == 0);
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    problem.buffers = {{.lower = 0, .upper = 1, .size = most, .pool = 0},
                       {.lower = 0, .upper = 1, .size = most, .pool = 1}};
    CHECK_THROWS_AS(static_cast<void>(io::make_picture(problem, {}, "p")), stowage::layout_error);
    const std::vector<std::int64_t> offsets = {0, 0};
    CHECK_THROWS_AS(static_cast<void>(io::make_picture(problem, offsets, "p")), stowage::overflow_error);
}
