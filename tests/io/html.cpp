#include <stowage/io/html.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/browser.hpp"
#include "support/picture_sample.hpp"

using namespace stowage;

namespace {

io::picture sample(const std::string& title) {
    const tensor_graph graph = test::sample_graph();
    io::picture shown = io::make_picture(graph, test::sample_plan(graph), title);
    shown.levels = {{"lower bound", 700}, {"PyTorch reserved", 900}};
    shown.figures = {{"arena", "950 B"}, {"gap <b>", "18.75 %"}};
    return shown;
}

struct page_file {
    std::filesystem::path path;
    explicit page_file(const std::string& text, const std::string& ending) {
        path =
            std::filesystem::temp_directory_path() / ("stowage-page-" + std::to_string(::getpid()) + ending);
        std::ofstream(path) << text;
    }
    page_file(const page_file&) = delete;
    page_file& operator=(const page_file&) = delete;
    ~page_file() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
        std::filesystem::remove(path.string() + ".png", ignored);
    }
};

}  // namespace

TEST_CASE("the page has no outside links, and data cannot end its script element") {
    const std::array<io::picture, 1> pictures = {sample("a </script><img src=x>")};
    const std::string page = io::to_html(pictures);
    CHECK(page.find("http://") == std::string::npos);
    CHECK(page.find("https://") == std::string::npos);
    CHECK(page.find("<img") == std::string::npos);
    CHECK(page.find("\\u003c/script>\\\"y\\\"") != std::string::npos);
    std::size_t ends = 0;
    for (std::size_t at = page.find("</script>"); at != std::string::npos;
         at = page.find("</script>", at + 1))
        ++ends;
    CHECK(ends == 2);
}

TEST_CASE("names that are no UTF-8 are replaced") {
    io::picture shown = sample("bad \xff name");
    shown.operators[0] = "\xc3(";
    const std::array<io::picture, 1> pictures = {shown};
    const std::string page = io::to_html(pictures);
    CHECK(page.find("bad \xef\xbf\xbd name") != std::string::npos);
}

TEST_CASE("a browser shows figures, curves, boxes and the peak") {
    const auto browser = test::find_browser();
    if (!browser) {
        MESSAGE("skipped: no Chromium here");
        return;
    }
    const std::array<io::picture, 2> pictures = {sample("first"), sample("second")};
    const page_file page(io::to_html(pictures), ".html");
    const std::string document = test::browse(*browser, "--dump-dom", page.path);
    CHECK(document.find("<option value=\"1\">second</option>") != std::string::npos);
    CHECK(document.find("gap &lt;b&gt;") != std::string::npos);
    CHECK(document.find("operator “sum”, 800 B alive") != std::string::npos);
    CHECK(document.find("<td>scale &lt;1&gt;</td>") != std::string::npos);
    const test::pixels shot = test::screenshot(*browser, page.path);
    CHECK(shot.count(0x1f5fbf, 24) > 300);       // the plan's curve
    CHECK(shot.count(0x66'8f'b5, 24) > 20'000);  // boxes of the forward pass
    CHECK(shot.count(0xf4'9c'49, 24) > 20'000);  // boxes of the backward pass
}

TEST_CASE("a run is shown beside the plan: each lane's bars, rate and causes of idle time") {
    io::picture shown = sample("run");
    shown.makespan = 2'000'000;
    shown.lanes = {{"d0.compute",
                    {{"load", "op", 0, 900'000, 0}, {"scale <1>", "op", 1'500'000, 2'000'000, 0}},
                    1'400'000,
                    0,
                    {{"reload", 600'000}, {"dispatch", 0}}},
                   {"d0.h2d", {{"reload x", "reload", 900'000, 1'500'000, 1200}}, 600'000, 1200, {}}};
    shown.lanes[1].idle = {{"reload", 0}, {"dispatch", 1'400'000}};
    const std::array<io::picture, 1> pictures = {shown};
    const std::string text = io::to_html(pictures);
    CHECK(text.find(R"("makespan":2000000)") != std::string::npos);
    CHECK(text.find(R"("idle":[["reload",600000],["dispatch",0]])") != std::string::npos);
    const auto browser = test::find_browser();
    if (!browser) {
        MESSAGE("skipped: no Chromium here");
        return;
    }
    const page_file page(text, ".html");
    const std::string document = test::browse(*browser, "--dump-dom", page.path);
    CHECK(document.find("<td>d0.compute</td><td class=\"n\">1.400 ms</td><td class=\"n\">70.0 %</td>") !=
          std::string::npos);
    CHECK(document.find("<th class=\"n\">idle: reload</th>") != std::string::npos);
    CHECK(document.find("<section id=\"run\">") != std::string::npos);
    const test::pixels shot = test::screenshot(*browser, page.path);
    CHECK(shot.count(0xed'c9'48, 24) > 500);  // the reload
}
