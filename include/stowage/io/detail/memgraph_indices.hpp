#pragma once
// What the reader of memgraphs can say only when the whole file is read: that the devices and vertices that
// it names exist.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::io::detail {

/// Throws parse_error naming the first place that names a device or a vertex that does not exist.
/// O(memgraph).
template <class = void>
void check_memgraph_indices(const turnip::memgraph& graph, const std::string& source) {
    const auto at = [](const char* key, std::size_t i) { return key + ("[" + std::to_string(i)) + "]"; };
    const auto fail = [&](const char* what, std::size_t named, std::size_t count, std::string key) {
        throw parse_error("there is no " + std::string(what) + " " + std::to_string(named) + ", only " +
                              std::to_string(count),
                          source, 0, 0, std::move(key));
    };
    const std::size_t devices = graph.arena_bytes.size();
    for (turnip::vertex_index v = 0; v < graph.vertices.size(); ++v) {
        const std::uint32_t device = graph.vertices[v].device;
        if (device >= devices) fail("device", device, devices, at("vertices", v));
        for (const turnip::operand& read : graph.reads(v)) {
            if (read.device >= devices) fail("device", read.device, devices, at("vertices", v) + "[3]");
        }
    }
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        for (const turnip::vertex_index v : {graph.edges[e].from, graph.edges[e].to}) {
            if (v >= graph.vertices.size()) fail("vertex", v, graph.vertices.size(), at("edges", e));
        }
    }
    const auto places = [&](const std::vector<turnip::residence>& list, const char* key) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].memory != turnip::host && list[i].memory >= devices) {
                fail("device", list[i].memory, devices, at(key, i));
            }
        }
    };
    places(graph.start, "residence");
    places(graph.final, "final");
}

}  // namespace stowage::io::detail
