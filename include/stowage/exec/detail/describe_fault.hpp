#pragma once
// Makes the facts of a fault: what and where.

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <stowage/exec/detail/schedule.hpp>
#include <stowage/exec/fault.hpp>

namespace stowage::exec::detail {

/// What an exception says.
template <class = void>
[[nodiscard]] std::string message_of(const std::exception_ptr& exception) {
    if (!exception) return "the kernel threw";
    try {
        std::rethrow_exception(exception);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "the kernel threw what is no std::exception";
    }
}

/// A fault of vertex `v` in `lane`, without its message. `under_way` is ascending.
template <class = void>
[[nodiscard]] fault describe_fault(fault_kind kind, const lane_description& lane, lane_index index,
                                   vertex_index v, const tensor_graph& program, const turnip::memgraph& graph,
                                   std::vector<vertex_index> under_way) {
    fault what;
    const turnip::vertex& at = graph.vertices[v];
    what.kind = kind;
    what.device = lane.device;
    what.lane = index;
    what.lane_name = lane.name;
    what.vertex = v;
    what.vertex_kind = at.kind;
    what.bytes = bytes_of(program, graph, v);
    if (at.kind == turnip::vertex_kind::op)
        what.op = program.describe_operator(at.op);
    else
        what.buffer = program.describe_buffer(graph.moved(v));
    what.in_flight = std::move(under_way);
    const auto place = std::lower_bound(what.in_flight.begin(), what.in_flight.end(), v);
    if (place == what.in_flight.end() || *place != v) what.in_flight.insert(place, v);
    return what;
}

}  // namespace stowage::exec::detail
