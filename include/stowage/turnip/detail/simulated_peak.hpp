#pragma once
// How many bytes of each device hold contents at once in a simulated run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/simulation.hpp>

namespace stowage::turnip::detail {

/// Fills peak_bytes of every device: a place holds contents from the begin of the vertex that makes them to
/// the end of the last that touches them, or of the run if they must be there then. `order` is legal.
/// O(n log n).
template <class = void>
void measure_peaks(const tensor_graph& program, const memgraph& graph, std::span<const vertex_index> order,
                   simulation& result) {
    struct place {
        std::uint64_t buffer_and_device = 0;
        std::int64_t address = 0;
        bool operator==(const place&) const = default;
    };
    struct hash {
        std::size_t operator()(const place& p) const noexcept {
            return (p.buffer_and_device * 0x9e3779b97f4a7c15U) ^
                   (static_cast<std::uint64_t>(p.address) * 0xbf58476d1ce4e5b9U);
        }
    };
    struct stay {
        memory_index device = 0;
        std::int64_t bytes = 0;
        double begin = 0;
        double end = 0;
    };
    std::unordered_map<place, std::size_t, hash> current;
    std::vector<stay> stays;
    const auto key = [](const operand& o) {
        return place{std::uint64_t{o.buffer} << 32U | o.device, o.address};
    };
    const auto arrive = [&](const operand& o, double begin) {
        current[key(o)] = stays.size();
        stays.push_back({o.device, program.bytes(o.buffer), begin, begin});
    };
    for (const residence& r : graph.start) {
        if (r.memory != host) arrive({r.buffer, r.memory, r.address}, 0);
    }
    for (const vertex_index v : order) {
        const vertex_run& run = result.runs[v];
        for (const bool writes : {false, true}) {
            for (const operand& o : writes ? graph.writes(v) : graph.reads(v)) {
                auto found = current.find(key(o));
                const bool same =
                    found != current.end() &&
                    (!writes ||
                     std::any_of(graph.reads(v).begin(), graph.reads(v).end(), [&](const operand& r) {
                         return r.buffer == o.buffer && r.address == o.address;
                     }));
                if (!same) {
                    arrive(o, run.begin);
                    found = current.find(key(o));
                }
                stay& at = stays[found->second];
                at.end = std::max(at.end, run.end);
            }
        }
        const operator_index op = graph.vertices[v].op;
        if (op != no_operator && program.workspace(op) > 0) {
            stays.push_back({graph.vertices[v].device, program.workspace(op), run.begin, run.end});
        }
    }
    for (const residence& r : graph.final) {
        if (r.memory == host) continue;
        const auto found = current.find(key({r.buffer, r.memory, r.address}));
        if (found != current.end()) stays[found->second].end = result.makespan;
    }
    std::vector<std::pair<double, std::size_t>> events;  // by time; begins as 2i + 1 after ends as 2i
    for (std::size_t i = 0; i < stays.size(); ++i) {
        events.emplace_back(stays[i].begin, 2 * i + 1);
        events.emplace_back(stays[i].end, 2 * i);
    }
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        return std::pair(a.second % 2, a.second) < std::pair(b.second % 2, b.second);
    });
    std::vector<std::int64_t> held(result.devices.size(), 0);
    for (const auto& [time, event] : events) {
        const stay& at = stays[event / 2];
        if (at.begin == at.end) continue;
        held[at.device] += event % 2 == 1 ? at.bytes : -at.bytes;
        std::int64_t& peak = result.devices[at.device].peak_bytes;
        peak = std::max(peak, held[at.device]);
    }
}

}  // namespace stowage::turnip::detail
