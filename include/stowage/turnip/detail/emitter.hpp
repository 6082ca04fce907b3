#pragma once
// From operators and moves with addresses, in one total order, to a memgraph: every dependency follows from
// who touched the same bytes before, so that there is neither race nor cycle by construction.
//
// How to use it (any policy may): make one for the taskgraph's program; call begin_with for all that is
// there at the start; then call run, offload, reload and transfer in an order in which the plan is right when
// vertices run one after the other (a reload after what it overwrites was used, an offload after its
// contents were written, ...); call end_with for each buffer that must end somewhere; then take finish().
// Buffers without bytes may be left out of every list but an operator's own.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/byte_history.hpp>
#include <stowage/turnip/detail/implied_edges.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::turnip::detail {

/// Builds one memgraph. The program must outlive it; operators must be run in a legal order. All calls are
/// amortised O(operands x log of the arena's pieces) plus the dependencies that they find.
template <class = void>
class basic_emitter {
public:
    basic_emitter(const tensor_graph& program, std::uint32_t devices)
        : program_(program), arenas_(std::size_t{devices} + 1), empty_(program.buffer_count()) {
        graph_.arena_bytes.assign(devices, 0);
        graph_.fingerprint = program.fingerprint();
    }

    /// `buffer` lies at `address` of `memory` before the first vertex.
    void begin_with(buffer_index buffer, memory_index memory, std::int64_t address) {
        const std::int64_t bytes = program_.bytes(buffer);
        if (bytes == 0) return;
        grow(memory, address + bytes);
        history(memory).begin_with(address, address + bytes);
        graph_.start.push_back({buffer, memory, address});
    }
    /// `buffer` must lie at `address` of `memory` after the last vertex.
    void end_with(buffer_index buffer, memory_index memory, std::int64_t address) {
        const std::int64_t bytes = program_.bytes(buffer);
        if (bytes == 0) return;
        grow(memory, address + bytes);
        graph_.final.push_back({buffer, memory, address});
    }
    /// Operator `op` runs on `device`. `address_of(buffer)` says where each of its buffers with bytes is.
    template <class AddressOf>
    vertex_index run(operator_index op, memory_index device, AddressOf address_of,
                     std::int64_t workspace_address) {
        const auto v = static_cast<vertex_index>(graph_.vertices.size());
        wait_without_bytes(op, v);
        list(program_.reads(op), device, address_of, reads_);
        list(program_.writes(op), device, address_of, writes_);
        for (const operand& o : reads_) {
            if (o.address == no_address) {
                read_empty(o.buffer, v);
            } else {
                touch_read(device, o.buffer, o.address, v);
            }
        }
        const std::int64_t workspace = program_.workspace(op);
        if (workspace > 0) {
            grow(device, workspace_address + workspace);
            history(device).write(workspace_address, workspace_address + workspace, v,
                                  waits(edge_kind::memory));
        }
        for (const operand& o : writes_) {
            if (o.address == no_address) {
                write_empty(o.buffer, v);
            } else {
                touch_write(device, o.buffer, o.address, v);
            }
        }
        return add({.kind = vertex_kind::op,
                    .op = op,
                    .device = device,
                    .workspace_address = workspace > 0 ? workspace_address : no_address});
    }
    /// `buffer` is copied from `address` of `device` to `host_address`.
    vertex_index offload(buffer_index buffer, memory_index device, std::int64_t address,
                         std::int64_t host_address) {
        const auto v = static_cast<vertex_index>(graph_.vertices.size());
        reads_.assign(1, {buffer, device, address});
        writes_.clear();
        touch_read(device, buffer, address, v);
        touch_write(host, buffer, host_address, v);
        return add({.kind = vertex_kind::offload, .device = device, .host_address = host_address});
    }
    /// `buffer` is copied from `host_address` to `address` of `device`.
    vertex_index reload(buffer_index buffer, memory_index device, std::int64_t address,
                        std::int64_t host_address) {
        const auto v = static_cast<vertex_index>(graph_.vertices.size());
        reads_.clear();
        writes_.assign(1, {buffer, device, address});
        touch_read(host, buffer, host_address, v);
        touch_write(device, buffer, address, v);
        return add({.kind = vertex_kind::reload, .device = device, .host_address = host_address});
    }
    /// `buffer` is copied from one place to another, of two devices or of one; then they may not overlap.
    vertex_index transfer(buffer_index buffer, memory_index from_device, std::int64_t from,
                          memory_index to_device, std::int64_t to) {
        const auto v = static_cast<vertex_index>(graph_.vertices.size());
        reads_.assign(1, {buffer, from_device, from});
        writes_.assign(1, {buffer, to_device, to});
        touch_read(from_device, buffer, from, v);
        touch_write(to_device, buffer, to, v);
        return add({.kind = vertex_kind::transfer, .device = to_device});
    }
    /// `to` waits for `from` for the compiler's own reasons; from < to, both are there.
    void order(vertex_index from, vertex_index to) { extra_.push_back({from, to, edge_kind::control}); }
    /// Number of vertices so far. O(1).
    [[nodiscard]] std::size_t size() const noexcept { return graph_.vertices.size(); }

