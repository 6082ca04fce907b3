#pragma once
// Small random programs on a few devices with fixed slots, and a memgraph for each by the plainest means:
// whatever an operator needs is brought to its device, whatever is in the way is sent out, and every edge
// follows from who touched the slot before.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/memgraph.hpp>

namespace stowage::test {

struct random_memgraph_options {
    std::size_t operators = 24;
    std::uint32_t devices = 1;
    std::uint32_t slots = 6;  // of each device, at least 5
    std::int64_t slot_bytes = 40;
};

struct random_memgraph {
    tensor_graph program;
    turnip::memgraph graph;
};

class random_memgraph_maker {
public:
    random_memgraph_maker(std::uint64_t seed, const random_memgraph_options& options)
        : options_(options), random_(seed * 7919 + 11) {}

    random_memgraph make() {
        make_program();
        random_memgraph result{make_tensor_graph(source_), {}};
        program_ = &result.program;
        graph_ = &result.graph;
        graph_->fingerprint = program_->fingerprint();
        graph_->alignment = 8;
        graph_->arena_bytes.assign(options_.devices, options_.slot_bytes * options_.slots);
        devices_.assign(options_.devices, std::vector<std::optional<buffer_index>>(options_.slots));
        place_.resize(program_->buffer_count());
        for (buffer_index b = 0; b < program_->buffer_count(); ++b) {
            if (!is_alive_at_start(program_->kind(b)) || program_->users(b).empty()) continue;
            place_[b].host_is_good = true;
            graph_->start.push_back({b, turnip::host, host_address(b)});
        }
        for (operator_index op = 0; op < program_->operator_count(); ++op)
            run(op);
        for (buffer_index b = 0; b < program_->buffer_count(); ++b) {
            const bool ends = program_->kind(b) == buffer_kind::output ||
                              (is_persistent(program_->kind(b)) && written_.count(b));
            if (!ends) continue;
            if (!place_[b].host_is_good) offload(b);
            graph_->final.push_back({b, turnip::host, host_address(b)});
        }
        graph_->host_bytes = options_.slot_bytes * static_cast<std::int64_t>(program_->buffer_count());
        return result;
    }

private:
    using space = std::pair<turnip::memory_index, std::int64_t>;
    struct place {
        std::optional<std::pair<turnip::memory_index, std::uint32_t>> device;
        bool host_is_good = false;
    };
    struct touched {
        std::optional<turnip::vertex_index> writer;
        std::vector<turnip::vertex_index> readers;
    };

    void make_program() {
        std::vector<buffer_id> readable;
        const auto size = [&] {
            return options_.slot_bytes - static_cast<std::int64_t>(random_.below(4)) * 3;
        };
        for (const buffer_kind kind : {buffer_kind::input, buffer_kind::parameter, buffer_kind::donated})
            readable.push_back(source_.add_buffer(
                {.bytes = size(), .kind = kind, .name = "s" + std::to_string(readable.size())}));
        for (std::size_t i = 0; i < options_.operators; ++i) {
            operator_options op{.name = "op" + std::to_string(i)};
            for (std::uint64_t k = random_.below(3) + (i == 0 ? 1 : 0); k > 0; --k) {
                const std::size_t from =
                    readable.size() > 8 && random_.below(3) != 0 ? readable.size() - 6 : 0;
                const buffer_id b = readable[from + random_.below(readable.size() - from)];
                if (std::find(op.reads.begin(), op.reads.end(), b) == op.reads.end()) op.reads.push_back(b);
            }
            const bool output = random_.below(6) == 0 || i + 1 == options_.operators;
            op.writes.push_back(source_.add_buffer(
                {.bytes = size(), .kind = output ? buffer_kind::output : buffer_kind::intermediate}));
            if (!op.reads.empty() && random_.below(4) == 0) op.writes.push_back(op.reads[0]);
            readable.push_back(op.writes[0]);
            if (random_.below(3) == 0) op.workspace = size();
            op.device = static_cast<std::uint32_t>(random_.below(options_.devices));
            source_.add_operator(std::move(op));
        }
    }

    [[nodiscard]] std::int64_t host_address(buffer_index b) const {
        return options_.slot_bytes * static_cast<std::int64_t>(b);
    }
    [[nodiscard]] std::int64_t address(std::uint32_t slot) const {
        return options_.slot_bytes * static_cast<std::int64_t>(slot);
    }

    turnip::vertex_index add(const turnip::vertex& v, const std::vector<turnip::operand>& reads,
                             const std::vector<turnip::operand>& writes) {
        const turnip::vertex_index index = graph_->add(v, reads, writes);
        std::map<turnip::vertex_index, turnip::edge_kind> before;
        const auto reads_from = [&](space s) {
            touched& t = history_[s];
            if (t.writer) before[*t.writer] = turnip::edge_kind::data;
            t.readers.push_back(index);
        };
        const auto writes_to = [&](space s) {
            touched& t = history_[s];
            if (t.writer) before.try_emplace(*t.writer, turnip::edge_kind::memory);
            for (const turnip::vertex_index r : t.readers)
                before.try_emplace(r, turnip::edge_kind::memory);
            t.writer = index;
            t.readers.clear();
        };
        for (const auto& o : reads)
            reads_from({o.device, o.address});
        if (v.kind == turnip::vertex_kind::reload) reads_from({turnip::host, v.host_address});
        for (const auto& o : writes)
            writes_to({o.device, o.address});
        if (v.kind == turnip::vertex_kind::offload) writes_to({turnip::host, v.host_address});
        if (v.kind == turnip::vertex_kind::op && v.workspace_address >= 0)
            writes_to({v.device, v.workspace_address});
        before.erase(index);
        for (const auto& [from, kind] : before)
            graph_->edges.push_back({from, index, kind});
        return index;
    }

