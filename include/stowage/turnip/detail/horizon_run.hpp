#pragma once
// The simulated execution of the horizon policy: an allocation position runs ahead of an execution position
// along one order; what does not fit evicts what is needed last. Source: Turnip (arXiv 2405.16283) as
// docs/turnip.md restates it. It writes a script: moves and operators with addresses, in one total order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/horizon_arena.hpp>
#include <stowage/turnip/detail/horizon_uses.hpp>
#include <stowage/turnip/detail/script.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// What the paper leaves to the implementation.
struct horizon_rules {
    bool keep_host_copies = false;
    std::size_t lookahead = std::numeric_limits<std::size_t>::max();
    std::int64_t alignment = 1;
};

/// Runs once. An item is a buffer on one device, or the workspace of one operator. Each operator's operands
/// fit its device when laid side by side. O(operators * pieces of the arenas).
template <class = void>
class basic_horizon_run {
public:
    basic_horizon_run(const taskgraph& task, std::span<const operator_index> order,
                      std::span<const std::int64_t> capacities, const horizon_rules& rules, script& out)
        : task_(task), program_(task.program), order_(order), rules_(rules), out_(out), uses_(task, order),
          buffers_(program_.buffer_count()), devices_(task.devices),
          address_(buffers_ * devices_ + program_.operator_count(), -1), valid_(buffers_ * devices_, 0),
          on_host_(buffers_, 0), home_(buffers_, -1), capacities_(capacities.begin(), capacities.end()) {
        for (const std::int64_t capacity : capacities)
            arenas_.emplace_back(capacity);
    }

    /// False if the buffers that start or end on a device could not be given places there.
    [[nodiscard]] bool run() {
        if (!begin()) return false;
        std::size_t allocated = 0;
        for (now_ = 0; now_ < order_.size();) {
            if (allocated < order_.size() && allocated - now_ < rules_.lookahead && reserve(allocated)) {
                ++allocated;
                continue;
            }
            if (!execute(order_[now_])) return false;
            ++now_;
            allocated = std::max(allocated, now_);
        }
        return end();
    }

private:
    using item = std::uint32_t;

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
        return is_buffer(i) ? std::lcm(rules_.alignment, program_.alignment(buffer_of(i))) : rules_.alignment;
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
    /// simMallocOffld: a place at the cost of what is needed latest, never of an operand in work.
    [[nodiscard]] bool place_by_force(item i) {
        if (place_freely(i)) return true;
        horizon_arena& arena = arenas_[device_of(i)];
        const std::int64_t at = arena.place_of_victims(
            bytes_of(i), alignment_of(i),
            [&](item owner) { return std::binary_search(operands_.begin(), operands_.end(), owner); },
            [&](item owner) { return next_use(owner); });
        if (at < 0) return false;
        arena.owners_in(at, bytes_of(i), victims_);
        for (const item victim : victims_)
            evict(victim);
        put(i, at);
        return true;
    }
    [[nodiscard]] std::int64_t next_use(item i) {
        if (is_buffer(i)) return uses_.next(buffer_of(i), now_);
        return uses_.step_of(static_cast<operator_index>(i - buffers_ * devices_));
    }

    /// Reserves bytes for the results and the workspace of step `step`, all or none, without evicting.
    [[nodiscard]] bool reserve(std::size_t step) {
        const operator_index op = order_[step];
        reserved_.clear();
        bool fits = true;
        const auto want = [&](item i) {
            if (!fits || bytes_of(i) == 0 || address_[i] >= 0) return;
            fits = place_freely(i);
            if (fits) reserved_.push_back(i);
        };
        for (const buffer_index b : program_.writes(op)) {
            if (!uses_.reads(op, b)) want(item_of(b, task_.placement[op]));
        }
        if (program_.workspace(op) > 0) want(workspace_of(op));
        for (std::size_t k = 0; !fits && k < reserved_.size(); ++k)
            release(reserved_[k]);
        return fits;
    }

