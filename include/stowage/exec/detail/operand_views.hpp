#pragma once
// The spans of every operator's operands, as the program lists them, made once from a memgraph's addresses
// and a device's memories.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/exec/kernel.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::exec::detail {

class operand_views {
public:
    /// O(operands). A buffer without bytes is an empty span.
    template <class Device>
    void prepare(const tensor_graph& program, const turnip::memgraph& graph, Device& device) {
        rows_.assign(graph.vertices.size() + 1, {});
        std::vector<std::int64_t> address(program.buffer_count(), turnip::no_address);
        std::size_t count = 0;
        for (const turnip::vertex& at : graph.vertices) {
            if (at.kind == turnip::vertex_kind::op) count += program.accesses(at.op).size() + 1;
        }
        views_.reserve(count);
        for (turnip::vertex_index v = 0; v < graph.vertices.size(); ++v) {
            const turnip::vertex& at = graph.vertices[v];
            rows_[v].first = static_cast<std::uint32_t>(views_.size());
            if (at.kind != turnip::vertex_kind::op) continue;
            std::byte* const base = device.base(at.device);
            for (const auto& side : {graph.reads(v), graph.writes(v)}) {
                for (const turnip::operand& o : side)
                    address[o.buffer] = o.address;
            }
            rows_[v].reads = static_cast<std::uint32_t>(program.reads(at.op).size());
            views_.push_back(view(base, at.workspace_address, program.workspace(at.op)));
            for (const buffer_index b : program.accesses(at.op))
                views_.push_back(view(base, address[b], program.bytes(b)));
        }
        rows_.back().first = static_cast<std::uint32_t>(views_.size());
    }
    /// Sets the operands of `call`, whose vertex is set.
    template <class Handle>
    void fill(kernel_call<Handle>& call) const noexcept {
        const row at = rows_[call.vertex];
        const std::span<std::byte>* const first = views_.data() + at.first;
        call.workspace = *first;
        call.reads = {first + 1, at.reads};
        call.writes = {first + 1 + at.reads, views_.data() + rows_[call.vertex + 1].first};
    }
    /// Bytes a vertex, operands not included.
    [[nodiscard]] static constexpr std::size_t bytes_per_vertex() noexcept { return sizeof(row); }

private:
    struct row {
        std::uint32_t first = 0;  // in views_: the workspace, then reads, then writes
        std::uint32_t reads = 0;
    };
    [[nodiscard]] static std::span<std::byte> view(std::byte* base, std::int64_t address,
                                                   std::int64_t bytes) noexcept {
        if (bytes <= 0 || base == nullptr) return {};
        return {base + address, static_cast<std::size_t>(bytes)};
    }
    std::vector<row> rows_;  // by vertex
    std::vector<std::span<std::byte>> views_;
};

}  // namespace stowage::exec::detail
