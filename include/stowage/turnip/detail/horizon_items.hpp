#pragma once
// What the horizon policy places: a buffer on one device, or the workspace of one operator, by one number.

#include <cstddef>
#include <cstdint>
#include <numeric>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Numbers of items, and what they are. All calls are O(1).
template <class = void>
class basic_horizon_items {
public:
    using item = std::uint32_t;

    basic_horizon_items(const taskgraph& task, std::int64_t alignment)
        : task_(task), program_(task.program), buffers_(program_.buffer_count()), devices_(task.devices),
          alignment_(alignment) {}

    [[nodiscard]] std::size_t item_count() const { return buffers_ * devices_ + program_.operator_count(); }
    [[nodiscard]] item item_of(buffer_index b, memory_index d) const {
        return static_cast<item>(b * devices_ + d);
    }
    [[nodiscard]] item workspace_of(operator_index op) const {
        return static_cast<item>(buffers_ * devices_ + op);
    }
    [[nodiscard]] bool is_buffer(item i) const { return i < buffers_ * devices_; }
    [[nodiscard]] buffer_index buffer_of(item i) const { return static_cast<buffer_index>(i / devices_); }
    [[nodiscard]] memory_index device_of(item i) const {
        if (is_buffer(i)) return static_cast<memory_index>(i % devices_);
        return task_.placement[i - buffers_ * devices_];
    }
    [[nodiscard]] std::int64_t bytes_of(item i) const {
        return is_buffer(i) ? program_.bytes(buffer_of(i))
                            : program_.workspace(static_cast<operator_index>(i - buffers_ * devices_));
    }
    [[nodiscard]] std::int64_t alignment_of(item i) const {
        return is_buffer(i) ? std::lcm(alignment_, program_.alignment(buffer_of(i))) : alignment_;
    }

protected:
    const taskgraph& task_;
    const tensor_graph& program_;
    std::size_t buffers_;
    std::size_t devices_;
    std::int64_t alignment_;
};
using horizon_items = basic_horizon_items<>;

}  // namespace stowage::turnip::detail