    [[nodiscard]] bool execute(operator_index op) {
        const memory_index device = task_.placement[op];
        operands_.clear();
        for (const buffer_index b : program_.accesses(op)) {
            if (program_.bytes(b) > 0) operands_.push_back(item_of(b, device));
        }
        if (program_.workspace(op) > 0) operands_.push_back(workspace_of(op));
        std::sort(operands_.begin(), operands_.end());
        operands_.erase(std::unique(operands_.begin(), operands_.end()), operands_.end());
        std::vector<item> absent;
        for (const item i : operands_) {
            if (address_[i] < 0) absent.push_back(i);
        }
        const auto larger = [&](item a, item b) {
            return std::pair(-bytes_of(a), a) < std::pair(-bytes_of(b), b);
        };
        std::sort(absent.begin(), absent.end(), larger);
        bool placed = true;
        for (const item i : absent)
            placed = placed && place_by_force(i);
        if (!placed && !pack(device)) return false;
        for (const item i : operands_) {
            if (is_buffer(i) && valid_[i] == 0 && uses_.reads(op, buffer_of(i))) bring(i);
        }
        write_line(op, device);
        for (const buffer_index b : program_.writes(op)) {
            if (program_.bytes(b) == 0) continue;
            for (memory_index d = 0; d < devices_; ++d) {
                const item i = item_of(b, d);
                if (d != device && valid_[i] != 0) release(i);
            }
            valid_[item_of(b, device)] = 1;
            on_host_[b] = 0;
        }
        if (program_.workspace(op) > 0) release(workspace_of(op));
        for (const buffer_index b : program_.accesses(op)) {
            if (program_.bytes(b) == 0 || uses_.is_wanted(b, now_ + 1)) continue;
            for (memory_index d = 0; d < devices_; ++d) {
                if (valid_[item_of(b, d)] != 0) release(item_of(b, d));
            }
        }
        return true;
    }
    /// The fallback where pinned operands leave no hole that is large enough: everything leaves the device,
    /// and the operands come back side by side.
    [[nodiscard]] bool pack(memory_index device) {
        arenas_[device].owners(victims_);
        for (const item i : victims_)
            evict(i);
        std::vector<item> all(operands_);
        std::sort(all.begin(), all.end(), [&](item a, item b) {
            if (alignment_of(a) != alignment_of(b)) return alignment_of(a) > alignment_of(b);
            return std::pair(-bytes_of(a), a) < std::pair(-bytes_of(b), b);
        });
        std::int64_t at = 0;
        for (const item i : all) {
            const std::int64_t rest = at % alignment_of(i);
            if (rest != 0) at += alignment_of(i) - rest;
            if (at > capacities_[device] - bytes_of(i)) return false;
            put(i, at);
            at += bytes_of(i);
        }
        return true;
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
    void write_line(operator_index op, memory_index device) {
        script_line line{.kind = vertex_kind::op, .op = op, .device = device};
        line.operands = static_cast<std::uint32_t>(out_.operands.size());
        if (program_.workspace(op) > 0) line.workspace = address_[workspace_of(op)];
        for (const item i : operands_) {
            if (is_buffer(i)) out_.operands.push_back({buffer_of(i), address_[i]});
        }
        line.operand_count = static_cast<std::uint32_t>(out_.operands.size()) - line.operands;
        out_.lines.push_back(line);
    }

    /// What is there at the start.
    [[nodiscard]] bool begin() {
        for (buffer_index b = 0; b < buffers_; ++b) {
            if (!is_alive_at_start(program_.kind(b)) || program_.users(b).empty() || program_.bytes(b) == 0) {
                continue;
            }
            const memory_index where = task_.start[b];
            if (where == host || where == anywhere) {
                on_host_[b] = 1;
                out_.start.push_back({b, host, no_address});
                continue;
            }
            const item i = item_of(b, where);
            if (!place_freely(i)) return false;
            valid_[i] = 1;
            home_[b] = address_[i];
            out_.start.push_back({b, where, home_[b]});
        }
        return true;
    }
    /// Where buffer `b` must be at the end: a device with `address` or, if that is negative, anywhere on it;
    /// the host; or `anywhere`: nothing is asked.
    [[nodiscard]] memory_index wanted_at_end(buffer_index b, std::int64_t& address) const {
        address = -1;
        if (program_.bytes(b) == 0 || program_.users(b).empty()) return anywhere;
        const buffer_kind kind = program_.kind(b);
        const bool comes_back = task_.repeatable && is_persistent(kind) && kind != buffer_kind::input;
        if (comes_back && home_[b] >= 0) {
            address = home_[b];
            return task_.start[b];
        }
        if (!uses_.is_wanted_at_end(b)) return anywhere;
        if (comes_back) return host;
        if (task_.finish[b] != anywhere) return task_.finish[b];
        for (memory_index d = 0; on_host_[b] == 0 && d < devices_; ++d) {
            if (valid_[item_of(b, d)] != 0) return d;
        }
        return host;
    }
    [[nodiscard]] bool end() {
        operands_.clear();
        std::vector<item> at_any_address;
        for (buffer_index b = 0; b < buffers_; ++b) {
            std::int64_t address = -1;
            const memory_index where = wanted_at_end(b, address);
            bool stays = false;
            for (memory_index d = 0; d < devices_; ++d) {
                const item i = item_of(b, d);
                if (address_[i] < 0 || valid_[i] == 0) continue;
                const bool right = where == d && (address < 0 || address_[i] == address);
                if (right)
                    stays = true;
                else if (where != anywhere && on_host_[b] == 0)
                    save(i);
            }
            if (where == anywhere) continue;
            if (where == host) {
                out_.final.push_back({b, host, no_address});
            } else if (address >= 0) {
                homes_.push_back(item_of(b, where));
            } else {
                at_any_address.push_back(item_of(b, where));
            }
            if (stays) operands_.push_back(item_of(b, where));
        }
        // What stands in the way of what comes back leaves; then the rest finds places.
        std::sort(operands_.begin(), operands_.end());
        for (memory_index d = 0; d < devices_; ++d) {
            arenas_[d].owners(victims_);
            for (const item i : victims_) {
                if (!std::binary_search(operands_.begin(), operands_.end(), i)) release(i);
            }
        }
        for (const item i : homes_) {
            const std::int64_t address = home_[buffer_of(i)];
            if (address_[i] < 0) {
                arenas_[device_of(i)].owners_in(address, bytes_of(i), victims_);
                for (const item victim : victims_)
                    evict(victim);
                put(i, address);
                bring(i);
            }
            out_.final.push_back({buffer_of(i), device_of(i), address});
        }
        for (const item i : at_any_address) {
            if (address_[i] < 0) {
                if (!place_freely(i)) return false;
                bring(i);
            }
            out_.final.push_back({buffer_of(i), device_of(i), address_[i]});
        }
        return true;
    }

    const taskgraph& task_;
    const tensor_graph& program_;
    std::span<const operator_index> order_;
    horizon_rules rules_;
    script& out_;
    horizon_uses uses_;
    std::size_t buffers_;
    std::size_t devices_;
    std::vector<std::int64_t> address_;  // by item; -1: none
    std::vector<char> valid_;            // by item: it holds the newest contents; 0: a reservation, if placed
    std::vector<char> on_host_;          // by buffer: the newest contents are there
    std::vector<std::int64_t> home_;     // by buffer: its address on the device where it starts
    std::vector<std::int64_t> capacities_;
    std::vector<horizon_arena> arenas_;
    std::vector<item> operands_;  // of the step in work: they are never evicted
    std::vector<item> victims_;
    std::vector<item> reserved_;
    std::vector<item> homes_;  // what must be back at its address at the end
    std::size_t now_ = 0;      // the step in work
};
using horizon_run = basic_horizon_run<>;

}  // namespace stowage::turnip::detail
