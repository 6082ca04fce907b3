#include <stowage/io/svg.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/picture_sample.hpp"

using namespace stowage;

TEST_CASE("every box is a rectangle with its facts, escaped") {
    const tensor_graph graph = test::sample_graph();
    io::picture shown = io::make_picture(graph, test::sample_plan(graph), "sample & more");
    shown.levels = {{"lower bound", 700}};
    const std::string svg = io::to_svg(shown);
    std::size_t titles = 0;
    for (std::size_t at = svg.find("<rect x="); at != std::string::npos; at = svg.find("<rect x=", at + 1))
        ++titles;
    CHECK(titles == shown.boxes.size());
    CHECK(svg.find("sample &amp; more") != std::string::npos);
    CHECK(svg.find("d &amp; e\n200 B at 0\nsteps 0 to 0\ndonated") != std::string::npos);
    CHECK(svg.find("&lt;/script&gt;&quot;y&quot;") != std::string::npos);
    CHECK(svg.find("made by scale &lt;1&gt;") != std::string::npos);
    CHECK(svg.find("lower bound 700 B") != std::string::npos);
    CHECK(svg.rfind("</svg>\n") == svg.size() - 7);
}

TEST_CASE("text that XML forbids is replaced, other languages stay") {
    CHECK(io::detail::xml_escape("a\x01"
                                 "b\xff"
                                 "c") == "a?b?c");
    CHECK(io::detail::xml_escape("Größe 大") == "Größe 大");
    CHECK(io::detail::xml_escape("\xed\xa0\x80") == "???");
    CHECK(io::detail::xml_escape("\xe5\xa4") == "??");
}

TEST_CASE("a long program stays small: curves have at most two points a pixel column") {
    io::picture shown;
    shown.title = "long";
    shown.operators.assign(200'000, "op");
    shown.stages.assign(200'000, stage::unknown);
    io::picture_curve curve{"the plan", {}};
    for (std::int64_t t = 0; t < 200'000; ++t)
        curve.live.push_back(t == 123'456 ? 5000 : t % 1000);
    shown.curves.push_back(curve);
    const std::string svg = io::to_svg(shown, {.width = 800});
    CHECK(svg.size() < 60'000);
    CHECK(svg.find("4.88 KiB") != std::string::npos);  // the one high step decides the axis and is not lost
}

TEST_CASE("an empty program is drawn too") {
    CHECK(io::to_svg({}).find("</svg>") != std::string::npos);
}
