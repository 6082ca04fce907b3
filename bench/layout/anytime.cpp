// How good a layout is after how much work: best arena and bound over states, as a plot; and other solvers on
// the same files in the same run, each given as a command. A peer's answer is read from the column `offset`
// of the CSV file that it writes, and verified. Example: bench_layout_anytime D.csv J.csv --svg anytime.svg
// --peer "minimalloc=minimalloc --capacity={capacity} --input={input} --output={output} --timeout=60s"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <stowage/io.hpp>
#include <stowage/layout.hpp>
#include <stowage/verify.hpp>

#include "paper/plot.hpp"

namespace {

using namespace stowage;
using clock_type = std::chrono::steady_clock;

struct sample {
    std::uint64_t states;
    std::int64_t arena;
    std::int64_t bound;
};
struct curve {
    std::string name;
    std::int64_t load = 0;
    std::vector<sample> samples;
};

[[nodiscard]] double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}
[[nodiscard]] std::string name_of(const std::string& file) {
    const std::string stem = std::filesystem::path(file).stem().string();
    return stem.substr(0, stem.find(".1048576"));
}
[[nodiscard]] double above(std::int64_t bytes, std::int64_t load) {
    return load == 0 ? 0 : 100.0 * static_cast<double>(bytes - load) / static_cast<double>(load);
}

/// The answer at every limit from 1,000 states on, doubled until it is proven or `most` is reached: what a
/// search has after so many states is what it answers with that limit.
[[nodiscard]] curve measure(const std::string& file, std::uint64_t most) {
    const layout::problem problem = io::read_layout_problem(file);
    curve result{name_of(file), layout::load_bound(problem).bytes, {}};
    for (std::uint64_t states = 1000;; states = std::min(most, states * 2)) {
        const layout::solution found = layout::plan(problem, {.states = states});
        result.samples.push_back({states, found.arena, found.lower_bound});
        if (found.status == status::optimal || states == most) return result;
    }
}

/// Best arenas as steps over a logarithmic axis of states, each with its bound as a dashed line.
[[nodiscard]] std::string plot(const std::vector<curve>& curves, std::uint64_t most) {
    using bench::detail::number;
    constexpr double left = 60;
    constexpr double width = 700;
    constexpr double height = 300;
    constexpr std::array colours{"#2b6cb0", "#dd6b20", "#2f855a", "#805ad5", "#b83280", "#718096"};
    const double decades = std::log10(static_cast<double>(most)) - 3;
    double top = 1;
    for (const curve& one : curves)
        top = std::max(top, above(one.samples.front().arena, one.load));
    const auto x = [&](std::uint64_t states) {
        return left + width * (std::log10(static_cast<double>(states)) - 3) / decades;
    };
    const auto y = [&](double percent) { return 60 + height * (1 - percent / top); };
    std::string body;
    const double step = top > 12 ? 5 : 1;
    for (double v = 0; v <= top; v += step)
        body += bench::detail::line(left, y(v), left + width, y(v)) +
                bench::detail::text_at(5, y(v) + 4, "+" + number(v) + "%", "font-size=\"10\"");
    for (std::uint64_t v = 1000; v <= most; v *= 10)
        body += bench::detail::line(x(v), 60, x(v), 60 + height) +
                bench::detail::text_at(x(v) - 14, 75 + height, std::to_string(v), "font-size=\"10\"");
    for (std::size_t c = 0; c < curves.size(); ++c) {
        const std::string colour = colours.at(c % colours.size());
        const auto path = [&](auto value, const char* style) {
            std::string points;
            double last = 0;
            for (const sample& s : curves[c].samples) {
                const double here = y(above(value(s), curves[c].load));
                if (!points.empty()) points += number(x(s.states)) + "," + number(last) + " ";
                points += number(x(s.states)) + "," + number(here) + " ";
                last = here;
            }
            return "<polyline fill=\"none\" stroke=\"" + colour + "\" " + style + " points=\"" + points +
                   "\"/>\n";
        };
        body += path([](const sample& s) { return s.arena; }, "stroke-width=\"2\"");
        body += path([](const sample& s) { return s.bound; }, "stroke-dasharray=\"4\"");
        body += "<text x=\"" + number(left + 40 + 110 * static_cast<double>(c)) + "\" y=\"45\" fill=\"" +
                colour + "\">" + curves[c].name + "</text>\n";
    }
    return bench::detail::frame(left + width + 20, 90 + height,
                                "Arena (solid) and bound (dashed) above the load, over states", {}, body);
}

