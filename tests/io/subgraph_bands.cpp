#include <stowage/io/subgraph_bands.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <stowage/io/html.hpp>
#include <stowage/roam/paper.hpp>

#include "support/training_steps.hpp"

using namespace stowage;

TEST_CASE("every step lies in one independent subgraph's band, and each of its dependent ones below it") {
    const tensor_graph graph = test::training_graph({.layers = 8, .by = test::optimizer::adam});
    roam::paper_report report;
    const plan made = roam::paper(solver::enumerator{}, {.tree = {.node_limit = 20}})(graph, {}, &report);
    const layout::order_layout items = layout::layout_problem_of(graph, made.order);
    const std::vector<io::picture_band> bands = io::bands_of(report.tree, items);
    REQUIRE(bands.size() + 1 == report.tree.nodes.size());
    std::array<std::vector<int>, 2> covered;
    covered.fill(std::vector<int>(graph.operator_count(), 0));
    for (const io::picture_band& band : bands) {
        REQUIRE(band.row < 2);
        CHECK(band.name.starts_with(band.row == 0 ? "IG " : "DG "));
        CHECK(band.text.find("operators, forward steps ") != std::string::npos);
        for (const auto& [from, to] : band.spans) {
            for (std::int64_t t = from; t < to; ++t)
                ++covered.at(band.row)[static_cast<std::size_t>(t)];
        }
    }
    std::size_t below = 0;
    for (std::size_t t = 0; t < graph.operator_count(); ++t) {
        CHECK(covered[0][t] == 1);
        CHECK(covered[1][t] <= 1);
        below += covered[1][t] == 1 ? 1 : 0;
    }
    CHECK(below > 0);

    io::picture shown = io::make_picture(graph, made, "bands");
    const auto page = [&] { return io::to_html(std::array<io::picture, 1>{shown}); };
    CHECK(page().find("\"bands\":[]") != std::string::npos);
    shown.bands = bands;
    CHECK(page().find("\"name\":\"" + bands[0].name + "\"") != std::string::npos);
    CHECK(page().find("<canvas id=\"bands\"") != std::string::npos);
}
