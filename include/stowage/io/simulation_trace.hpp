#pragma once
// A simulated run as a trace that Chrome (chrome://tracing) and Perfetto show: one process a device, one row
// a lane, one box a vertex. Source: the Trace Event Format, "complete" events, times in microseconds.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/atomic_file.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/simulation.hpp>

namespace stowage::io {

/// The trace of `run`, a run of `graph`, as the text of a JSON file, an event a line. O(vertices).
template <class Json = nlohmann::ordered_json>
[[nodiscard]] std::string trace_text(const tensor_graph& program, const turnip::memgraph& graph,
                                     const turnip::simulation& run) {
    const auto dump = [](const Json& value) {
        return value.dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
    const auto event = [&](const Json& value) { text += (text.back() == '[' ? "\n" : ",\n") + dump(value); };
    for (std::size_t d = 0; d < run.devices.size(); ++d) {
        event({{"ph", "M"},
               {"name", "process_name"},
               {"pid", d},
               {"args", {{"name", "device " + std::to_string(d)}}}});
    }
    for (std::size_t l = 0; l < run.lanes.size(); ++l) {
        const turnip::lane& lane = run.lanes[l];
        std::string name(turnip::to_string(lane.kind));
        if (lane.kind == turnip::lane_kind::compute) name += " " + std::to_string(lane.index);
        if (lane.kind == turnip::lane_kind::transfer) name += " from device " + std::to_string(lane.index);
        event({{"ph", "M"},
               {"name", "thread_name"},
               {"pid", lane.device},
               {"tid", l},
               {"args", {{"name", name}}}});
    }
    for (turnip::vertex_index v = 0; v < run.runs.size(); ++v) {
        const turnip::vertex& at = graph.vertices[v];
        const turnip::vertex_run& times = run.runs[v];
        const bool moves = at.kind != turnip::vertex_kind::op;
        const subject what =
            moves ? program.describe_buffer(graph.moved(v)) : program.describe_operator(at.op);
        Json details = {{"vertex", v}, {"ready_us", times.ready * 1e6}};
        if (moves)
            details["bytes"] = program.bytes(graph.moved(v));
        else
            details["operator"] = at.op;
        event({{"ph", "X"},
               {"name", (moves ? std::string(turnip::to_string(at.kind)) + " " : std::string()) +
                            (what.name.empty() ? what.text(moves ? "buffer" : "operator") : what.name)},
               {"cat", turnip::to_string(at.kind)},
               {"pid", run.lanes[times.lane].device},
               {"tid", times.lane},
               {"ts", times.begin * 1e6},
               {"dur", (times.end - times.begin) * 1e6},
               {"args", details}});
    }
    return text + "\n]}\n";
}

/// Writes the trace's file, whole or not at all; "-" is standard output. Throws file_error. O(vertices).
template <class = void>
void write_trace(const std::filesystem::path& path, const tensor_graph& program,
                 const turnip::memgraph& graph, const turnip::simulation& run) {
    write_file(path, trace_text(program, graph, run));
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template std::string trace_text(const tensor_graph&, const turnip::memgraph&,
                                                  const turnip::simulation&);
#endif

}  // namespace stowage::io
