#pragma once
// What the dispatcher needs to know of a memgraph, as rows of 32-bit numbers: who waits for whom, which
// group of lanes runs what, and the bytes of every copy. Made once, before the first run; it refuses what
// cannot be run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/exec/fault.hpp>
#include <stowage/exec/lane.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::exec::detail {

using turnip::vertex_index;

/// Lanes that take from one queue: the compute lanes of a device, or a single copy lane.
struct lane_group {
    lane_index first_lane = 0;
    std::uint32_t lanes = 1;
    std::uint32_t first_slot = 0;  // of its queue in the dispatcher's arrays
    std::uint32_t slots = 0;       // vertices that go through it
};

/// The static part of an executor, 4-byte rows by vertex.
struct schedule {
    std::uint32_t vertices = 0;
    std::vector<std::uint16_t> group;            // by vertex
    std::vector<std::uint32_t> indegree;         // by vertex
    std::vector<std::uint32_t> successor_begin;  // by vertex, and one more
    std::vector<vertex_index> successors;
    std::vector<std::uint32_t> predecessor_begin;  // only where a window needs it
    std::vector<vertex_index> predecessors;
    std::vector<vertex_index> order;  // a legal one
    std::vector<lane_group> groups;
    std::vector<lane_description> lanes;

    /// Leaves of the order only the vertices that wait for nothing, and drops what a dispatcher keeps itself.
    void keep_sources() {
        std::size_t sources = 0;
        while (sources < order.size() && indegree[order[sources]] == 0)
            ++sources;
        order.resize(sources);
        order.shrink_to_fit();
        group = {};
    }
    /// Of one vertex.
    [[nodiscard]] std::uint32_t most_successors() const noexcept {
        std::uint32_t most = 0;
        for (vertex_index v = 0; v < vertices; ++v)
            most = std::max(most, successor_begin[v + 1] - successor_begin[v]);
        return most;
    }
    [[nodiscard]] std::span<const vertex_index> after(vertex_index v) const noexcept {
        return {successors.data() + successor_begin[v], successors.data() + successor_begin[v + 1]};
    }
    [[nodiscard]] std::span<const vertex_index> before(vertex_index v) const noexcept {
        return {predecessors.data() + predecessor_begin[v], predecessors.data() + predecessor_begin[v + 1]};
    }
};

/// The bytes that vertex `v` touches in all.
template <class = void>
[[nodiscard]] std::int64_t bytes_of(const tensor_graph& program, const turnip::memgraph& graph,
                                    vertex_index v) {
    const turnip::vertex& at = graph.vertices[v];
    if (at.kind != turnip::vertex_kind::op) return program.bytes(graph.moved(v));
    std::int64_t bytes = program.workspace(at.op);
    for (const turnip::operand& o : graph.reads(v))
        bytes += program.bytes(o.buffer);
    for (const turnip::operand& o : graph.writes(v)) {
        const auto read = graph.reads(v);
        const bool both = std::any_of(read.begin(), read.end(),
                                      [&](const turnip::operand& r) { return r.buffer == o.buffer; });
        if (!both) bytes += program.bytes(o.buffer);
    }
    return bytes;
}

/// The copy that the move `v` makes.
template <class = void>
[[nodiscard]] copy_request copy_of(const tensor_graph& program, const turnip::memgraph& graph,
                                   vertex_index v) {
    const turnip::vertex& at = graph.vertices[v];
    copy_request copy;
    copy.bytes = program.bytes(graph.moved(v));
    if (at.kind == turnip::vertex_kind::reload) {
        copy.from_address = at.host_address;
    } else {
        copy.from = graph.reads(v).front().device;
        copy.from_address = graph.reads(v).front().address;
    }
    if (at.kind == turnip::vertex_kind::offload) {
        copy.to = turnip::host;
        copy.to_address = at.host_address;
    } else {
        copy.to = graph.writes(v).front().device;
        copy.to_address = graph.writes(v).front().address;
    }
    return copy;
}

/// Makes schedules. Throws memgraph_error for another program's memgraph, an operand or address out of
/// range and a cycle (naming its vertices), overflow_error if the bytes moved pass 2^63 - 1 in all.
/// O(V + E + operands).
template <class = void>
class basic_schedule_builder {
public:
    basic_schedule_builder(const tensor_graph& program, const turnip::memgraph& graph)
        : program_(program), graph_(graph) {}