    /// The memgraph, without edges that longer paths imply. The emitter is empty afterwards. `alignment`,
    /// `repeatable` and the name are the caller's to set.
    [[nodiscard]] memgraph finish() {
        graph_.edges.insert(graph_.edges.end(), extra_.begin(), extra_.end());
        unite(graph_.edges, 0);
        drop_implied_edges(graph_.vertices.size(), graph_.edges);
        return std::move(graph_);
    }

private:
    struct empty_buffer {
        vertex_index writer = no_vertex;
        std::vector<vertex_index> readers;
    };
    [[nodiscard]] byte_history& history(memory_index memory) {
        return memory == host ? arenas_.back() : arenas_[memory];
    }
    void grow(memory_index memory, std::int64_t upper) {
        std::int64_t& bytes = memory == host ? graph_.host_bytes : graph_.arena_bytes[memory];
        bytes = std::max(bytes, upper);
    }
    [[nodiscard]] auto waits(edge_kind kind) {
        return [this, kind](vertex_index from) { found_.push_back({from, kind}); };
    }
    template <class AddressOf>
    void list(std::span<const buffer_index> buffers, memory_index device, AddressOf& address_of,
              std::vector<operand>& operands) {
        operands.clear();
        sorted_.assign(buffers.begin(), buffers.end());
        std::sort(sorted_.begin(), sorted_.end());
        sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
        for (const buffer_index b : sorted_)
            operands.push_back({b, device, program_.bytes(b) > 0 ? address_of(b) : no_address});
    }
    void touch_read(memory_index memory, buffer_index buffer, std::int64_t address, vertex_index v) {
        const std::int64_t upper = address + program_.bytes(buffer);
        grow(memory, upper);
        history(memory).read(address, upper, v, waits(edge_kind::data));
    }
    void touch_write(memory_index memory, buffer_index buffer, std::int64_t address, vertex_index v) {
        const std::int64_t upper = address + program_.bytes(buffer);
        grow(memory, upper);
        history(memory).write(address, upper, v, waits(edge_kind::memory));
    }
    /// Control edges of the program: predecessors with which `op` shares no buffer that one of them writes.
    void wait_without_bytes(operator_index op, vertex_index v) {
        mark_.resize(program_.buffer_count(), 0);
        vertex_of_.resize(program_.operator_count(), no_vertex);
        vertex_of_[op] = v;
        for (const buffer_index b : program_.reads(op))
            mark_[b] = 1;
        for (const buffer_index b : program_.writes(op))
            mark_[b] = 2;
        const auto shares = [&](operator_index before) {
            const auto written = program_.writes(before);
            const auto read = program_.reads(before);
            return std::any_of(written.begin(), written.end(),
                               [&](buffer_index b) { return mark_[b] > 0; }) ||
                   std::any_of(read.begin(), read.end(), [&](buffer_index b) { return mark_[b] > 1; });
        };
        for (const operator_index before : program_.predecessors(op)) {
            if (!shares(before)) found_.push_back({vertex_of_[before], edge_kind::control});
        }
        for (const buffer_index b : program_.accesses(op))
            mark_[b] = 0;
    }
    // Buffers without bytes order operators, and nothing else.
    void read_empty(buffer_index buffer, vertex_index v) {
        empty_buffer& b = empty_[buffer];
        if (b.writer != no_vertex) found_.push_back({b.writer, edge_kind::data});
        b.readers.push_back(v);
    }
    void write_empty(buffer_index buffer, vertex_index v) {
        empty_buffer& b = empty_[buffer];
        for (const vertex_index reader : b.readers) {
            if (reader != v) found_.push_back({reader, edge_kind::control});
        }
        if (b.writer != no_vertex) found_.push_back({b.writer, edge_kind::control});
        b.readers.clear();
        b.writer = v;
    }
    vertex_index add(const vertex& added) {
        const vertex_index v = graph_.add(added, reads_, writes_);
        const std::size_t first = graph_.edges.size();
        for (const dependency& d : found_)
            graph_.edges.push_back({d.from, v, d.kind});
        found_.clear();
        unite(graph_.edges, first);
        return v;
    }
    /// Of several edges between two vertices one stays, data before memory before control; those from
    /// `first` on.
    static void unite(std::vector<edge>& edges, std::size_t first) {
        const auto begin = edges.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(begin, edges.end(), [](const edge& a, const edge& b) {
            if (a.to != b.to) return a.to < b.to;
            return a.from != b.from ? a.from < b.from : a.kind < b.kind;
        });
        edges.erase(
            std::unique(begin, edges.end(),
                        [](const edge& a, const edge& b) { return a.from == b.from && a.to == b.to; }),
            edges.end());
    }

    struct dependency {
        vertex_index from;
        edge_kind kind;
    };
    const tensor_graph& program_;
    std::vector<byte_history> arenas_;     // by device, then the host's
    std::vector<empty_buffer> empty_;      // by buffer
    std::vector<char> mark_;               // by buffer, for one operator: 1 read, 2 written
    std::vector<vertex_index> vertex_of_;  // by operator
    memgraph graph_;
    std::vector<edge> extra_;
    std::vector<dependency> found_;
    std::vector<operand> reads_;
    std::vector<operand> writes_;
    std::vector<buffer_index> sorted_;
};
using emitter = basic_emitter<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_emitter<>;
#endif

}  // namespace stowage::turnip::detail
