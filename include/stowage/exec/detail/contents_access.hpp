#pragma once
// Reading and writing a program's buffers between runs, by where the memgraph has them at the start and at
// the end, and binding them to the caller's memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <stowage/exec/fault.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::exec::detail {

class contents_access {
public:
    contents_access(const tensor_graph& program, const turnip::memgraph& graph)
        : program_(program), graph_(graph) {}

    template <class Device>
    void write(Device& device, buffer_index buffer, std::span<const std::byte> bytes) const {
        check_size(buffer, bytes.size());
        bool found = false;
        for (const turnip::residence& r : graph_.start) {
            if (r.buffer != buffer) continue;
            if (!bytes.empty()) device.write(r.memory, r.address, bytes);
            found = true;
        }
        if (!found) refuse(buffer, "has no place at the start");
    }
    template <class Device>
    void read(Device& device, buffer_index buffer, std::span<std::byte> bytes) const {
        check_size(buffer, bytes.size());
        for (const auto* list : {&graph_.final, &graph_.start}) {
            for (const turnip::residence& r : *list) {
                if (r.buffer != buffer) continue;
                if (!bytes.empty()) device.read(r.memory, r.address, bytes);
                return;
            }
        }
        refuse(buffer, "has no place at the end");
    }
    template <class = void>
    void bind(buffer_index buffer, std::span<const std::byte> bytes) {
        if (bytes.empty())
            check_exists(buffer);
        else
            check_size(buffer, bytes.size());
        for (const operator_index op : program_.users(buffer)) {
            const auto writes = program_.writes(op);
            if (std::find(writes.begin(), writes.end(), buffer) != writes.end())
                refuse(buffer, "is written, so it cannot be bound");
        }
        for (const turnip::residence& r : graph_.start) {
            if (r.buffer == buffer && r.memory != turnip::host)
                refuse(buffer, "starts on a device: write it");
        }
        if (bound_.empty()) bound_.assign(program_.buffer_count(), nullptr);
        bound_[buffer] = bytes.empty() ? nullptr : bytes.data();
    }
    /// The caller's bytes that stand for the host's copy of `buffer`, or null. O(1).
    [[nodiscard]] const std::byte* bound(buffer_index buffer) const noexcept {
        return bound_.empty() ? nullptr : bound_[buffer];
    }

private:
    [[noreturn]] void refuse(buffer_index buffer, const std::string& why) const {
        throw usage_error(program_.describe_buffer(buffer).text("buffer") + " " + why);
    }
    void check_exists(buffer_index buffer) const {
        if (buffer >= program_.buffer_count()) refuse(buffer, "does not exist");
    }
    void check_size(buffer_index buffer, std::size_t bytes) const {
        check_exists(buffer);
        if (static_cast<std::int64_t>(bytes) != program_.bytes(buffer)) {
            refuse(buffer, "has " + std::to_string(program_.bytes(buffer)) + " bytes, " +
                               std::to_string(bytes) + " were given");
        }
    }
    const tensor_graph& program_;
    const turnip::memgraph& graph_;
    std::vector<const std::byte*> bound_;  // by buffer; empty until something is bound
};

}  // namespace stowage::exec::detail
