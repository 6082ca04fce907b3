#pragma once
// A run as a trace that Chrome (chrome://tracing) and Perfetto show: one process a device, one row a lane,
// one box a unit of work. Source: the Trace Event Format, "complete" events, times in microseconds.

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include <stowage/exec/report.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/atomic_file.hpp>
#include <stowage/io/run_picture.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::io {

/// The trace that `report` holds (run_options::trace), of a run of `graph`, as the text of a JSON file, an
/// event a line. O(units of work).
template <class Json = nlohmann::ordered_json>
[[nodiscard]] std::string run_trace_text(const tensor_graph& program, const turnip::memgraph& graph,
                                         const exec::run_report& report) {
    std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
    const auto event = [&](const Json& value) {
        text += text.back() == '[' ? "\n" : ",\n";
        text += value.dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    for (std::size_t l = 0; l < report.lanes.size(); ++l) {
        const std::size_t device = report.lanes[l].device;
        event({{"ph", "M"},
               {"name", "process_name"},
               {"pid", device},
               {"args", {{"name", "device " + std::to_string(device)}}}});
        event({{"ph", "M"},
               {"name", "thread_name"},
               {"pid", device},
               {"tid", l},
               {"args", {{"name", report.lanes[l].name}}}});
    }
    for (const exec::trace_entry& entry : report.trace) {
        const turnip::vertex& at = graph.vertices[entry.vertex];
        event({{"ph", "X"},
               {"name", detail::vertex_name(program, graph, entry.vertex)},
               {"cat", turnip::to_string(at.kind)},
               {"pid", report.lanes[entry.lane].device},
               {"tid", entry.lane},
               {"ts", static_cast<double>(entry.started) / 1e3},
               {"dur", static_cast<double>(entry.finished - entry.started) / 1e3},
               {"args", {{"vertex", entry.vertex}}}});
    }
    return text + "\n]}\n";
}

/// Writes the trace's file, whole or not at all; "-" is standard output. Throws file_error. O(units of work).
template <class = void>
void write_run_trace(const std::filesystem::path& path, const tensor_graph& program,
                     const turnip::memgraph& graph, const exec::run_report& report) {
    write_file(path, run_trace_text(program, graph, report));
}

}  // namespace stowage::io
