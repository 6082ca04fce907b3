#pragma once
// Where every item of the horizon policy is at one moment of its simulated execution, and the elementary
// steps between such moments: a place is taken or given, contents are copied.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/horizon_arena.hpp>
#include <stowage/turnip/detail/horizon_items.hpp>
#include <stowage/turnip/detail/horizon_uses.hpp>
#include <stowage/turnip/detail/script.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// What the paper leaves to the implementation, and a guide that it does not know.
struct horizon_rules {
    bool keep_host_copies = false;
    std::size_t lookahead = std::numeric_limits<std::size_t>::max();
    std::int64_t alignment = 1;
    /// By use, as horizon_uses counts them: 1 if the buffer leaves that use's device right after it. With a
    /// guide, allocation brings operands back as well, as early as there is room. Empty: no guide.
    std::span<const char> leaves = {};
};

/// The state; one thread at a time.
template <class = void>
class basic_horizon_state : public horizon_items {
protected:
    basic_horizon_state(const taskgraph& task, std::span<const operator_index> order,
                        std::span<const std::int64_t> capacities, const horizon_rules& rules, script& out)
        : horizon_items(task, rules.alignment), order_(order), rules_(rules), out_(out), uses_(task, order),
          address_(item_count(), -1), valid_(buffers_ * devices_, 0), on_host_(buffers_, 0),
          home_(buffers_, -1) {
        for (const std::int64_t capacity : capacities)
            arenas_.emplace_back(capacity);
    }

    [[nodiscard]] std::int64_t position() const { return static_cast<std::int64_t>(now_); }

    void put(item i, std::int64_t at) {
        arenas_[device_of(i)].take(at, bytes_of(i), i);
        address_[i] = at;
    }
    void release(item i) {
        arenas_[device_of(i)].give(address_[i], position());
        address_[i] = -1;
        if (is_buffer(i)) valid_[i] = 0;
    }
    [[nodiscard]] bool is_elsewhere(item i) const {
        const buffer_index b = buffer_of(i);
        if (on_host_[b] != 0) return true;
        for (memory_index d = 0; d < devices_; ++d) {
            if (item_of(b, d) != i && valid_[item_of(b, d)] != 0) return true;
        }
        return false;
    }
    /// Contents get a copy on the host. Those that the program never writes and that start on a device have
    /// one from the start, if it is asked for.
    void save(item i) {
        const buffer_index b = buffer_of(i);
        on_host_[b] = 1;
        if (home_[b] >= 0 && is_persistent(program_.kind(b)) && !task_.is_written(b)) {
            out_.start.push_back({b, host, no_address});
            return;
        }
        out_.lines.push_back(
            {.kind = vertex_kind::offload, .buffer = b, .device = device_of(i), .address = address_[i]});
    }
    /// Takes an item's bytes away; contents that are still wanted and nowhere else go to the host. A
    /// reservation is cancelled.
    void evict(item i) {
        if (is_buffer(i) && valid_[i] != 0 && uses_.is_wanted(buffer_of(i), now_) && !is_elsewhere(i))
            save(i);
        release(i);
    }
    /// simMalloc: a place without evicting.
    [[nodiscard]] bool place_freely(item i) {
        const std::int64_t at = arenas_[device_of(i)].free_place(bytes_of(i), alignment_of(i));
        if (at >= 0) put(i, at);
        return at >= 0;
    }
    [[nodiscard]] std::int64_t next_use(item i) {
        if (is_buffer(i)) return uses_.next(buffer_of(i), now_);
        return uses_.step_of(static_cast<operator_index>(i - buffers_ * devices_));
    }

    /// simMallocForceReld: the contents of a placed item come from the host, or else from another device.
    void bring(item i) {
        const buffer_index b = buffer_of(i);
        script_line line{
            .kind = vertex_kind::reload, .buffer = b, .device = device_of(i), .address = address_[i]};
        if (on_host_[b] != 0) {
            if (!rules_.keep_host_copies && task_.is_written(b)) on_host_[b] = 0;
        } else {
            line.kind = vertex_kind::transfer;
            for (memory_index d = 0; d < devices_; ++d) {
                if (valid_[item_of(b, d)] == 0) continue;
                line.source = d;
                line.from = address_[item_of(b, d)];
                break;
            }
        }
        out_.lines.push_back(line);
        valid_[i] = 1;
    }
    std::span<const operator_index> order_;
    horizon_rules rules_;
    script& out_;
    horizon_uses uses_;
    std::vector<std::int64_t> address_;  // by item; -1: none
    std::vector<char> valid_;            // by item: it holds the newest contents; 0: a reservation, if placed
    std::vector<char> on_host_;          // by buffer: the newest contents are there
    std::vector<std::int64_t> home_;     // by buffer: its address on the device where it starts
    std::vector<horizon_arena> arenas_;
    std::size_t now_ = 0;  // the step in work
};
using horizon_state = basic_horizon_state<>;

}  // namespace stowage::turnip::detail
