// Runs a memgraph with contents in which any wrong byte is seen: on threads of the host, in virtual time, or,
// where it was built with CUDA's runtime, on CUDA devices.
// Files, options and exit statuses are those of docs/formats.md. Example:
// run_memgraph program.json memgraph.json --priority random --seed 7

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/io.hpp>
#include <stowage/io/machine_file.hpp>
#include <stowage/io/memgraph_file.hpp>
#include <stowage/io/run_picture.hpp>
#include <stowage/io/run_trace.hpp>
#include <stowage/verify/memgraph.hpp>

#include "../command_line.hpp"
#include "digest_memory.hpp"

#if defined(STOWAGE_HAS_CUDA)
#include <stowage/exec/cuda.hpp>
#include <stowage/exec/cuda_nvtx.hpp>

#include "staged_contents.hpp"
#endif

namespace {

using nlohmann::ordered_json;
using namespace stowage;

struct arguments {
    std::string program;
    std::string memgraph;
    std::string device = "host";
    std::string priority = "critical";
    std::uint32_t window = 0;
    std::uint64_t seed = 1;
    std::uint64_t runs = 1;
    bool no_verify = false;
    std::string machine_file;
    std::string trace_file;
    std::string html_file;
    bool nvtx = false;
    bool json = false;

    [[nodiscard]] bool wants_trace() const { return !trace_file.empty() || !html_file.empty(); }
};

/// What all runs together have shown.
struct answer {
    std::string status = "ok";
    std::string reason = {};  // why it is not ok
    std::string contents_hash = {};
    double makespan = 0;  // of the fastest run
    std::uint64_t runs = 0;
    exec::run_report report = {};  // of the last run
};

[[nodiscard]] exec::any_priority priority_of(const std::string& name) {
    if (name == "need") return exec::need{};
    if (name == "fifo") return exec::fifo{};
    if (name == "random") return exec::seeded_random{};
    return exec::critical_path{};
}

[[nodiscard]] std::string hex_digits(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

/// Bytes of RAM that can be had, where the system tells.
[[nodiscard]] std::optional<std::int64_t> available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    std::int64_t kilobytes = 0;
    std::string unit;
    while (file >> key >> kilobytes >> unit) {
        if (key == "MemAvailable:") return kilobytes * 1024;
    }
    return std::nullopt;
}

/// Executes the runs; `fill` sets the contents at the start, `check` looks at those at the end.
template <class Executor, class Fill, class Check>
void execute(Executor& executor, const arguments& given, answer& found, const Fill& fill,
             const Check& check) {
    for (std::uint64_t i = 0; i < given.runs; ++i) {
        fill();
        found.report = executor.run({.seed = given.seed + i, .trace = given.wants_trace()});
        if (!found.report) {
            found.status = to_string(found.report.status);
            found.reason = found.report.error ? found.report.error->text() : found.status;
            return;
        }
        try {
            check();
        } catch (const exec::contents_error& error) {
            found.status = "failed";
            found.reason = error.what();
            return;
        }
        ++found.runs;
        const double seconds = std::chrono::duration<double>(found.report.makespan).count();
        found.makespan = i == 0 ? seconds : std::min(found.makespan, seconds);
    }
}

void run_on_host(const tensor_graph& program, const turnip::memgraph& graph,
                 const exec::executor_options& options, const arguments& given, answer& found) {
    std::int64_t bytes = graph.host_bytes;
    for (const std::int64_t arena : graph.arena_bytes)
        bytes = detail::checked_add(bytes, arena);
    const auto available = available_memory();
    if (available && bytes > *available) {
        throw exec::device_error(
            "its memory is not enough: " + std::to_string(*available) + " bytes can be had", "host", bytes);
    }
    const exec::synthetic_digests digests(program);
    const exec::synthetic_kernels kernels(program, digests);
    exec::host_device_options made{.compute_lanes = options.machine.compute_lanes};
    if (given.priority == "random") {
        // naps by chance, so that what a wrong memgraph leaves to chance goes wrong
        made.inject =
            [random = detail::splitmix64(given.seed)](const exec::lane_work&) mutable -> exec::injection {
            return {.delay = std::chrono::microseconds(random.below(4) == 0 ? random.below(200) : 0)};
        };
    }
    exec::host_device device(std::move(made));
    exec::executor executor{program, graph, kernels, device, options};
    execute(
        executor, given, found, [&] { kernels.fill(executor, graph.start); },
        [&] { kernels.check(executor, graph.final); });
    if (found.status == "ok") found.contents_hash = hex_digits(digests.contents_hash());
}

#if defined(STOWAGE_HAS_CUDA)
/// The ordinals of the CUDA devices on which the memgraph's run; several share one where there are too few.
[[nodiscard]] std::vector<int> cuda_ordinals(std::size_t devices) {
    int count = 0;
    exec::detail::cuda_check(cudaGetDeviceCount(&count), "there is no CUDA device", "device 0");
    if (count == 0) throw exec::device_error("there is no CUDA device", "device 0");
    std::vector<int> ordinals;
    for (std::size_t d = 0; d < devices; ++d)
        ordinals.push_back(static_cast<int>(d % static_cast<std::size_t>(count)));
    return ordinals;
}

void run_on_cuda(const tensor_graph& program, const turnip::memgraph& graph,
                 const exec::executor_options& options, const arguments& given, answer& found) {
    exec::cuda_device device(exec::cuda_device_options{.ordinals = cuda_ordinals(graph.arena_bytes.size()),
                                                       .compute_lanes = options.machine.compute_lanes});
    const exec::synthetic_digests digests(program);
    const exec::synthetic_kernels kernels(program, digests);
    examples::staged_contents staged(program, graph, kernels);
    const auto run_with = [&](auto with) {
        exec::executor executor{program, graph, std::move(with), device, options};
        execute(
            executor, given, found, [&] { kernels.fill(executor, graph.start); },
            [&] {
                staged.rethrow();
                kernels.check(executor, graph.final);
            });
    };
    if (given.nvtx)
        run_with(exec::nvtx_kernels(program, std::ref(staged)));
    else
        run_with(std::ref(staged));
    if (found.status == "ok") found.contents_hash = hex_digits(digests.contents_hash());
}
#endif

/// `jitter`: how much longer or shorter work takes than it should, by chance.
void run_simulated(const tensor_graph& program, const turnip::memgraph& graph,
                   const exec::executor_options& options, const arguments& given, double jitter,
                   answer& found) {
    const exec::synthetic_digests digests(program);
    examples::digest_memory memory;
    examples::digest_kernels kernels(program, graph, digests, memory);
    exec::simulated_device device({.compute_lanes = options.machine.compute_lanes,
                                   .duration = exec::modelled_duration{&program, &graph, options.machine},
                                   .jitter = jitter,
                                   .memory = false,
                                   .on_copy = [&](const exec::copy_request& copy) { memory.end_copy(copy); },
                                   .on_start =
                                       [&](const exec::lane_work& work) {
                                           if (work.kind == exec::work_kind::copy)
                                               memory.start_copy(work.copy);
                                           else
                                               kernels.start(work.vertex);
                                       }});
    exec::executor executor{program, graph, std::ref(kernels), device, options};
    execute(
        executor, given, found, [&] { kernels.fill(); }, [&] { kernels.check(); });
    if (found.status == "ok") found.contents_hash = hex_digits(digests.contents_hash());
}

/// Without a verifier only runs can find what is wrong, and one order may be right by luck: orders by chance,
/// with times by chance, which count for nothing else.
void try_orders(const tensor_graph& program, const turnip::memgraph& graph, exec::executor_options options,
                const arguments& given, answer& found) {
    constexpr std::uint64_t orders = 64;
    constexpr double jitter = 0.9;
    options.priority = exec::seeded_random{};
    arguments tried = given;
    tried.runs = orders;
    answer result;
    run_simulated(program, graph, options, tried, jitter, result);
    if (result.status != "ok") found = std::move(result);
}

[[nodiscard]] answer run_all(const tensor_graph& program, const turnip::memgraph& graph,
                             const exec::executor_options& options, const arguments& given) {
    answer found;
    if (!given.no_verify) {
        const verify::verdict verdict = verify::check_memgraph(program, graph);
        if (!verdict) return {.status = "not verified", .reason = verdict.reason};
    }
    try {
        if (given.device == "simulated") {
            if (given.no_verify) try_orders(program, graph, options, given, found);
            if (found.status == "ok")
                run_simulated(program, graph, options, given, options.machine.jitter, found);
        } else if (given.device == "cuda") {
#if defined(STOWAGE_HAS_CUDA)
            run_on_cuda(program, graph, options, given, found);
#endif
        } else {
            run_on_host(program, graph, options, given, found);
        }
    } catch (const exec::memgraph_error& error) {
        return {.status = "rejected", .reason = error.what()};
    } catch (const exec::device_error& error) {
        return {.status = "failed", .reason = error.what()};
    }
    return found;
}

[[nodiscard]] ordered_json summary_json(const answer& found) {
    ordered_json summary = {{"status", found.status}};
    if (found.status == "ok") {
        summary["contents_hash"] = found.contents_hash;
        summary["makespan_seconds"] = found.makespan;
    }
    summary["bytes_offloaded"] = found.report.bytes_offloaded;
    summary["bytes_reloaded"] = found.report.bytes_reloaded;
    summary["bytes_transferred"] = found.report.bytes_transferred;
    summary["runs"] = found.runs;
    if (found.status == "ok") return summary;
    summary["error"] = found.reason;
    if (!found.report.error) return summary;
    const exec::fault& fault = *found.report.error;
    summary["device"] = fault.device;
    summary["lane"] = fault.lane_name;
    summary["vertex"] = fault.vertex;
    if (fault.op.index != no_index) summary["operator"] = fault.op.index;
    return summary;
}

[[nodiscard]] std::string summary_text(const answer& found) {
    std::string text = std::to_string(found.runs) + " runs, the fastest " + std::to_string(found.makespan) +
                       " s; offloaded " + std::to_string(found.report.bytes_offloaded) + ", reloaded " +
                       std::to_string(found.report.bytes_reloaded) + ", transferred " +
                       std::to_string(found.report.bytes_transferred) + " bytes; contents " +
                       found.contents_hash + "\n";
    for (const exec::lane_report& lane : found.report.lanes) {
        if (lane.vertices == 0) continue;
        const auto milliseconds = [](std::chrono::nanoseconds time) {
            return std::to_string(std::chrono::duration<double, std::milli>(time).count());
        };
        text += "  " + lane.name + ": " + std::to_string(lane.vertices) + " vertices, busy " +
                milliseconds(lane.busy) + " ms, waited";
        for (std::size_t cause = 0; cause < exec::idle_cause_count; ++cause) {
            text += (cause == 0 ? " " : ", ") + milliseconds(lane.idle[cause]) + " for " +
                    std::string(exec::to_string(static_cast<exec::idle_cause>(cause)));
        }
        text += "\n";
    }
    return text;
}

void add_options(CLI::App& app, arguments& given) {
    app.add_option("program", given.program, "access-list/1, plain or .gz")->required()->type_name("PROGRAM");
    app.add_option("memgraph", given.memgraph, "memgraph/1, plain or .gz")->required()->type_name("MEMGRAPH");
    app.add_option(
           "--device", given.device,
           "host: threads and real bytes; simulated: virtual time and digests; cuda: CUDA devices, where "
           "this was built with CUDA's runtime")
        ->check(CLI::IsMember({"host", "simulated", "cuda"}))
        ->capture_default_str();
    app.add_option("--priority", given.priority, "which of several ready vertices goes first")
        ->check(CLI::IsMember({"critical", "need", "fifo", "random"}))
        ->capture_default_str();
    app.add_option("--window", given.window,
                   "vertices in one lane at a time, 1 to 4096 (default: as suits the device)")
        ->check(examples::whole_number(1, 4096));
    app.add_option("--seed", given.seed, "seed of the random priority and of jitter; run i adds i")
        ->check(examples::whole_number())
        ->capture_default_str();
    app.add_option("--runs", given.runs, "how often")
        ->check(examples::whole_number(1))
        ->capture_default_str();
    app.add_flag("--no-verify", given.no_verify, "leave wrong memgraphs to be found by the run");
    app.add_option("--machine", given.machine_file, "speeds of the simulated device")->type_name("FILE");
    app.add_option("--trace", given.trace_file, "write the last run for chrome://tracing")->type_name("FILE");
    app.add_option("--html", given.html_file, "write the report: the memgraph and the last run of it")
        ->type_name("FILE");
    app.add_flag("--nvtx", given.nvtx, "with --device cuda: mark operators for NVIDIA's profilers");
    app.add_flag("--json", given.json, "print one JSON object");
}

[[nodiscard]] std::vector<io::picture> pictures_of(const io::access_list& program,
                                                   const turnip::memgraph& graph, const answer& found) {
    std::vector<io::picture> pictures =
        io::make_run_pictures(program.graph, graph, program.name, found.report);
    for (std::size_t d = 0; d < pictures.size(); ++d) {
        pictures[d].status = found.status;
        pictures[d].figures.insert(
            pictures[d].figures.begin(),
            {{"arena", io::human_bytes(graph.arena_bytes[d])},
             {"host", io::human_bytes(graph.host_bytes)},
             {"the run",
              std::to_string(std::chrono::duration<double, std::milli>(found.report.makespan).count()) +
                  " ms"}});
    }
    return pictures;
}

[[nodiscard]] int run(const arguments& given) {
    const io::access_list program = io::read_access_list(given.program);
    const turnip::memgraph graph = io::read_memgraph(given.memgraph, program.graph);
    exec::executor_options options{.priority = priority_of(given.priority), .window = given.window};
    if (!given.machine_file.empty()) options.machine = io::read_machine(given.machine_file);
    const answer found = run_all(program.graph, graph, options, given);
    std::vector<io::atomic_file> files;
    if (!given.trace_file.empty() && found.status == "ok")
        files.emplace_back(given.trace_file, io::run_trace_text(program.graph, graph, found.report));
    if (!given.html_file.empty() && found.status == "ok")
        files.emplace_back(given.html_file, io::to_html(pictures_of(program, graph, found)));
    examples::show(std::move(files), [&] {
        if (given.json)
            std::cout << io::json_text(summary_json(found));
        else if (found.status == "ok" && given.trace_file != "-" && given.html_file != "-")
            std::cout << summary_text(found);
    });
    if (found.status == "ok") return 0;
    std::cerr << "run_memgraph: " << given.memgraph << ": " << found.status << ": " << found.reason << "\n";
    return examples::exit_no;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs a memgraph with contents in which any wrong byte is seen."};
    arguments given;
    add_options(app, given);
    const auto parse = [&] {
        app.parse(argc, argv);
        examples::check_distinct({given.trace_file, given.html_file, given.json ? "-" : ""});
#if !defined(STOWAGE_HAS_CUDA)
        if (given.device == "cuda") throw CLI::ValidationError("--device", "this build has no CUDA");
#endif
    };
    return examples::run_program(app, "run_memgraph", given.memgraph, parse, [&] { return run(given); });
}
