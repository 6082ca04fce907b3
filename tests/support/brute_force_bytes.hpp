#pragma once
// The fewest bytes that any plan moves between one device and the host, for a tiny program in program order:
// a shortest path over (what is on the device, what has a good copy on the host) from operator to operator.
// Knows nothing of gaps, versions or addresses, so it is exact only where addresses cost nothing.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::test {

/// See above; -1 if there is no plan. Only `on_host` and `steady` starts, one device, repeatable.
class brute_force_bytes {
public:
    brute_force_bytes(const turnip::taskgraph& task, turnip::start_rule start, std::int64_t capacity)
        : task_(task), graph_(task.program), steady_(start == turnip::start_rule::steady),
          capacity_(capacity) {
        for (buffer_index b = 0; b < graph_.buffer_count(); ++b) {
            if (graph_.bytes(b) > 0 && !graph_.users(b).empty()) buffers_.push_back(b);
        }
    }
    [[nodiscard]] std::int64_t operator()() {
        std::int64_t best = -1;
        choose(0, 0, 0, best);
        return best;
    }

private:
    using mask = std::uint32_t;
    using state = std::pair<mask, mask>;  // on the device, on the host

    [[nodiscard]] bool returns(buffer_index b) const {
        return is_persistent(graph_.kind(b)) && graph_.kind(b) != buffer_kind::input;
    }
    /// Every choice of sides at the start.
    void choose(std::size_t k, mask device, mask on_host, std::int64_t& best) {
        if (k == buffers_.size()) {
            const std::int64_t cost = run(device, on_host);
            if (cost >= 0 && (best < 0 || cost < best)) best = cost;
            return;
        }
        const mask bit = mask{1} << k;
        const buffer_index b = buffers_[k];
        if (!is_alive_at_start(graph_.kind(b))) return choose(k + 1, device, on_host, best);
        choose(k + 1, device, on_host | bit, best);
        if (!steady_) return;
        choose(k + 1, device | bit, on_host | bit, best);
        if (returns(b) && task_.is_written(b)) choose(k + 1, device | bit, on_host, best);
    }
    [[nodiscard]] std::int64_t bytes(mask set) const {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < buffers_.size(); ++k)
            sum += (set >> k & 1U) != 0 ? graph_.bytes(buffers_[k]) : 0;
        return sum;
    }
    [[nodiscard]] mask set_of(std::span<const buffer_index> list) const {
        mask set = 0;
        for (std::size_t k = 0; k < buffers_.size(); ++k) {
            if (std::find(list.begin(), list.end(), buffers_[k]) != list.end()) set |= mask{1} << k;
        }
        return set;
    }
    /// Buffers whose contents after `count` operators are still wanted.
    [[nodiscard]] mask wanted(std::size_t count, mask at_end) const {
        mask live = at_end;
        for (std::size_t i = graph_.operator_count(); i-- > count;) {
            const auto op = static_cast<operator_index>(i);
            live = (live & ~set_of(graph_.writes(op))) | set_of(graph_.reads(op));
        }
        return live;
    }
    [[nodiscard]] std::int64_t run(mask device_start, mask host_start) {
        if (bytes(device_start) > capacity_) return -1;
        mask must_host = 0;
        mask must_device = 0;
        mask must_somewhere = 0;
        mask intact = 0;  // its copy on the host can never be lost
        for (std::size_t k = 0; k < buffers_.size(); ++k) {
            const mask bit = mask{1} << k;
            const buffer_index b = buffers_[k];
            const bool written = task_.is_written(b);
            if (is_alive_at_start(graph_.kind(b)) && !written) intact |= host_start & bit;
            if (graph_.kind(b) == buffer_kind::output || (graph_.kind(b) == buffer_kind::input && written)) {
                (steady_ ? must_somewhere : must_host) |= bit;
            } else if (returns(b)) {
                // Where it is at the start, it is at the end.
                must_host |= host_start & bit;
                must_device |= device_start & bit;
            }
        }
        const mask at_end = must_host | must_device | must_somewhere;
        std::map<state, std::int64_t> now{{{device_start, host_start}, 0}};
        const std::size_t count = graph_.operator_count();
        for (std::size_t i = 0; i <= count; ++i) {
            const auto op = static_cast<operator_index>(i);
            const bool last = i == count;
            const mask reads = last ? must_device : set_of(graph_.reads(op));
            const mask writes = last ? 0 : set_of(graph_.writes(op));
            const std::int64_t scratch = last ? 0 : graph_.workspace(op);
            const mask live = wanted(i, at_end);
            std::map<state, std::int64_t> next;
            const auto offer = [&](state to, std::int64_t cost) {
                const auto [at, fresh] = next.try_emplace(to, cost);
                if (!fresh) at->second = std::min(at->second, cost);
            };
            for (const auto& [from, cost] : now) {
                const auto [device, on_host] = from;
                // Stays: any part of what is there; what is lost and wanted goes out before.
                for (mask stays = device;; stays = (stays - 1) & device) {
                    const mask lost = device & ~stays & live & ~on_host;
                    const mask comes = reads & ~stays;
                    const mask saved = on_host | lost;
                    if ((comes & ~saved) == 0) {
                        const mask there = stays | comes;
                        if (bytes(there | writes) + scratch <= capacity_) {
                            offer({there | writes, (saved & ~writes) | intact},
                                  cost + bytes(lost) + bytes(comes));
                        }
                    }
                    if (stays == 0) break;
                }
            }
            now = std::move(next);
        }
        std::int64_t best = -1;
        for (const auto& [to, cost] : now) {
            const auto [device, on_host] = to;
            const mask missing = (must_host & ~on_host) | (must_somewhere & ~on_host & ~device);
            if ((missing & ~device) != 0) continue;
            const std::int64_t total = cost + bytes(missing);
            if (best < 0 || total < best) best = total;
        }
        return best;
    }

    const turnip::taskgraph& task_;
    const tensor_graph& graph_;
    bool steady_;
    std::int64_t capacity_;
    std::vector<buffer_index> buffers_;
};

}  // namespace stowage::test
