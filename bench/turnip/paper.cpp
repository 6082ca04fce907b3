// The experiments of Turnip's paper (arXiv 2405.16283) in virtual time, as Markdown on standard output: a
// fixed order against an open one under jitter, sweeps over memory against other ways to compile and to run,
// priorities, and how long compilation takes by size. Arguments, both optional: a folder for the plots, and
// one part alone (compile, order, priorities, memory).
// No Google Benchmark inside: what is measured is mostly virtual time, and the table is the result.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <stowage/io/access_list.hpp>
#include <stowage/io/atomic_file.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/fastest_order.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/turnip/simulate.hpp>
#include <stowage/verify/memgraph.hpp>

#include "../../examples/llama_programs.hpp"
#include "order/programs.hpp"

namespace {

using namespace stowage;

struct subject_program {
    std::string name;
    turnip::taskgraph tasks;
    turnip::machine machine;
    std::int64_t everything = 0;  // bytes that everything kept needs, of each device
    std::int64_t least = 0;       // bytes of the largest operator

    /// A capacity of each device.
    [[nodiscard]] std::int64_t capacity(double share) const {
        return std::max(least, static_cast<std::int64_t>(share * static_cast<double>(everything)));
    }
    [[nodiscard]] turnip::compile_options options(std::int64_t bytes) const {
        turnip::compile_options made;
        made.devices.assign(tasks.devices, {.capacity = bytes});
        made.machine = machine;
        return made;
    }
};

[[nodiscard]] subject_program prepared(std::string name, tensor_graph graph, double flops_per_second,
                                       std::uint32_t devices = 1) {
    subject_program made;
    made.name = std::move(name);
    made.machine.flops_per_second = flops_per_second;
    const std::vector<std::int64_t> live = live_bytes(graph, program_order(graph));
    made.everything = *std::max_element(live.begin(), live.end());
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (is_persistent(graph.kind(b)) && !graph.users(b).empty()) made.everything += graph.bytes(b);
    }
    for (operator_index op = 0; op < graph.operator_count(); ++op)
        made.least = std::max(made.least, turnip::detail::bytes_side_by_side(graph, op, 1));
    made.everything /= devices;
    made.tasks = turnip::make_taskgraph(std::move(graph), {.devices = devices});
    return made;
}