    [[nodiscard]] schedule build(std::uint32_t compute_lanes, bool with_predecessors) {
        if (compute_lanes > 256) throw memgraph_error("a device can have at most 256 compute lanes");
        check_values();
        result_.vertices = static_cast<std::uint32_t>(graph_.vertices.size());
        make_lanes(compute_lanes);
        make_rows(result_.successor_begin, result_.successors, true);
        result_.indegree.assign(result_.vertices, 0);
        for (const turnip::edge& e : graph_.edges)
            ++result_.indegree[e.to];
        if (with_predecessors) make_rows(result_.predecessor_begin, result_.predecessors, false);
        sort_vertices();
        return std::move(result_);
    }

private:
    void check_values() const {
        if (graph_.fingerprint != 0 && graph_.fingerprint != program_.fingerprint())
            throw memgraph_error("the memgraph was made for another program");
        if (graph_.vertices.empty() && program_.operator_count() > 0)
            throw memgraph_error("the memgraph has no vertex: was the program compiled?");
        if (graph_.alignment < 1) throw memgraph_error("an alignment is at least 1");
        const auto is_negative = [](std::int64_t bytes) { return bytes < 0; };
        if (graph_.host_bytes < 0 ||
            std::any_of(graph_.arena_bytes.begin(), graph_.arena_bytes.end(), is_negative))
            throw memgraph_error("an arena has less than no bytes");
        const std::size_t count = graph_.vertices.size();
        if (count >= 0xffff'fff0U) throw memgraph_error("the memgraph has too many vertices");
        if (graph_.first_read.size() != count + 1 || graph_.first_write.size() != count)
            throw memgraph_error("the memgraph's operand rows do not match its vertices");
        for (const turnip::edge& e : graph_.edges) {
            if (e.from >= count || e.to >= count)
                throw memgraph_error("an edge names a vertex that does not exist", {e.from, e.to});
        }
        std::int64_t moved = 0;  // reports add such bytes up
        for (vertex_index v = 0; v < count; ++v) {
            check_vertex(v);
            if (graph_.vertices[v].kind == turnip::vertex_kind::op) continue;
            moved = stowage::detail::checked_add(moved, program_.bytes(graph_.moved(v)), "the bytes moved");
        }
        for (const auto* list : {&graph_.start, &graph_.final}) {
            for (const turnip::residence& r : *list)
                check_place(r.buffer, r.memory, r.address, 0);
        }
    }
    void check_vertex(vertex_index v) const {
        const turnip::vertex& at = graph_.vertices[v];
        if (at.device >= graph_.arena_bytes.size())
            throw memgraph_error("a vertex runs on a device that does not exist", {v});
        for (const auto& side : {graph_.reads(v), graph_.writes(v)}) {
            for (const turnip::operand& o : side)
                check_place(o.buffer, o.device, o.address, v);
        }
        const std::size_t reads = graph_.reads(v).size();
        const std::size_t writes = graph_.writes(v).size();
        switch (at.kind) {
            case turnip::vertex_kind::op:
                if (at.op >= program_.operator_count())
                    throw memgraph_error("there is no such operator", {v});
                if (program_.workspace(at.op) > 0)
                    check_range(at.workspace_address, program_.workspace(at.op), at.device, v);
                check_operands(v);
                return;
            case turnip::vertex_kind::offload:
                if (reads != 1 || writes != 0) throw memgraph_error("an offload reads one buffer", {v});
                check_place(graph_.moved(v), turnip::host, at.host_address, v);
                check_device(graph_.reads(v).front(), v);
                return;
            case turnip::vertex_kind::reload:
                if (reads != 0 || writes != 1) throw memgraph_error("a reload writes one buffer", {v});
                check_place(graph_.moved(v), turnip::host, at.host_address, v);
                check_device(graph_.writes(v).front(), v);
                return;
            case turnip::vertex_kind::transfer:
                if (reads != 1 || writes != 1 ||
                    graph_.reads(v).front().buffer != graph_.writes(v).front().buffer)
                    throw memgraph_error("a transfer moves one buffer", {v});
                check_device(graph_.writes(v).front(), v);
                return;
        }
    }
    void check_device(const turnip::operand& o, vertex_index v) const {
        if (o.device != graph_.vertices[v].device)
            throw memgraph_error("an operand is not on its vertex's device", {v});
    }
    /// A kernel gets the bytes of everything that its operator accesses.
    void check_operands(vertex_index v) const {
        for (const auto& side : {graph_.reads(v), graph_.writes(v)}) {
            for (const turnip::operand& o : side)
                check_device(o, v);
        }
        for (const buffer_index b : program_.accesses(graph_.vertices[v].op)) {
            const auto is_b = [b](const turnip::operand& o) { return o.buffer == b; };
            const auto reads = graph_.reads(v);
            const auto writes = graph_.writes(v);
            if (program_.bytes(b) > 0 && std::none_of(reads.begin(), reads.end(), is_b) &&
                std::none_of(writes.begin(), writes.end(), is_b))
                throw memgraph_error("an operator's buffer has no place", {v});
        }
    }
    void check_place(buffer_index buffer, turnip::memory_index memory, std::int64_t address,
                     vertex_index v) const {
        if (buffer >= program_.buffer_count()) throw memgraph_error("there is no such buffer", {v});
        if (memory != turnip::host && memory >= graph_.arena_bytes.size())
            throw memgraph_error("there is no such device", {v});
        if (program_.bytes(buffer) > 0) check_range(address, program_.bytes(buffer), memory, v);
    }
    void check_range(std::int64_t address, std::int64_t bytes, turnip::memory_index memory,
                     vertex_index v) const {
        const std::int64_t arena = memory == turnip::host ? graph_.host_bytes : graph_.arena_bytes[memory];
        if (address < 0 || address > arena || bytes > arena - address)
            throw memgraph_error("an operand is not inside its arena", {v});
    }

    void make_lanes(std::uint32_t compute_lanes) {
        const auto devices = static_cast<turnip::memory_index>(graph_.arena_bytes.size());
        for (turnip::memory_index d = 0; d < devices; ++d) {
            add_group(lane_kind::compute, d, d, std::max<std::uint32_t>(1, compute_lanes));
            add_group(lane_kind::reload, d, d, 1);
            add_group(lane_kind::offload, d, d, 1);
        }
        std::map<std::pair<turnip::memory_index, turnip::memory_index>, std::uint16_t> links;
        result_.group.resize(result_.vertices);
        for (vertex_index v = 0; v < result_.vertices; ++v) {
            const turnip::vertex& at = graph_.vertices[v];
            std::uint16_t group = static_cast<std::uint16_t>(3 * at.device);
            if (at.kind == turnip::vertex_kind::reload) group = static_cast<std::uint16_t>(group + 1);
            if (at.kind == turnip::vertex_kind::offload) group = static_cast<std::uint16_t>(group + 2);
            if (at.kind == turnip::vertex_kind::transfer) {
                const turnip::memory_index from = graph_.reads(v).front().device;
                const auto [link, added] = links.try_emplace({from, at.device}, std::uint16_t{0});
                if (added) {
                    link->second = static_cast<std::uint16_t>(result_.groups.size());
                    add_group(from == at.device ? lane_kind::move : lane_kind::peer, at.device, from, 1);
                }
                group = link->second;
            }
            result_.group[v] = group;
            ++result_.groups[group].slots;
        }
        std::uint32_t slot = 0;
        for (lane_group& group : result_.groups) {
            group.first_slot = slot;
            slot += group.slots;
        }
    }
    void add_group(lane_kind kind, turnip::memory_index device, turnip::memory_index source,
                   std::uint32_t lanes) {
        if (result_.groups.size() >= 0xfff0U) throw memgraph_error("the memgraph has too many lanes");
        result_.groups.push_back({static_cast<lane_index>(result_.lanes.size()), lanes, 0, 0});
        for (std::uint32_t i = 0; i < lanes; ++i) {
            std::string name = "d" + std::to_string(device) + "." + std::string(to_string(kind));
            if (kind == lane_kind::peer) name += ".d" + std::to_string(source);
            if (i > 0) name += "." + std::to_string(i);
            result_.lanes.push_back({kind, device, source, i, std::move(name)});
        }
    }

    void make_rows(std::vector<std::uint32_t>& begin, std::vector<vertex_index>& values, bool forward) const {
        begin.assign(graph_.vertices.size() + 1, 0);
        values.resize(graph_.edges.size());
        for (const turnip::edge& e : graph_.edges)
            ++begin[(forward ? e.from : e.to) + 1];
        for (std::size_t v = 0; v < graph_.vertices.size(); ++v)
            begin[v + 1] += begin[v];
        std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
        for (const turnip::edge& e : graph_.edges)
            values[next[forward ? e.from : e.to]++] = forward ? e.to : e.from;
    }

    void sort_vertices() {
        std::vector<std::uint32_t> left = result_.indegree;
        result_.order.reserve(left.size());
        for (vertex_index v = 0; v < result_.vertices; ++v) {
            if (left[v] == 0) result_.order.push_back(v);
        }
        for (std::size_t i = 0; i < result_.order.size(); ++i) {
            for (const vertex_index next : result_.after(result_.order[i])) {
                if (--left[next] == 0) result_.order.push_back(next);
            }
        }
        if (result_.order.size() != result_.vertices)
            throw memgraph_error("the memgraph has a cycle", cycle(left));
    }
    /// Whoever is left waits for somebody who is left: going back from one leads round a cycle.
    [[nodiscard]] std::vector<vertex_index> cycle(const std::vector<std::uint32_t>& left) const {
        std::vector<vertex_index> waits_for(left.size(), result_.vertices);
        vertex_index at = 0;
        for (const turnip::edge& e : graph_.edges) {
            if (left[e.from] == 0 || left[e.to] == 0) continue;
            waits_for[e.to] = e.from;
            at = e.to;
        }
        std::vector<std::uint8_t> seen(left.size(), 0);
        while (seen[at] == 0) {
            seen[at] = 1;
            at = waits_for[at];
        }
        std::vector<vertex_index> result;
        for (vertex_index v = at; result.empty() || v != at; v = waits_for[v])
            result.push_back(v);
        std::reverse(result.begin(), result.end());
        return result;
    }

    const tensor_graph& program_;
    const turnip::memgraph& graph_;
    schedule result_;
};
using schedule_builder = basic_schedule_builder<>;

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_schedule_builder<>;
#endif

}  // namespace stowage::exec::detail
