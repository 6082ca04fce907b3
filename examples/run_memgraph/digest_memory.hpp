#pragma once
// Memories that hold digests in place of bytes: what run_memgraph's simulated device moves, so that programs
// of any size run anywhere.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <stowage/exec.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace examples {

/// Which contents lie where. Writing over a part of something destroys it.
class digest_memory {
public:
    void put(stowage::turnip::memory_index memory, std::int64_t address, std::int64_t bytes,
             std::uint64_t digest) {
        if (bytes == 0) return;
        auto& items = memories_[memory];
        auto at = items.lower_bound(address);
        if (at != items.begin() && std::prev(at)->second.end > address) --at;
        while (at != items.end() && at->first < address + bytes)
            at = items.erase(at);
        items[address] = {address + bytes, digest};
    }
    /// What lies at exactly these bytes.
    [[nodiscard]] std::optional<std::uint64_t> get(stowage::turnip::memory_index memory, std::int64_t address,
                                                   std::int64_t bytes) const {
        const auto items = memories_.find(memory);
        if (items == memories_.end()) return std::nullopt;
        const auto at = items->second.find(address);
        if (at == items->second.end() || at->second.end != address + bytes) return std::nullopt;
        return at->second.digest;
    }
    /// A copy has started: what it writes is neither old nor new until it ends.
    void start_copy(const stowage::exec::copy_request& copy) {
        if (copy.bytes == 0) return;
        const auto found = get(copy.from, copy.from_address, copy.bytes);
        put(copy.to, copy.to_address, copy.bytes, nothing);
        under_way_.insert_or_assign({copy.to, copy.to_address}, found.value_or(nothing));
    }
    /// It has ended: it has moved what was there all the while, or nothing.
    void end_copy(const stowage::exec::copy_request& copy) {
        if (copy.bytes == 0) return;
        std::uint64_t found = get(copy.from, copy.from_address, copy.bytes).value_or(nothing);
        const auto started = under_way_.find({copy.to, copy.to_address});
        if (started != under_way_.end()) {
            if (started->second != found) found = nothing;
            under_way_.erase(started);
        }
        put(copy.to, copy.to_address, copy.bytes, found);
    }
    void clear() {
        memories_.clear();
        under_way_.clear();
    }

private:
    static constexpr std::uint64_t nothing = 0x6e6f7468696e6721U;  // the digest of no contents
    struct item {
        std::int64_t end = 0;
        std::uint64_t digest = 0;
    };
    std::map<stowage::turnip::memory_index, std::map<std::int64_t, item>> memories_;
    std::map<std::pair<stowage::turnip::memory_index, std::int64_t>, std::uint64_t>
        under_way_;  // copies' contents
};

/// Kernels that compare and write digests. Used by one thread.
class digest_kernels {
public:
    digest_kernels(const stowage::tensor_graph& program, const stowage::turnip::memgraph& graph,
                   const stowage::exec::synthetic_digests& digests, digest_memory& memory)
        : program_(&program), graph_(&graph), digests_(&digests), memory_(&memory),
          address_(program.buffer_count(), 0) {}

    /// The operator of `vertex` starts: it must find what it reads, and what it only writes is neither old
    /// nor new until it ends.
    void start(stowage::turnip::vertex_index vertex) {
        const stowage::turnip::vertex& at = graph_->vertices[vertex];
        find_addresses(vertex);
        if (const auto wrong = wrong_read(at.op, at.device)) wrong_at_start_.insert_or_assign(at.op, *wrong);
        if (program_->workspace(at.op) > 0)
            memory_->put(at.device, at.workspace_address, program_->workspace(at.op), at.op);
        const auto reads = program_->reads(at.op);
        for (const stowage::buffer_index b : program_->writes(at.op)) {
            if (std::find(reads.begin(), reads.end(), b) == reads.end())
                memory_->put(at.device, address_[b], program_->bytes(b), at.op);
        }
    }
    /// It ends: it must find what it reads once more, and leaves its results.
    void operator()(const stowage::exec::kernel_call<stowage::exec::lane_index>& call) {
        find_addresses(call.vertex);
        const auto started = wrong_at_start_.find(call.op);
        const auto wrong =
            started != wrong_at_start_.end() ? started->second : wrong_read(call.op, call.device);
        if (wrong) {
            throw stowage::exec::contents_error(program_->describe_operator(call.op),
                                                program_->describe_buffer(*wrong), 0);
        }
        const std::int64_t workspace = graph_->vertices[call.vertex].workspace_address;
        if (program_->workspace(call.op) > 0)
            memory_->put(call.device, workspace, program_->workspace(call.op), call.op);
        const auto writes = program_->writes(call.op);
        for (std::size_t i = 0; i < writes.size(); ++i) {
            memory_->put(call.device, address_[writes[i]], program_->bytes(writes[i]),
                         digests_->of_access(call.op, program_->reads(call.op).size() + i));
        }
    }
    void fill() {
        memory_->clear();
        wrong_at_start_.clear();
        for (const auto& r : graph_->start)
            memory_->put(r.memory, r.address, program_->bytes(r.buffer), digests_->at_start(r.buffer));
    }
    /// Throws contents_error unless everything is where it must be at the end.
    void check() const {
        for (const auto& r : graph_->final) {
            const std::int64_t bytes = program_->bytes(r.buffer);
            if (bytes == 0 || memory_->get(r.memory, r.address, bytes) == digests_->at_end(r.buffer))
                continue;
            throw stowage::exec::contents_error({}, program_->describe_buffer(r.buffer), 0);
        }
    }

private:
    void find_addresses(stowage::turnip::vertex_index vertex) {
        for (const auto& side : {graph_->reads(vertex), graph_->writes(vertex)}) {
            for (const auto& o : side)
                address_[o.buffer] = o.address;
        }
    }
    [[nodiscard]] std::optional<stowage::buffer_index> wrong_read(
        stowage::operator_index op, stowage::turnip::memory_index device) const {
        const auto reads = program_->reads(op);
        for (std::size_t i = 0; i < reads.size(); ++i) {
            const std::int64_t bytes = program_->bytes(reads[i]);
            if (bytes == 0 || memory_->get(device, address_[reads[i]], bytes) == digests_->of_access(op, i))
                continue;
            return reads[i];
        }
        return std::nullopt;
    }
    const stowage::tensor_graph* program_;
    const stowage::turnip::memgraph* graph_;
    const stowage::exec::synthetic_digests* digests_;
    digest_memory* memory_;
    std::vector<std::int64_t> address_;  // by buffer, of the vertex that runs
    std::map<stowage::operator_index, std::optional<stowage::buffer_index>> wrong_at_start_;
};

}  // namespace examples
