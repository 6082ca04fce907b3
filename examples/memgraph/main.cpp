// Compiles tensor programs that do not fit a device into memgraphs: addresses and moves ahead of time, with a
// bound on the bytes that must move. Files, options and exit statuses are those of docs/formats.md. Example:
// memgraph step.json.gz --capacity 16GB -o step.memgraph.json --simulate --html step.html

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <stowage/io.hpp>
#include <stowage/turnip/cheapest_order.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/fastest_order.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/turnip/place_by_layers.hpp>
#include <stowage/turnip/simulate.hpp>
#include <stowage/verify/memgraph.hpp>

#include "../command_line.hpp"
#include "orders.hpp"

namespace {

using nlohmann::ordered_json;
using namespace stowage;

// More than the library's, which a search for time keeps: it tries many times as much.
constexpr std::uint64_t states_for_bytes = 400'000;

struct arguments : examples::search_arguments {
    std::string program;
    std::string capacity_text;
    std::vector<std::int64_t> capacities;  // one a device
    std::string memgraph_file;
    std::string html_file;
    std::string trace_file;
    std::string machine_file;
    std::string policy = "residency";
    std::string goal = "bytes";
    std::string start = "host";
    std::string order = "program";
    std::optional<std::string> host_text;
    std::optional<std::int64_t> host;
    std::int64_t alignment = 1;
    bool once = false;
    bool fixed_order = false;
    bool simulate = false;
    bool json = false;