[[nodiscard]] std::vector<subject_program> programs() {
    std::vector<subject_program> list;
    const auto llama = [&](const examples::llama_shape& shape, std::int64_t sequence,
                           std::uint32_t devices = 1, std::int64_t sequences = 1) {
        const examples::llama_run run{
            .sequence = sequence, .batch = sequences, .streams = sequences, .devices = devices};
        list.push_back(prepared(
            shape.name + " prefill " + (sequences > 1 ? std::to_string(sequences) + " x " : "") +
                std::to_string(sequence) + (devices > 1 ? ", " + std::to_string(devices) + " devices" : ""),
            make_tensor_graph(examples::llama_prefill(shape, run).program), 1e14, devices));
    };
    llama(examples::llama_7b(), 2048);
    llama(examples::llama_7b(), 16'384);
    llama(examples::llama_65b(), 4096);
    llama(examples::llama_7b(), 4096, 2);
    llama(examples::llama_65b(), 4096, 4);
    llama(examples::llama_7b(), 1024, 1, 4);
    llama(examples::llama_7b(), 1024, 2, 4);
    llama(examples::llama_65b(), 1024, 4, 4);
    list.push_back(prepared(
        "llama-7b LoRA 2048",
        make_tensor_graph(examples::llama_lora_step(examples::llama_7b(), {.sequence = 2048}).program),
        1e14));
    for (const char* name : {"llama-7b-prefill-b1", "llama-7b-lora-b1", "gpt2-xl-b1", "bert-b32",
                             "vit_b_16-b32", "resnet50-b32", "xla-gpt2-donate-mem"}) {
        const double speed = std::string(name).find("llama") == 0 ? 1e14 : 2e13;
        list.push_back(prepared(
            name, io::read_access_list(std::string(STOWAGE_EXAMPLE_DATA) + "/" + name + ".json.gz").graph,
            speed));
    }
    return list;
}

enum class how { residency_bytes, residency_time, horizon };

/// Compiled and verified; a memgraph that is wrong ends the run.
[[nodiscard]] turnip::compiled compiled(const subject_program& p, std::int64_t capacity, how policy) {
    turnip::compile_options options = p.options(capacity);
    options.goal = policy == how::residency_time ? turnip::goal::time : turnip::goal::bytes;
    turnip::compiled made = policy == how::horizon
                                ? turnip::compile(p.tasks, options, turnip::horizon{})
                                : turnip::compile(p.tasks, options, turnip::fastest_order{});
    if (made.ok()) {
        const auto verdict = verify::check_memgraph(p.tasks, made.memgraph,
                                                    {.capacities = std::vector(p.tasks.devices, capacity)});
        if (!verdict) throw std::logic_error(p.name + ": " + verdict.reason);
    }
    return made;
}

[[nodiscard]] std::string number(double value, int digits = 3) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

void head(const std::vector<std::string>& titles) {
    std::string line = "|";
    std::string rule = "|";
    for (std::size_t i = 0; i < titles.size(); ++i) {
        line += " " + titles[i] + " |";
        rule += i == 0 ? "---|" : "---:|";
    }
    std::cout << line << "\n" << rule << "\n";
}
void cells(const std::vector<std::string>& texts) {
    std::string line = "|";
    for (const std::string& text : texts)
        line += " " + text + " |";
    std::cout << line << std::endl;
}

/// Lines over memory, one a program: for the plots.
struct series {
    std::string label;
    std::vector<std::pair<double, double>> points;  // percent of memory, ratio
};

[[nodiscard]] std::string plot(const std::string& title, const std::vector<series>& lines) {
    static constexpr const char* colours[] = {"#1f5fbf", "#e15759", "#59a14f", "#f28e2b",
                                              "#b07aa1", "#76b7b2", "#9c755f", "#edc948",
                                              "#9aa0a6", "#d37295", "#4e79a7"};
    double most = 1.2;
    for (const series& s : lines) {
        for (const auto& [memory, ratio] : s.points)
            most = std::max(most, ratio);
    }
    most = std::min(most, 6.0);
    const auto x_of = [](double memory) { return 60 + 6.4 * (100 - memory); };
    const auto y_of = [&](double ratio) { return 330 - 270 * (std::min(ratio, most) - 0.8) / (most - 0.8); };
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"940\" height=\"380\" "
        "font-family=\"system-ui,sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#fff\"/>\n<text x=\"60\" y=\"24\" font-size=\"14\">" +
        title + "</text>\n";
    for (double tick = 1; tick <= most; tick += most > 3 ? 1 : 0.25) {
        out += "<line x1=\"60\" x2=\"700\" y1=\"" + number(y_of(tick), 1) + "\" y2=\"" +
               number(y_of(tick), 1) + "\" stroke=\"" + (tick == 1 ? "#222" : "#e5e7eb") +
               "\"/><text x=\"52\" y=\"" + number(y_of(tick) + 4, 1) + "\" text-anchor=\"end\">" +
               number(tick, 2) + "</text>\n";
    }
    for (int memory = 100; memory >= 0; memory -= 20) {
        out += "<text x=\"" + number(x_of(memory), 1) + "\" y=\"350\" text-anchor=\"middle\">" +
               std::to_string(memory) + " %</text>\n";
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string colour = colours[i % std::size(colours)];
        std::string points;
        for (const auto& [memory, ratio] : lines[i].points)
            points += number(x_of(memory), 1) + "," + number(y_of(ratio), 1) + " ";
        out += "<polyline fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.8\" points=\"" + points +
               "\"/>\n<rect x=\"712\" y=\"" + std::to_string(52 + 18 * i) +
               "\" width=\"10\" height=\"10\" fill=\"" + colour + "\"/><text x=\"727\" y=\"" +
               std::to_string(61 + 18 * i) + "\">" + lines[i].label + "</text>\n";
    }
    return out + "</svg>\n";
}

/// Mean over seeds of a run's makespan, and of what its operators waited for.
struct mean_run {
    double makespan = 0;
    double data = 0;
    double memory = 0;
    double lane = 0;
};

[[nodiscard]] mean_run mean(const subject_program& p, const turnip::memgraph& graph, double jitter,
                            turnip::schedule schedule, turnip::priority priority) {
    constexpr std::uint64_t seeds = 5;
    turnip::machine m = p.machine;
    m.jitter = jitter;
    mean_run sum;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const turnip::simulation run = turnip::simulate(
            p.tasks.program, graph, m, {.schedule = schedule, .priority = priority, .seed = seed});
        sum.makespan += run.makespan / seeds;
        const auto each = static_cast<double>(seeds * run.devices.size());
        for (const turnip::device_use& use : run.devices) {
            sum.data += use.waiting_for_data / each;
            sum.memory += use.waiting_for_memory / each;
            sum.lane += use.waiting_for_lane / each;
        }
    }
    return sum;
}

