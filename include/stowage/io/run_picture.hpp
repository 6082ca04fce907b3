#pragma once
// A run of a memgraph beside its picture: for each device the picture of io/memgraph_picture.hpp, in the
// order in which the run began its vertices, and what the device's lanes did when. io/html.hpp draws it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <stowage/exec/report.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/io/memgraph_picture.hpp>
#include <stowage/io/picture.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::io {

namespace detail {

/// "reload conv1.weight", "conv1": what a vertex is called where a run is shown.
template <class = void>
[[nodiscard]] std::string vertex_name(const tensor_graph& program, const turnip::memgraph& graph,
                                      turnip::vertex_index v) {
    const turnip::vertex& at = graph.vertices[v];
    const bool moves = at.kind != turnip::vertex_kind::op;
    const subject what = moves ? program.describe_buffer(graph.moved(v)) : program.describe_operator(at.op);
    const std::string name = what.name.empty() ? what.text(moves ? "buffer" : "operator") : what.name;
    return moves ? std::string(turnip::to_string(at.kind)) + " " + name : name;
}

}  // namespace detail

/// One picture a device, in the order of their indices, of a run of a right memgraph of `program` that kept a
/// trace (run_options::trace); vertices that did not run come last. Status, levels and figures are left to
/// the caller, but for those of the run. O(n log n).
template <class = void>
[[nodiscard]] std::vector<picture> make_run_pictures(const tensor_graph& program,
                                                     const turnip::memgraph& graph, const std::string& title,
                                                     const exec::run_report& report) {
    std::vector<std::int64_t> began(graph.vertices.size(), std::numeric_limits<std::int64_t>::max());
    for (const exec::trace_entry& entry : report.trace)
        began[entry.vertex] = std::min(began[entry.vertex], entry.started);
    std::vector<picture_lane> lanes(report.lanes.size());
    for (std::size_t l = 0; l < lanes.size(); ++l) {
        const exec::lane_report& from = report.lanes[l];
        lanes[l].name = from.name;
        lanes[l].busy = from.busy.count();
        lanes[l].bytes = from.bytes;
        for (std::size_t cause = 0; cause < exec::idle_cause_count; ++cause) {
            lanes[l].idle.emplace_back(exec::to_string(static_cast<exec::idle_cause>(cause)),
                                       from.idle[cause].count());
        }
    }
    for (const exec::trace_entry& entry : report.trace) {
        const turnip::vertex& at = graph.vertices[entry.vertex];
        const bool moves = at.kind != turnip::vertex_kind::op;
        lanes[entry.lane].bars.push_back(
            {detail::vertex_name(program, graph, entry.vertex), std::string(turnip::to_string(at.kind)),
             entry.started, entry.finished, moves ? program.bytes(graph.moved(entry.vertex)) : 0});
    }
    std::vector<picture> pictures =
        detail::paint_devices(program, graph, title, [&](turnip::vertex_index v) { return began[v]; });
    for (std::size_t l = 0; l < lanes.size(); ++l) {
        picture_lane& lane = lanes[l];
        std::stable_sort(lane.bars.begin(), lane.bars.end(),
                         [](const picture_bar& a, const picture_bar& b) { return a.begin < b.begin; });
        picture& shown = pictures[report.lanes[l].device];
        shown.makespan = report.makespan.count();
        shown.lanes.push_back(std::move(lane));
    }
    return pictures;
}

}  // namespace stowage::io
