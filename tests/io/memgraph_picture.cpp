#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stowage/graph.hpp>
#include <stowage/io/html.hpp>
#include <stowage/io/memgraph_picture.hpp>
#include <stowage/io/svg.hpp>
#include <stowage/turnip/simulate.hpp>
#include <string>
#include <vector>

#include "support/naive_memgraph.hpp"
#include "support/random_program.hpp"

namespace io = stowage::io;
namespace turnip = stowage::turnip;

TEST_CASE("stays do not overlap, moves are marks, and live bytes are their sums") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        const auto program =
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 10, .largest = 9}));
        const turnip::memgraph graph = stowage::test::naive_memgraph(
            program, seed, {.devices = static_cast<std::uint32_t>(1 + seed % 2)});
        const turnip::simulation run = turnip::simulate(program, graph);
        const auto pictures = io::make_pictures(program, graph, "p", seed % 3 == 0 ? &run : nullptr);
        REQUIRE(pictures.size() == graph.arena_bytes.size());
        std::size_t marks = 0;
        for (const io::picture& shown : pictures) {
            std::vector<io::picture_box> stays;
            for (const io::picture_box& box : shown.boxes) {
                if (box.kind == "offload" || box.kind == "reload" || box.kind == "transfer") {
                    CHECK(box.first == box.last);
                    ++marks;
                } else {
                    stays.push_back(box);
                }
                CHECK(box.offset + box.bytes <= shown.arena_bytes);
            }
            for (std::size_t i = 0; i < stays.size(); ++i) {
                for (std::size_t k = 0; k < i; ++k) {
                    const bool times = stays[i].first <= stays[k].last && stays[k].first <= stays[i].last;
                    const bool bytes = stays[i].offset < stays[k].offset + stays[k].bytes &&
                                       stays[k].offset < stays[i].offset + stays[i].bytes;
                    // A run may begin a writer at the step at which a reader of the old contents begins.
                    CHECK_FALSE((times && bytes && seed % 3 != 0));
                }
            }
            for (std::size_t t = 0; t < shown.operators.size(); ++t) {
                std::int64_t sum = 0;
                for (const io::picture_box& box : stays)
                    sum += box.first <= t && t <= box.last ? box.bytes : 0;
                CHECK(shown.curves.back().live[t] == sum);
            }
        }
        std::size_t expected = 0;
        for (turnip::vertex_index v = 0; v < graph.vertices.size(); ++v) {
            if (graph.vertices[v].kind == turnip::vertex_kind::op || program.bytes(graph.moved(v)) == 0)
                continue;
            expected += graph.vertices[v].kind == turnip::vertex_kind::transfer ? 2 : 1;
        }
        CHECK(marks == expected);
        CHECK(io::to_html(pictures).find("\"offloaded to the host\"") != std::string::npos);
        CHECK(io::to_svg(pictures[0]).find("<svg") == 0);
    }
}

TEST_CASE("an empty memgraph has an empty picture") {
    const auto program = stowage::make_tensor_graph(stowage::program{});
    turnip::memgraph graph;
    graph.arena_bytes = {0};
    const auto pictures = io::make_pictures(program, graph, "nothing");
    REQUIRE(pictures.size() == 1);
    CHECK(pictures[0].title == "nothing");
    CHECK(pictures[0].boxes.empty());
}