void replace(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

/// One cell of the table: the peer's arena and seconds, or what went wrong.
[[nodiscard]] std::string run_peer(std::string command, const std::string& file, std::int64_t capacity) {
    const std::filesystem::path output =
        std::filesystem::temp_directory_path() / ("stowage-peer-" + name_of(file) + ".csv");
    std::filesystem::remove(output);
    replace(command, "{input}", "'" + file + "'");
    replace(command, "{output}", "'" + output.string() + "'");
    replace(command, "{capacity}", std::to_string(capacity));
    const auto start = clock_type::now();
    const int status = std::system((command + " > /dev/null 2>&1").c_str());
    const double seconds = seconds_since(start);
    std::array<char, 64> took{};
    std::snprintf(took.data(), took.size(), " | %.3f", seconds);
    if (!std::filesystem::exists(output)) return "none (exit " + std::to_string(status) + ")" + took.data();
    layout::offset_list offsets;
    for (const layout::buffer& b : io::read_layout_problem(output.string()).buffers)
        offsets.push_back(b.offset.value_or(-1));
    std::filesystem::remove(output);
    const layout::problem problem = io::read_layout_problem(file);
    const verify::verdict verdict = verify::check_layout(problem, offsets);
    if (!verdict) return "none" + std::string(took.data());
    return std::to_string(layout::arena_of(problem, offsets)) + took.data();
}

/// A Markdown table: ours, without being told a capacity, beside each peer, which is told the load.
void compare(const std::vector<std::string>& files, const std::vector<std::string>& peers) {
    std::string head = "| problem | load | stowage | s |";
    std::string rule = "|---|---:|---:|---:|";
    for (const std::string& peer : peers) {
        head += " " + peer.substr(0, peer.find('=')) + " | s |";
        rule += "---:|---:|";
    }
    std::cout << head << "\n" << rule << "\n";
    for (const std::string& file : files) {
        const layout::problem problem = io::read_layout_problem(file);
        const auto start = clock_type::now();
        const layout::solution ours = layout::plan(problem);
        std::array<char, 32> took{};
        std::snprintf(took.data(), took.size(), "%.3f", seconds_since(start));
        std::cout << "| " << name_of(file) << " | " << ours.load << " | " << ours.arena << " | "
                  << took.data() << " |";
        for (const std::string& peer : peers)
            std::cout << " " << run_peer(peer.substr(peer.find('=') + 1), file, ours.load) << " |";
        std::cout << std::endl;
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Arena and bound of layouts over states, and other solvers beside."};
    std::vector<std::string> files;
    std::vector<std::string> peers;
    std::string svg;
    std::uint64_t most = layout::default_states;
    app.add_option("problems", files, "layout problems (CSV)")->required();
    app.add_option("--svg", svg, "write a plot of arena and bound over states");
    app.add_option("--states", most, "the largest limit of the plot")
        ->check(CLI::Range(10'000UL, 1'000'000'000UL))
        ->capture_default_str();
    app.add_option("--peer", peers, "NAME=COMMAND with {input}, {output} and {capacity}, which is the load")
        ->check([](const std::string& text) {
            return text.find('=') == std::string::npos ? std::string("takes NAME=COMMAND") : std::string();
        });
    CLI11_PARSE(app, argc, argv);
    try {
        if (!svg.empty()) {
            std::vector<curve> curves;
            for (const std::string& file : files)
                curves.push_back(measure(file, most));
            io::atomic_file picture(svg, plot(curves, most));
            picture.commit();
        }
        if (svg.empty() || !peers.empty()) compare(files, peers);
    } catch (const std::exception& error) {
        std::cerr << "bench_layout_anytime: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