    [[nodiscard]] bool simulates() const { return simulate || !trace_file.empty(); }
};

/// What the program has found.
struct answer {
    io::access_list program;
    turnip::machine machine;
    turnip::compiled made;
    std::optional<turnip::simulation> run;
    double seconds = 0;
};

[[nodiscard]] turnip::start_rule start_rule_of(const std::string& name) {
    if (name == "device") return turnip::start_rule::on_device;
    return name == "steady" ? turnip::start_rule::steady : turnip::start_rule::on_host;
}

[[nodiscard]] turnip::taskgraph taskgraph_of(const io::access_list& program,
                                             std::span<const operator_index> order,
                                             const turnip::machine& machine, const arguments& given) {
    const auto devices = static_cast<std::uint32_t>(given.capacities.size());
    turnip::taskgraph_options options{
        .devices = devices, .start = start_rule_of(given.start), .once = given.once};
    if (!program.has_devices && devices > 1) {
        options.placement = turnip::place_by_layers(program.graph, order, devices, machine);
    }
    return turnip::make_taskgraph(program.graph, options);
}

[[nodiscard]] turnip::compile_options compile_options_of(const answer& found, const arguments& given) {
    turnip::compile_options options;
    for (const std::int64_t capacity : given.capacities)
        options.devices.push_back({.capacity = capacity});
    if (given.host) options.host.capacity = *given.host;
    options.goal = given.goal == "time" ? turnip::goal::time : turnip::goal::bytes;
    options.fixed_order = given.fixed_order;
    options.alignment = given.alignment;
    options.name = found.program.name;
    options.limits = given.limits();
    options.machine = found.machine;
    return options;
}

/// Compiles, verifies and, if asked for, simulates.
void solve(answer& found, const arguments& given) {
    const auto begin = budget::clock::now();
    const budget clock(given.limits(), begin);
    const auto part_of_time = [&](int parts) { return clock.share_of_time(parts).rest_of(given.limits()); };
    const tensor_graph& graph = found.program.graph;
    const bool chooses = given.order == memgraph_program::cheapest;
    std::vector<operator_index> order =
        memgraph_program::order_of(graph, chooses ? "program" : given.order, part_of_time(3));
    const turnip::taskgraph tasks = taskgraph_of(found.program, order, found.machine, given);
    turnip::compile_options options = compile_options_of(found, given);
    const bool for_time = chooses && options.goal == turnip::goal::time && given.policy != "horizon";
    if (chooses && !for_time) {
        const auto orders = memgraph_program::cheap_orders(graph, part_of_time(4));
        options.limits = part_of_time(3);
        order = turnip::choose_order(tasks, orders, options).order;
    }
    options.limits = part_of_time(1);
    found.made = given.policy == "horizon" ? turnip::compile(tasks, order, options, turnip::horizon{})
                 : for_time                ? turnip::compile(tasks, order, options, turnip::fastest_order{})
                                           : turnip::compile(tasks, order, options);
    found.seconds = std::chrono::duration<double>(budget::clock::now() - begin).count();
    if (!found.made.ok()) return;
    const verify::verdict verdict = verify::check_memgraph(
        tasks, found.made.memgraph,
        {.capacities = given.capacities, .host_capacity = given.host, .superfluous_edges = false});
    if (!verdict) throw std::logic_error("the memgraph was not verified: " + verdict.reason);
    if (given.simulates()) {
        found.run = turnip::simulate(graph, found.made.memgraph, found.machine, {.seed = given.seed});
    }
}

[[nodiscard]] std::size_t memory_edges(const turnip::memgraph& graph) {
    return static_cast<std::size_t>(
        std::count_if(graph.edges.begin(), graph.edges.end(),
                      [](const turnip::edge& e) { return e.kind == turnip::edge_kind::memory; }));
}

[[nodiscard]] ordered_json summary_json(const answer& found, const arguments& given) {
    const turnip::compiled& made = found.made;
    ordered_json summary = {{"status", to_string(made.status)}};
    if (made.ok()) {
        summary["arena_bytes"] = made.memgraph.arena_bytes;
        summary["host_bytes"] = made.memgraph.host_bytes;
        summary["bytes_offloaded"] = made.bytes_offloaded;
        summary["bytes_reloaded"] = made.bytes_reloaded;
        summary["bytes_transferred"] = made.bytes_transferred;
        summary["bytes_moved"] = made.bytes_moved;
        summary["bytes_moved_lower_bound"] = made.bytes_moved_lower_bound;
        summary["vertices"] = made.memgraph.vertices.size();
        summary["edges"] = made.memgraph.edges.size();
        summary["memory_edges"] = memory_edges(made.memgraph);
        if (found.run && given.simulate) {
            summary["makespan_seconds"] = found.run->makespan;
            summary["makespan_lower_bound_seconds"] = made.makespan_lower_bound;
            summary["makespan_lower_bound_in_order_seconds"] = made.makespan_lower_bound_in_order;
        }
    } else {
        if (made.least_capacity > 0) summary["least_capacity_bytes"] = made.least_capacity;
        if (made.blamed != no_operator) summary["operator"] = made.blamed;
        summary["memory"] = made.memory == turnip::host ? ordered_json("host") : ordered_json(made.memory);
        summary["reason"] = made.reason;
    }
    summary["policy"] = made.found_by;
    summary["seconds"] = found.seconds;
    return summary;
}

[[nodiscard]] std::string percent_above(std::int64_t value, std::int64_t bound) {
    if (bound <= 0) return {};
    const auto thousandths = static_cast<std::int64_t>(
        1000.0 * (static_cast<double>(value) / static_cast<double>(bound) - 1.0) + 0.5);
    return " (" + std::to_string(thousandths / 10) + "." + std::to_string(thousandths % 10) +
           " % above the bound)";
}

[[nodiscard]] std::string milliseconds(double seconds) {
    std::array<char, 400> text{};  // enough for the largest number
    std::snprintf(text.data(), text.size(), "%.3f ms", 1e3 * seconds);
    return text.data();
}

void print_text(const answer& found, const arguments& given) {
    const turnip::compiled& made = found.made;
    const turnip::memgraph& graph = made.memgraph;
    std::cout << found.program.name << ": " << to_string(made.status) << " by " << made.found_by << " in "
              << milliseconds(found.seconds) << "\n";
    for (std::size_t d = 0; d < graph.arena_bytes.size(); ++d) {
        std::cout << "  device " << d << ": arena " << io::human_bytes(graph.arena_bytes[d]) << " of "
                  << io::human_bytes(given.capacities[d]) << "\n";
    }
    std::cout << "  host: " << io::human_bytes(graph.host_bytes)
              << "\n  moved: " << io::human_bytes(made.bytes_offloaded) << " out, "
              << io::human_bytes(made.bytes_reloaded) << " in";
    if (made.bytes_transferred > 0)
        std::cout << ", " << io::human_bytes(made.bytes_transferred) << " between devices or within one";
    std::cout << percent_above(made.bytes_moved, made.bytes_moved_lower_bound)
              << "\n  graph: " << graph.vertices.size() << " vertices, " << graph.edges.size() << " edges, "
              << memory_edges(graph) << " for memory\n";
    if (!found.run) return;
    std::cout << "  simulated: " << milliseconds(found.run->makespan);
    if (made.makespan_lower_bound > 0) {
        std::cout << ", at least " << milliseconds(made.makespan_lower_bound) << " (in this order "
                  << milliseconds(made.makespan_lower_bound_in_order) << ")";
    }
    std::cout << "\n";
    for (std::size_t d = 0; d < found.run->devices.size(); ++d) {
        const turnip::device_use& use = found.run->devices[d];
        std::cout << "  device " << d << ": computes " << milliseconds(use.compute) << ", waits "
                  << milliseconds(use.waiting_for_data) << " for data, "
                  << milliseconds(use.waiting_for_memory) << " for memory, "
                  << milliseconds(use.waiting_for_lane) << " for a lane; copies " << milliseconds(use.offload)
                  << " out, " << milliseconds(use.reload) << " in\n";
    }
}

[[nodiscard]] std::vector<io::picture> pictures_of(const answer& found, const arguments& given) {
    const turnip::compiled& made = found.made;
    std::vector<io::picture> pictures = io::make_pictures(
        found.program.graph, made.memgraph, found.program.name, found.run ? &*found.run : nullptr);
    for (std::size_t d = 0; d < pictures.size(); ++d) {
        io::picture& shown = pictures[d];
        shown.status = to_string(made.status);
        shown.levels = {{"capacity", given.capacities[d]}};
        shown.figures.insert(shown.figures.begin(), {{"arena", io::human_bytes(made.memgraph.arena_bytes[d])},
                                                     {"capacity", io::human_bytes(given.capacities[d])}});
        shown.figures.emplace_back("moved to and from the host, in all", io::human_bytes(made.bytes_moved));
        shown.figures.emplace_back("at least", io::human_bytes(made.bytes_moved_lower_bound));
        shown.figures.emplace_back("host", io::human_bytes(made.memgraph.host_bytes));
        if (found.run) {
            const turnip::device_use& use = found.run->devices[d];
            shown.figures.emplace_back("simulated run", milliseconds(found.run->makespan));
            shown.figures.emplace_back("computes", milliseconds(use.compute));
            shown.figures.emplace_back("waits for data", milliseconds(use.waiting_for_data));
            shown.figures.emplace_back("waits for memory", milliseconds(use.waiting_for_memory));
        }
        shown.figures.emplace_back("compiled in", milliseconds(found.seconds));
    }
    return pictures;
}

/// Every file is prepared before the first becomes visible.
[[nodiscard]] std::vector<io::atomic_file> files_of(const answer& found, const arguments& given) {
    std::vector<io::atomic_file> files;
    if (!found.made.ok()) return files;
    if (!given.memgraph_file.empty())
        files.emplace_back(given.memgraph_file, io::memgraph_text(found.made.memgraph));
    if (!given.html_file.empty()) files.emplace_back(given.html_file, io::to_html(pictures_of(found, given)));
    if (!given.trace_file.empty()) {
        files.emplace_back(given.trace_file,
                           io::trace_text(found.program.graph, found.made.memgraph, *found.run));
    }
    return files;
}

void add_options(CLI::App& app, arguments& given) {
    app.add_option("program", given.program, "program (access-list/1, plain or .gz)")
        ->required()
        ->type_name("PROGRAM");
    app.add_option("--capacity", given.capacity_text,
                   "bytes of each device, with suffix or without (512MiB, 16GB)")
        ->required()
        ->type_name("BYTES[,BYTES...]");
    app.add_option("-o", given.memgraph_file, "write the memgraph (memgraph/1); - is standard output")
        ->type_name("MEMGRAPH");
    app.add_option("--policy", given.policy, "how to compile")
        ->check(CLI::IsMember({"residency", "horizon"}))
        ->capture_default_str();
    app.add_option("--goal", given.goal, "what should be small")
        ->check(CLI::IsMember({"bytes", "time"}))
        ->capture_default_str();
    app.add_option("--start", given.start, "where buffers are before and after the run")
        ->check(CLI::IsMember({"host", "device", "steady"}))
        ->capture_default_str();
    app.add_flag("--once", given.once, "persistent buffers need not end where they began");
    app.add_option("--host", given.host_text, "bytes of host RAM (default: as many as needed)")
        ->type_name("BYTES");
    app.add_option("--order", given.order, "order policy")
        ->check(CLI::IsMember(memgraph_program::order_names()))
        ->capture_default_str();
    app.add_flag("--fixed-order", given.fixed_order, "operators of a device run in the order given");
    app.add_option("--alignment", given.alignment, "every address is a multiple of this")
        ->transform(examples::positive_bytes())
        ->type_name("BYTES")
        ->capture_default_str();
    given.add_to(app);
    app.add_flag("--simulate", given.simulate, "run it in virtual time");
    app.add_option("--machine", given.machine_file, "speeds of the machine (JSON)")->type_name("FILE");
    app.add_option("--html", given.html_file, "write the report")->type_name("FILE");
    app.add_option("--trace", given.trace_file, "write the simulated run for Chrome or Perfetto")
        ->type_name("FILE");
    app.add_flag("--json", given.json, "print one JSON object");
}

void check(arguments& given) {
    const auto list = examples::parse_byte_list(given.capacity_text);
    if (!list) {
        throw CLI::ValidationError("--capacity", "`" + given.capacity_text + "` is no list of byte counts");
    }
    given.capacities = *list;
    if (given.host_text) {
        given.host = examples::parse_bytes(*given.host_text);
        if (!given.host)
            throw CLI::ValidationError("--host", "`" + *given.host_text + "` is no number of bytes");
    }
    if (given.goal == "time") given.default_states = search_limits{}.states;
    given.check_budget();
    examples::check_distinct({given.memgraph_file, given.html_file, given.trace_file, given.json ? "-" : ""});
}

/// Why there is no memgraph, and what would do.
[[nodiscard]] std::string reason_text(const answer& found) {
    const turnip::compiled& made = found.made;
    std::string text(to_string(made.status));
    if (!made.reason.empty()) {
        text += ": " + made.reason;
    } else if (made.blamed != no_operator) {
        text += ": " + found.program.graph.describe_operator(made.blamed).text("operator");
    }
    if (made.least_capacity > 0) {
        text += "; least capacity of " +
                (made.memory == turnip::host ? "the host" : "device " + std::to_string(made.memory)) + ": " +
                std::to_string(made.least_capacity);
    }
    return text;
}

[[nodiscard]] int run(const arguments& given) {
    answer found;
    found.program = io::read_access_list(given.program);
    if (!given.machine_file.empty()) found.machine = io::read_machine(given.machine_file);
    solve(found, given);
    examples::show(files_of(found, given), [&] {
        if (given.json) {
            std::cout << io::json_text(summary_json(found, given));
        } else if (found.made.ok() && given.memgraph_file != "-" && given.html_file != "-" &&
                   given.trace_file != "-") {
            print_text(found, given);
        }
    });
    if (found.made.ok()) return 0;
    std::cerr << "memgraph: " << given.program << ": " << reason_text(found) << "\n";
    return examples::exit_no;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Compiles programs that do not fit a device into memgraphs, with a bound on what must move."};
    arguments given;
    given.default_states = states_for_bytes;
    given.states_note = ", with --goal time " + std::to_string(search_limits{}.states);
    add_options(app, given);
    const auto parse = [&] {
        app.parse(argc, argv);
        check(given);
    };
    return examples::run_program(app, "memgraph", given.program, parse, [&] { return run(given); });
}
