// LLaMA where it does not fit: plans prefill (first token) of 7B and 65B on one device of 16 and of 40 GB at
// several sequence lengths, and compares the predicted times with bounds and with other ways to run. Prints a
// table (Markdown), draws a plot. Example: llama_plan --svg llama.svg

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <stowage/io/atomic_file.hpp>
#include <stowage/io/machine_file.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/turnip/simulate.hpp>
#include <stowage/turnip/streaming.hpp>
#include <stowage/verify/memgraph.hpp>

#include "bytes.hpp"
#include "llama_programs.hpp"

namespace {

using namespace stowage;

/// Half-precision tensor cores, a PCIe 4 link each way: what the papers' servers have, in round numbers.
constexpr turnip::machine default_machine = {.flops_per_second = 1e14};

struct scenario {
    examples::llama_shape shape;
    std::string device;
    std::int64_t capacity = 0;
    std::int64_t sequence = 0;
};

/// One way to run, with its predicted seconds; negative: it does not fit.
struct way {
    std::string name;
    double seconds = -1;
};

struct row {
    scenario what = {};
    double needed_gb = 0;  // weights, keys and values, and what is alive with them, all kept
    double moved_gb = 0;
    double bound_gb = 0;
    double compile_seconds = 0;
    double bound_seconds = 0;
    std::vector<way> ways = {};
};

[[nodiscard]] turnip::compiled checked(const turnip::taskgraph& tasks, turnip::compiled made,
                                       std::int64_t capacity) {
    if (!made.ok()) return made;
    const auto verdict = verify::check_memgraph(tasks, made.memgraph, {.capacities = {capacity}});
    if (!verdict) throw std::logic_error("a memgraph was not verified: " + verdict.reason);
    return made;
}

[[nodiscard]] row planned(const scenario& what, const turnip::machine& m) {
    using turnip::schedule;
    row result;
    result.what = what;
    const examples::llama_program made = examples::llama_prefill(what.shape, {.sequence = what.sequence});
    const tensor_graph graph = make_tensor_graph(made.program);
    const std::vector<std::int64_t> live = live_bytes(graph, program_order(graph));
    result.needed_gb =
        static_cast<double>(persistent_bytes(graph) + *std::max_element(live.begin(), live.end())) / 1e9;
    const turnip::taskgraph tasks = turnip::make_taskgraph(graph);
    turnip::compile_options options{.devices = {{.capacity = what.capacity}}, .alignment = 256, .machine = m};
    const turnip::compiled least = checked(tasks, turnip::compile(tasks, options), what.capacity);
    options.goal = turnip::goal::time;
    const turnip::compiled quick = checked(tasks, turnip::compile(tasks, options), what.capacity);
    const turnip::compiled horizon =
        checked(tasks, turnip::compile(tasks, options, turnip::horizon{}), what.capacity);
    if (least.ok()) {
        result.moved_gb = static_cast<double>(least.bytes_moved) / 1e9;
        result.bound_gb = static_cast<double>(least.bytes_moved_lower_bound) / 1e9;
        result.bound_seconds = least.makespan_lower_bound;
        result.compile_seconds = quick.ok() ? quick.seconds : least.seconds;
    }
    const auto simulated = [&](const std::string& name, const turnip::compiled& of, schedule how) {
        const double seconds =
            of.ok() ? turnip::simulate(graph, of.memgraph, m, {.schedule = how}).makespan : -1;
        result.ways.push_back({name, seconds});
    };
    simulated("least time", quick, schedule::event_driven);
    simulated("least bytes", least, schedule::event_driven);
    simulated("fixed order", quick, schedule::fixed_order);
    simulated("horizon", horizon, schedule::event_driven);
    simulated("synchronous", quick, schedule::synchronous);
    for (const bool overlap : {true, false}) {
        const turnip::streamed run =
            turnip::simulate_streaming(tasks, m, {.layer = made.layer, .overlap_stores = overlap});
        const bool fits = run.peak_bytes[0] <= what.capacity;
        result.ways.push_back({overlap ? "FlexGen" : "ZeRO-Inference", fits ? run.makespan : -1});
    }
    return result;
}

[[nodiscard]] std::string decimal(double value, int digits) {
    if (value < 0) return "does not fit";
    const double scale = std::pow(10.0, digits);
    auto text = std::to_string(static_cast<std::int64_t>(value * scale + 0.5));
    while (text.size() <= static_cast<std::size_t>(digits))
        text.insert(text.begin(), '0');
    return digits == 0 ? text : text.insert(text.size() - static_cast<std::size_t>(digits), ".");
}

void print_table(const std::vector<row>& rows) {
    std::cout << "| model | device | tokens | needs GB | moved GB | bound | compiled s | bound s |";
    for (const way& w : rows[0].ways)
        std::cout << " " << w.name << " |";
    std::cout << "\n|---|---|---:|---:|---:|---:|---:|---:|";
    for (std::size_t i = 0; i < rows[0].ways.size(); ++i)
        std::cout << "---:|";
    std::cout << "\n";
    for (const row& r : rows) {
        std::cout << "| " << r.what.shape.name << " | " << r.what.device << " | " << r.what.sequence << " | "
                  << decimal(r.needed_gb, 1) << " | " << decimal(r.moved_gb, 1) << " | "
                  << decimal(r.bound_gb, 1) << " | " << decimal(r.compile_seconds, 2) << " | "
                  << decimal(r.bound_seconds, 3) << " |";
        for (const way& w : r.ways)
            std::cout << " " << decimal(w.seconds, 3) << " |";
        std::cout << "\n";
    }
}

/// Bars of predicted time over the bound, a group a scenario.
[[nodiscard]] std::string plot(const std::vector<row>& rows) {
    static constexpr const char* colours[] = {"#1f5fbf", "#76b7b2", "#9aa0a6", "#e15759",
                                              "#edc948", "#59a14f", "#b07aa1"};
    constexpr int left = 70;
    constexpr int top = 50;
    constexpr int height = 320;
    constexpr int bar = 11;
    const auto ways = static_cast<int>(rows[0].ways.size());
    const int group = ways * bar + 22;
    const int width = left + group * static_cast<int>(rows.size()) + 20;
    constexpr double most = 4.0;  // the axis ends here; longer bars are cut, with their number
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) + "\" height=\"" +
        std::to_string(top + height + 70) +
        "\" font-family=\"system-ui,sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#fff\"/>\n";
    const auto text = [&](int x, int y, const std::string& words, const char* more) {
        out += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" " + more + ">" + words +
               "</text>\n";
    };
    text(left, 18, "LLaMA prefill: predicted time / lower bound (1 = nothing can be faster)",
         "font-size=\"14\"");
    for (int i = 0; i < ways; ++i) {
        const int x = left + i * 110;
        out += "<rect x=\"" + std::to_string(x) + "\" y=\"28\" width=\"10\" height=\"10\" fill=\"" +
               colours[i % 7] + "\"/>\n";
        text(x + 14, 37, rows[0].ways[static_cast<std::size_t>(i)].name, "");
    }
    const auto y_of = [&](double ratio) {
        return top + static_cast<int>(height * (1.0 - std::min(ratio, most) / most));
    };
    for (int tick = 0; tick <= 4; ++tick) {
        out += "<line x1=\"" + std::to_string(left) + "\" x2=\"" + std::to_string(width - 10) + "\" y1=\"" +
               std::to_string(y_of(tick)) + "\" y2=\"" + std::to_string(y_of(tick)) + "\" stroke=\"" +
               (tick == 1 ? "#222" : "#e5e7eb") + "\"/>\n";
        text(left - 8, y_of(tick) + 4, std::to_string(tick), "text-anchor=\"end\"");
    }
    int x = left + 10;
    for (const row& r : rows) {
        for (int i = 0; i < ways; ++i) {
            const double seconds = r.ways[static_cast<std::size_t>(i)].seconds;
            if (seconds < 0 || r.bound_seconds <= 0) continue;
            const double ratio = seconds / r.bound_seconds;
            out += "<rect x=\"" + std::to_string(x + i * bar) + "\" y=\"" + std::to_string(y_of(ratio)) +
                   "\" width=\"" + std::to_string(bar - 1) + "\" height=\"" +
                   std::to_string(top + height - y_of(ratio)) + "\" fill=\"" + colours[i % 7] + "\"><title>" +
                   r.ways[static_cast<std::size_t>(i)].name + ": " + decimal(seconds, 3) + " s, " +
                   decimal(ratio, 2) + " x the bound</title></rect>\n";
        }
        const int middle = x + ways * bar / 2;
        text(middle, top + height + 16, r.what.shape.name, "text-anchor=\"middle\"");
        text(middle, top + height + 30, r.what.device, "text-anchor=\"middle\"");
        text(middle, top + height + 44, std::to_string(r.what.sequence) + " tokens",
             "text-anchor=\"middle\"");
        x += group;
    }
    return out + "</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Plans LLaMA prefill on devices that it does not fit: time and bytes against bounds and rivals."};
    std::vector<std::string> models = {"llama-7b", "llama-65b"};
    std::vector<std::string> devices = {"16GB", "40GB"};
    std::vector<std::int64_t> sequences = {1024, 4096, 16'384};
    std::string svg_file;
    std::string machine_file;
    app.add_option("--model", models, "models")
        ->check(CLI::IsMember({"llama-7b", "llama-13b", "llama-65b"}))
        ->delimiter(',');
    app.add_option("--capacity", devices, "bytes of the device")
        ->delimiter(',')
        ->type_name("BYTES[,BYTES...]");
    app.add_option("--sequence", sequences, "tokens")->check(CLI::Range(1, 1 << 20))->delimiter(',');
    app.add_option("--machine", machine_file, "speeds of the machine (JSON)")->type_name("FILE");
    app.add_option("--svg", svg_file, "draw the plot")->type_name("FILE");
    try {
        app.parse(argc, argv);
        std::vector<scenario> scenarios;
        for (const std::string& model : models) {
            for (const std::string& device : devices) {
                const auto capacity = examples::parse_bytes(device);
                if (!capacity || *capacity == 0)
                    throw CLI::ValidationError("--capacity", "`" + device + "` is no number of bytes");
                for (const std::int64_t sequence : sequences) {
                    const auto shape = model == "llama-7b"    ? examples::llama_7b()
                                       : model == "llama-13b" ? examples::llama_13b()
                                                              : examples::llama_65b();
                    scenarios.push_back({shape, device, *capacity, sequence});
                }
            }
        }
        const turnip::machine machine =
            machine_file.empty() ? default_machine : io::read_machine(machine_file);
        std::vector<row> rows;
        for (const scenario& what : scenarios)
            rows.push_back(planned(what, machine));
        if (!svg_file.empty()) io::write_file(svg_file, plot(rows));
        print_table(rows);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const error& error) {
        std::cerr << "llama_plan: " << error.what() << "\n";
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "llama_plan: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