    void offload(buffer_index b) {
        const auto [d, slot] = *place_[b].device;
        add({.kind = turnip::vertex_kind::offload, .device = d, .host_address = host_address(b)},
            {{b, d, address(slot)}}, {});
        place_[b].host_is_good = true;
    }
    std::uint32_t take_slot(turnip::memory_index d, const std::set<std::uint32_t>& kept) {
        std::vector<std::uint32_t> free;
        std::vector<std::uint32_t> victims;
        for (std::uint32_t s = 0; s < options_.slots; ++s) {
            if (kept.count(s)) continue;
            (devices_[d][s] ? victims : free).push_back(s);
        }
        if (!free.empty() && random_.below(4) != 0) return free[random_.below(free.size())];
        if (victims.empty()) return free[random_.below(free.size())];
        const std::uint32_t slot = victims[random_.below(victims.size())];
        const buffer_index victim = *devices_[d][slot];
        if (!place_[victim].host_is_good) offload(victim);
        place_[victim].device.reset();
        devices_[d][slot].reset();
        return slot;
    }
    void put(buffer_index b, turnip::memory_index d, std::uint32_t slot) {
        place_[b].device = {d, slot};
        devices_[d][slot] = b;
    }
    /// The slot of `b` on `d`, where it is brought.
    std::uint32_t bring(buffer_index b, turnip::memory_index d, const std::set<std::uint32_t>& kept) {
        if (place_[b].device && place_[b].device->first == d) {
            if (random_.below(8) != 0) return place_[b].device->second;
            // a move within the device
            const std::uint32_t from = place_[b].device->second;
            std::set<std::uint32_t> also = kept;
            also.insert(from);
            const std::uint32_t slot = take_slot(d, also);
            add({.kind = turnip::vertex_kind::transfer, .device = d}, {{b, d, address(from)}},
                {{b, d, address(slot)}});
            devices_[d][from].reset();
            put(b, d, slot);
            return slot;
        }
        const std::uint32_t slot = take_slot(d, kept);
        if (place_[b].device && (!place_[b].host_is_good || random_.below(2) == 0)) {
            const auto [source, from] = *place_[b].device;
            add({.kind = turnip::vertex_kind::transfer, .device = d}, {{b, source, address(from)}},
                {{b, d, address(slot)}});
            devices_[source][from].reset();
        } else {
            if (place_[b].device) devices_[place_[b].device->first][place_[b].device->second].reset();
            add({.kind = turnip::vertex_kind::reload, .device = d, .host_address = host_address(b)}, {},
                {{b, d, address(slot)}});
        }
        put(b, d, slot);
        return slot;
    }
    void run(operator_index op) {
        const turnip::memory_index d = program_->device(op);
        std::set<std::uint32_t> kept;
        for (const buffer_index b : program_->reads(op)) {
            if (place_[b].device && place_[b].device->first == d) kept.insert(place_[b].device->second);
        }
        std::vector<turnip::operand> reads;
        for (const buffer_index b : program_->reads(op)) {
            if (place_[b].device && place_[b].device->first == d) kept.erase(place_[b].device->second);
            const std::uint32_t slot = bring(b, d, kept);
            kept.insert(slot);
            reads.push_back({b, d, address(slot)});
        }
        std::vector<turnip::operand> writes;
        for (const buffer_index b : program_->writes(op)) {
            if (!place_[b].device || place_[b].device->first != d) {
                const std::uint32_t slot = take_slot(d, kept);
                put(b, d, slot);
            }
            kept.insert(place_[b].device->second);
            place_[b].host_is_good = false;
            written_.insert(b);
            writes.push_back({b, d, address(place_[b].device->second)});
        }
        turnip::vertex v{.kind = turnip::vertex_kind::op, .op = op, .device = d};
        if (program_->workspace(op) > 0) v.workspace_address = address(take_slot(d, kept));
        std::reverse(reads.begin(), reads.end());  // the order of a memgraph's operands is free
        add(v, reads, writes);
    }

    random_memgraph_options options_;
    stowage::detail::splitmix64 random_;
    program source_;
    const tensor_graph* program_ = nullptr;
    turnip::memgraph* graph_ = nullptr;
    std::vector<std::vector<std::optional<buffer_index>>> devices_;
    std::vector<place> place_;
    std::set<buffer_index> written_;
    std::map<space, touched> history_;
};

inline random_memgraph make_random_memgraph(std::uint64_t seed, const random_memgraph_options& options = {}) {
    return random_memgraph_maker(seed, options).make();
}

}  // namespace stowage::test
