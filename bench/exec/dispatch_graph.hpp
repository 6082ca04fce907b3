#pragma once
// The graph on which every runtime's cost a vertex is measured: 100,000 vertices without work, each after up
// to three of the 64 before it, spread over lanes. Taken as the vertices come, and as a memgraph.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace bench {

inline constexpr std::uint32_t dispatch_vertices = 100'000;

struct dispatch_graph {
    std::uint32_t vertices = 0;
    std::vector<std::uint32_t> successor_begin;
    std::vector<std::uint32_t> successors;
    std::vector<std::uint32_t> predecessor_begin;
    std::vector<std::uint32_t> predecessors;
    std::vector<std::uint32_t> indegree;
};

inline dispatch_graph make_dispatch_graph(std::uint32_t vertices = dispatch_vertices) {
    dispatch_graph g;
    g.vertices = vertices;
    stowage::detail::splitmix64 random(20261130);
    std::vector<std::vector<std::uint32_t>> after(vertices);
    g.predecessor_begin.push_back(0);
    for (std::uint32_t v = 0; v < vertices; ++v) {
        for (int k = 0; k < 3 && v > 0; ++k) {
            const auto distance = static_cast<std::uint32_t>(random.below(v < 64 ? v : 64)) + 1;
            const std::uint32_t from = v - distance;
            bool twice = false;
            for (std::size_t i = g.predecessor_begin.back(); i < g.predecessors.size(); ++i)
                twice = twice || g.predecessors[i] == from;
            if (twice) continue;
            g.predecessors.push_back(from);
            after[from].push_back(v);
        }
        g.indegree.push_back(static_cast<std::uint32_t>(g.predecessors.size()) - g.predecessor_begin.back());
        g.predecessor_begin.push_back(static_cast<std::uint32_t>(g.predecessors.size()));
    }
    g.successor_begin.push_back(0);
    for (const auto& row : after) {
        g.successors.insert(g.successors.end(), row.begin(), row.end());
        g.successor_begin.push_back(static_cast<std::uint32_t>(g.successors.size()));
    }
    return g;
}

/// The same as a program of operators without operands and its memgraph, one lane a device.
struct dispatch_memgraph {
    stowage::tensor_graph program;
    stowage::turnip::memgraph graph;
    explicit dispatch_memgraph(const dispatch_graph& g, std::uint32_t lanes) {
        stowage::program source;
        for (std::uint32_t v = 0; v < g.vertices; ++v)
            source.add_operator({.device = v % lanes});
        program = stowage::make_tensor_graph(source);
        graph.arena_bytes.assign(lanes, 0);
        for (std::uint32_t v = 0; v < g.vertices; ++v) {
            graph.add({.op = v, .device = v % lanes}, {}, {});
            for (std::uint32_t i = g.predecessor_begin[v]; i < g.predecessor_begin[v + 1]; ++i)
                graph.edges.push_back({g.predecessors[i], v, stowage::turnip::edge_kind::control});
        }
    }
};

}  // namespace bench
