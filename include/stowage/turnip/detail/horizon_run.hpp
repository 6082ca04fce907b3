#pragma once
// The simulated execution of the horizon policy: an allocation position runs ahead of an execution position
// along one order; what does not fit evicts what is needed last. Source: Turnip (arXiv 2405.16283) as
// docs/turnip.md restates it. It writes a script: moves and operators with addresses, in one total order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/horizon_state.hpp>
#include <stowage/turnip/detail/script.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Runs once. An item is a buffer on one device, or the workspace of one operator. Each operator's operands
/// fit its device when laid side by side. O(operators * pieces of the arenas).
template <class = void>
class basic_horizon_run : private horizon_state {
public:
    basic_horizon_run(const taskgraph& task, std::span<const operator_index> order,
                      std::span<const std::int64_t> capacities, const horizon_rules& rules, script& out)
        : horizon_state(task, order, capacities, rules, out),
          capacities_(capacities.begin(), capacities.end()) {}

    /// False if the buffers that start or end on a device could not be given places there.
    [[nodiscard]] bool run() {
        if (!begin()) return false;
        std::size_t allocated = 0;
        for (now_ = 0; now_ < order_.size();) {
            if (allocated < order_.size() && allocated - now_ < rules_.lookahead &&
                (rules_.leaves.empty() ? reserve(allocated) : prepare(allocated))) {
                ++allocated;
                continue;
            }
            if (!execute(order_[now_])) return false;
            ++now_;
            if (!rules_.leaves.empty()) leave(order_[now_ - 1]);
            allocated = std::max(allocated, now_);
        }
        return end();
    }

private:
    /// simMallocOffld: a place at the cost of what is needed latest, never of an operand in work.
    [[nodiscard]] bool place_by_force(item i) {
        if (place_freely(i) || (!rules_.leaves.empty() && place_by_moving(i))) return true;
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
    /// A place at the cost of moves within the device; what finds no other place there is evicted.
    [[nodiscard]] bool place_by_moving(item i) {
        const memory_index device = device_of(i);
        horizon_arena& arena = arenas_[device];
        const std::int64_t at = arena.cheapest_place(bytes_of(i), alignment_of(i), [&](item owner) {
            return std::binary_search(operands_.begin(), operands_.end(), owner);
        });
        if (at < 0) return false;
        arena.owners_in(at, bytes_of(i), victims_);
        std::sort(victims_.begin(), victims_.end(),
                  [&](item a, item b) { return std::pair(-bytes_of(a), a) < std::pair(-bytes_of(b), b); });
        for (const item victim : victims_) {
            const std::int64_t to =
                arena.free_place(bytes_of(victim), alignment_of(victim), at, at + bytes_of(i));
            if (to < 0) {
                evict(victim);
                continue;
            }
            const bool valid = is_buffer(victim) && valid_[victim] != 0;
            if (valid) {
                out_.lines.push_back({.kind = vertex_kind::transfer,
                                      .buffer = buffer_of(victim),
                                      .device = device,
                                      .source = device,
                                      .address = to,
                                      .from = address_[victim]});
            }
            release(victim);
            put(victim, to);
            if (valid) valid_[victim] = 1;
        }
        put(i, at);
        return true;
    }
    /// Reserves bytes for the results and the workspace of step `step`, without evicting; what found a place
    /// keeps it if the rest does not.
    [[nodiscard]] bool reserve(std::size_t step) {
        const operator_index op = order_[step];
        for (const buffer_index b : program_.writes(op)) {
            if (!uses_.reads(op, b) && !place_if_absent(item_of(b, task_.placement[op]))) return false;
        }
        return program_.workspace(op) == 0 || place_if_absent(workspace_of(op));
    }
    [[nodiscard]] bool place_if_absent(item i) {
        return bytes_of(i) == 0 || address_[i] >= 0 || place_freely(i);
    }
    /// The same with a guide: operands come back too, once their use before this step is behind.
    [[nodiscard]] bool prepare(std::size_t step) {
        const operator_index op = order_[step];
        const memory_index device = task_.placement[op];
        for (const buffer_index b : program_.accesses(op)) {
            if (program_.bytes(b) == 0) continue;
            const std::size_t use = uses_.index(step, b);
            const item i = item_of(b, device);
            if (!uses_.is_first(use, b) && uses_.step(use - 1) >= now_) {
                const bool stays = task_.placement[order_[uses_.step(use - 1)]] == device &&
                                   rules_.leaves[use - 1] == 0 && uses_.reads(op, b);
                if (!stays) return false;
                continue;
            }
            if (!place_if_absent(i)) return false;
            if (valid_[i] == 0 && uses_.reads(op, b)) bring(i);
        }
        return program_.workspace(op) == 0 || place_if_absent(workspace_of(op));
    }
    /// What the guide sends away after the step that was just executed.
    void leave(operator_index op) {
        for (const buffer_index b : program_.accesses(op)) {
            const item i = item_of(b, task_.placement[op]);
            if (program_.bytes(b) == 0 || address_[i] < 0 || valid_[i] == 0) continue;
            if (rules_.leaves[uses_.index(now_ - 1, b)] != 0) evict(i);
        }
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
    /// The order in which items lie side by side with little rounding.
    [[nodiscard]] bool lies_before(item a, item b) const {
        if (alignment_of(a) != alignment_of(b)) return alignment_of(a) > alignment_of(b);
        const std::int64_t pad = stowage::detail::padding(bytes_of(a), alignment_of(a)) -
                                 stowage::detail::padding(bytes_of(b), alignment_of(b));
        if (pad != 0) return pad < 0;
        return std::pair(-bytes_of(a), a) < std::pair(-bytes_of(b), b);
    }
    /// The fallback where pinned operands leave no hole that is large enough: everything leaves the device,
    /// and the operands come back side by side.
    [[nodiscard]] bool pack(memory_index device) {
        arenas_[device].owners(victims_);
        for (const item i : victims_)
            evict(i);
        std::vector<item> all(operands_);
        std::sort(all.begin(), all.end(), [&](item a, item b) { return lies_before(a, b); });
        std::int64_t at = 0;
        for (const item i : all) {
            at += stowage::detail::padding(at, alignment_of(i));
            if (at > capacities_[device] - bytes_of(i)) return false;
            put(i, at);
            at += bytes_of(i);
        }
        return true;
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
        std::vector<item> there;
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
            there.push_back(item_of(b, where));
        }
        std::sort(there.begin(), there.end(), [&](item a, item b) { return lies_before(a, b); });
        for (const item i : there) {
            if (!place_freely(i)) return false;
            valid_[i] = 1;
            home_[buffer_of(i)] = address_[i];
            out_.start.push_back({buffer_of(i), device_of(i), address_[i]});
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
        bool placed = true;
        for (const item i : at_any_address)
            placed = placed && (address_[i] >= 0 || place_freely(i));
        if (!placed && !place_anew(at_any_address)) return false;
        for (const item i : at_any_address) {
            if (valid_[i] == 0) bring(i);
            out_.final.push_back({buffer_of(i), device_of(i), address_[i]});
        }
        return true;
    }

    /// All of them leave, and get places in free bytes side by side.
    [[nodiscard]] bool place_anew(std::span<const item> items) {
        std::vector<item> sorted(items.begin(), items.end());
        for (const item i : sorted) {
            if (address_[i] >= 0) evict(i);
        }
        std::sort(sorted.begin(), sorted.end(), [&](item a, item b) { return lies_before(a, b); });
        return std::all_of(sorted.begin(), sorted.end(), [&](item i) { return place_freely(i); });
    }

    std::vector<std::int64_t> capacities_;
    std::vector<item> operands_;  // of the step in work: they are never evicted
    std::vector<item> victims_;
    std::vector<item> homes_;  // what must be back at its address at the end
};
using horizon_run = basic_horizon_run<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_horizon_run<>;
#endif

}  // namespace stowage::turnip::detail
