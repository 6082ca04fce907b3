#pragma once
// Runs a memgraph byte by byte in a random legal order, on tiny arenas: says whether every operator read what
// the program gives it, and whether everything ended where it must. Knows nothing of verify.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::test {

/// True if a run in the legal order drawn from `seed` is right. The memgraph has no cycle and its addresses
/// are inside its arenas.
inline bool runs_right(const tensor_graph& program, const turnip::memgraph& graph, std::uint64_t seed) {
    using cell = std::pair<std::uint32_t, std::uint32_t>;  // buffer and version
    const cell nothing{~0U, 0};
    std::vector<std::vector<cell>> memory;
    for (const std::int64_t bytes : graph.arena_bytes)
        memory.emplace_back(static_cast<std::size_t>(bytes), nothing);
    memory.emplace_back(static_cast<std::size_t>(graph.host_bytes), nothing);
    const std::size_t host = graph.arena_bytes.size();
    const auto space = [&](turnip::memory_index m) { return m == turnip::host ? host : std::size_t{m}; };
    const auto fill = [&](std::size_t s, std::int64_t at, std::int64_t bytes, cell value) {
        for (std::int64_t i = 0; i < bytes; ++i)
            memory[s][static_cast<std::size_t>(at + i)] = value;
    };
    const auto is = [&](std::size_t s, std::int64_t at, std::int64_t bytes, cell value) {
        for (std::int64_t i = 0; i < bytes; ++i) {
            if (memory[s][static_cast<std::size_t>(at + i)] != value) return false;
        }
        return true;
    };
    std::vector<std::uint32_t> version(program.buffer_count(), 0);
    std::vector<std::map<buffer_index, std::uint32_t>> before(program.operator_count());
    for (operator_index op = 0; op < program.operator_count(); ++op) {
        for (const buffer_index b : program.accesses(op))
            before[op][b] = version[b];
        const auto writes = program.writes(op);
        for (const buffer_index b : std::set<buffer_index>(writes.begin(), writes.end()))
            ++version[b];
    }
    for (const turnip::residence& r : graph.start)
        fill(space(r.memory), r.address, program.bytes(r.buffer), {r.buffer, 0});

    const std::size_t count = graph.vertices.size();
    std::vector<std::uint32_t> left(count, 0);
    std::vector<std::vector<std::uint32_t>> next(count);
    for (const turnip::edge& e : graph.edges) {
        ++left[e.to];
        next[e.from].push_back(e.to);
    }
    std::vector<std::uint32_t> ready;
    for (std::uint32_t v = 0; v < count; ++v) {
        if (left[v] == 0) ready.push_back(v);
    }
    detail::splitmix64 random(seed * 13 + 1);
    while (!ready.empty()) {
        const std::size_t pick = random.below(ready.size());
        const std::uint32_t v = ready[pick];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
        const turnip::vertex& at = graph.vertices[v];
        if (at.kind == turnip::vertex_kind::op) {
            for (const turnip::operand& o : graph.reads(v)) {
                if (!is(o.device, o.address, program.bytes(o.buffer), {o.buffer, before[at.op][o.buffer]}))
                    return false;
            }
            if (program.workspace(at.op) > 0)
                fill(at.device, at.workspace_address, program.workspace(at.op), nothing);
            for (const turnip::operand& o : graph.writes(v))
                fill(o.device, o.address, program.bytes(o.buffer), {o.buffer, before[at.op][o.buffer] + 1});
        } else {
            const buffer_index b = graph.moved(v);
            const bool reload = at.kind == turnip::vertex_kind::reload;
            const bool offload = at.kind == turnip::vertex_kind::offload;
            const std::size_t from = reload ? host : graph.reads(v).front().device;
            const std::size_t to = offload ? host : at.device;
            const std::int64_t source = reload ? at.host_address : graph.reads(v).front().address;
            const std::int64_t target = offload ? at.host_address : graph.writes(v).front().address;
            for (std::int64_t i = 0; i < program.bytes(b); ++i) {
                memory[to][static_cast<std::size_t>(target + i)] =
                    memory[from][static_cast<std::size_t>(source + i)];
            }
        }
        for (const std::uint32_t w : next[v]) {
            if (--left[w] == 0) ready.push_back(w);
        }
    }
    for (const turnip::residence& r : graph.final) {
        if (!is(space(r.memory), r.address, program.bytes(r.buffer), {r.buffer, version[r.buffer]}))
            return false;
    }
    return true;
}

}  // namespace stowage::test