/// Fixed against open order under jitter, on the same memgraph.
void ablation(const std::vector<subject_program>& list) {
    std::cout
        << "\n## Fixed against open order under jitter\n\nSeconds of virtual time, means of five seeds; each "
           "time is multiplied by a random factor from 1 - jitter to 1 + jitter. Both columns run the same "
           "memgraph with the same times: `open` starts whatever is ready (by need), `fixed` runs the "
           "operators "
           "in the order of compilation, copies still as they can. The last columns say for what the "
           "operators "
           "wait in the open run; the very last one is `fixed / open` of the paper's own plan (horizon).\n\n";
    head({"program", "memory", "jitter", "open", "fixed", "fixed / open", "data", "memory", "lane",
          "horizon's"});
    for (const subject_program& p : list) {
        for (const double share : {0.5, 0.3}) {
            const std::int64_t capacity = p.capacity(share);
            const turnip::compiled made = compiled(p, capacity, how::residency_time);
            const turnip::compiled paper = compiled(p, capacity, how::horizon);
            if (!made.ok() || !paper.ok()) continue;
            const auto ratio_of_paper = [&](double jitter) {
                const auto seconds = [&](turnip::schedule schedule) {
                    return mean(p, paper.memgraph, jitter, schedule, turnip::priority::need).makespan;
                };
                return seconds(turnip::schedule::fixed_order) / seconds(turnip::schedule::event_driven);
            };
            for (const double jitter : {0.0, 0.3, 0.6}) {
                const mean_run open =
                    mean(p, made.memgraph, jitter, turnip::schedule::event_driven, turnip::priority::need);
                const mean_run fixed =
                    mean(p, made.memgraph, jitter, turnip::schedule::fixed_order, turnip::priority::need);
                cells({p.name,
                       number(100.0 * static_cast<double>(capacity) / static_cast<double>(p.everything), 0) +
                           " %",
                       number(jitter, 1), number(open.makespan), number(fixed.makespan),
                       number(fixed.makespan / open.makespan), number(open.data), number(open.memory),
                       number(open.lane), number(ratio_of_paper(jitter))});
            }
        }
    }
}

/// Bytes and time by memory.
void sweep(const std::vector<subject_program>& list, const std::string& folder) {
    std::cout
        << "\n## Memory\n\nMemory in percent of what everything kept needs; the last row of a program is its "
           "least "
           "feasible capacity. Bytes moved (GB, both ways) against the proven bound; virtual seconds without "
           "jitter: residency for least time (in the order that fastest_order chose), for least bytes, the "
           "paper's horizon, and residency's memgraph "
           "one "
           "thing after the other (synchronous). `bound s` is the proven bound on the time of runs in any "
           "order. `fixed / in order`: the same memgraph with its operators in the order of compilation, "
           "against the proven bound for runs in that order.\n\n";
    head({"program", "memory", "bound GB", "residency", "horizon", "bound s", "time", "bytes", "horizon",
          "synchronous", "time / bound", "fixed / in order", "horizon / time"});
    std::vector<series> byte_lines;
    std::vector<series> time_lines;
    for (const subject_program& p : list) {
        byte_lines.push_back({p.name, {}});
        time_lines.push_back({p.name, {}});
        std::int64_t last = -1;
        for (const double share : {0.75, 0.5, 0.3, 0.0}) {
            const std::int64_t capacity = p.capacity(share);
            if (capacity == last) continue;
            last = capacity;
            const turnip::compiled bytes = compiled(p, capacity, how::residency_bytes);
            const turnip::compiled time = compiled(p, capacity, how::residency_time);
            const turnip::compiled horizon = compiled(p, capacity, how::horizon);
            if (!bytes.ok() || !time.ok() || !horizon.ok()) continue;
            const auto seconds = [&](const turnip::compiled& of, turnip::schedule schedule) {
                return turnip::simulate(p.tasks.program, of.memgraph, p.machine, {.schedule = schedule})
                    .makespan;
            };
            const double open = seconds(time, turnip::schedule::event_driven);
            const double paper = seconds(horizon, turnip::schedule::event_driven);
            const double memory = 100.0 * static_cast<double>(capacity) / static_cast<double>(p.everything);
            const auto gigabytes = [](std::int64_t count) {
                return number(static_cast<double>(count) / 1e9, 3);
            };
            const auto bound = static_cast<double>(std::max<std::int64_t>(1, bytes.bytes_moved_lower_bound));
            cells({p.name, number(memory, 0) + " %", gigabytes(bytes.bytes_moved_lower_bound),
                   gigabytes(bytes.bytes_moved), gigabytes(horizon.bytes_moved),
                   number(time.makespan_lower_bound), number(open),
                   number(seconds(bytes, turnip::schedule::event_driven)), number(paper),
                   number(seconds(time, turnip::schedule::synchronous)),
                   number(open / time.makespan_lower_bound),
                   number(seconds(time, turnip::schedule::fixed_order) / time.makespan_lower_bound_in_order),
                   number(paper / open)});
            byte_lines.back().points.emplace_back(memory, static_cast<double>(horizon.bytes_moved) / bound);
            time_lines.back().points.emplace_back(memory, paper / open);
        }
    }
    if (folder.empty()) return;
    io::write_file(folder + "/turnip-bytes.svg",
                   plot("The paper's horizon: bytes moved / proven bound, by memory", byte_lines));
    io::write_file(folder + "/turnip-time.svg",
                   plot("The paper's horizon: virtual time / residency's, by memory", time_lines));
}

void priorities(const std::vector<subject_program>& list) {
    std::cout << "\n## Priorities\n\nVirtual seconds at 50 % of memory, jitter 0.3, means of five seeds.\n\n";
    head({"program", "critical", "need", "fifo", "random"});
    for (const subject_program& p : list) {
        const turnip::compiled made = compiled(p, p.capacity(0.5), how::residency_time);
        if (!made.ok()) continue;
        std::vector<std::string> row = {p.name};
        for (const auto priority : {turnip::priority::critical, turnip::priority::need,
                                    turnip::priority::fifo, turnip::priority::random}) {
            row.push_back(
                number(mean(p, made.memgraph, 0.3, turnip::schedule::event_driven, priority).makespan));
        }
        cells(row);
    }
}

void compile_times() {
    std::cout << "\n## Compile time\n\nWall-clock seconds, synthetic training steps at 50 % of memory, least "
                 "bytes; `growth`: the power of the number of operators with which they grow.\n\n";
    head({"operators", "vertices", "residency", "growth", "moved / bound", "horizon", "verify", "simulate"});
    double last_operators = 0;
    double last_seconds = 0;
    for (const std::size_t operators : {1'000U, 10'000U, 100'000U}) {
        const subject_program p = prepared("training step", bench::training_step(operators), 2e13);
        const std::int64_t capacity = p.capacity(0.5);
        const turnip::compile_options options = p.options(capacity);
        const turnip::compiled made = turnip::compile(p.tasks, options);
        if (!made.ok()) throw std::logic_error("a training step did not compile: " + made.reason);
        const turnip::compiled horizon =
            operators > 10'000 ? turnip::compiled{} : turnip::compile(p.tasks, options, turnip::horizon{});
        const auto seconds = [](auto work) {
            const auto begin = std::chrono::steady_clock::now();
            work();
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        const double verifying = seconds([&] {
            const auto verdict = verify::check_memgraph(p.tasks, made.memgraph, {.capacities = {capacity}});
            if (!verdict) throw std::logic_error(verdict.reason);
        });
        const double simulating =
            seconds([&] { static_cast<void>(turnip::simulate(p.tasks.program, made.memgraph, p.machine)); });
        // Time grows as the number of operators to this power, from the row before.
        const auto count = static_cast<double>(p.tasks.program.operator_count());
        const double growth =
            last_seconds > 0 ? std::log(made.seconds / last_seconds) / std::log(count / last_operators) : 0;
        cells({std::to_string(p.tasks.program.operator_count()),
               std::to_string(made.memgraph.vertices.size()), number(made.seconds),
               last_seconds > 0 ? number(growth, 2) : "-",
               number(static_cast<double>(made.bytes_moved) /
                      static_cast<double>(std::max<std::int64_t>(1, made.bytes_moved_lower_bound))),
               horizon.ok() ? number(horizon.seconds) : "-", number(verifying), number(simulating)});
        last_operators = count;
        last_seconds = made.seconds;
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string folder = argc > 1 ? argv[1] : "";
        const std::string part = argc > 2 ? argv[2] : "";
        const auto wanted = [&](const char* name) { return part.empty() || part == name; };
        if (wanted("compile")) compile_times();
        if (part == "compile") return 0;
        const std::vector<subject_program> list = programs();
        if (wanted("order")) ablation(list);
        if (wanted("priorities")) priorities(list);
        if (wanted("memory")) sweep(list, folder);
    } catch (const std::exception& error) {
        std::cerr << "bench_turnip_paper: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
