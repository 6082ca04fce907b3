#pragma once
// What a memgraph's verifier checks at the start and at the end of a run, what the program demands without
// sharing bytes, and what a taskgraph adds.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>
#include <stowage/verify/detail/memgraph_accesses.hpp>
#include <stowage/verify/detail/memgraph_replay.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify::detail {

/// The accesses of every vertex, sorted by place, to compare two vertices quickly.
template <class = void>
class basic_sorted_accesses {
public:
    basic_sorted_accesses(const turnip::memgraph& graph, const memgraph_accesses& accesses) {
        for (std::uint32_t v = 0; v < graph.vertices.size(); ++v) {
            const auto begin = static_cast<std::ptrdiff_t>(list_.size());
            for (const byte_access& access : accesses.of(v)) {
                if (access.first < access.last) list_.push_back(access);
            }
            std::sort(list_.begin() + begin, list_.end(), [](const byte_access& a, const byte_access& b) {
                if (a.memory != b.memory) return a.memory < b.memory;
                return a.first != b.first ? a.first < b.first : a.writes > b.writes;
            });
            // A write of the same bytes as a read says all; a vertex's accesses are else apart.
            list_.erase(std::unique(list_.begin() + begin, list_.end(),
                                    [](const byte_access& a, const byte_access& b) {
                                        return a.memory == b.memory && a.first == b.first;
                                    }),
                        list_.end());
            begin_.push_back(list_.size());
        }
    }
    /// True if the two touch a common byte, and one of them writes it. O(both rows).
    [[nodiscard]] bool clash(std::uint32_t a, std::uint32_t b) const {
        std::size_t i = begin_[a];
        std::size_t k = begin_[b];
        while (i < begin_[a + 1] && k < begin_[b + 1]) {
            const byte_access& x = list_[i];
            const byte_access& y = list_[k];
            if (x.memory == y.memory && x.first < y.last && y.first < x.last && (x.writes || y.writes)) {
                return true;
            }
            const bool x_ends_first = x.memory != y.memory ? x.memory < y.memory : x.last <= y.last;
            ++(x_ends_first ? i : k);
        }
        return false;
    }

private:
    std::vector<byte_access> list_;
    std::vector<std::size_t> begin_ = {0};
};
using sorted_accesses = basic_sorted_accesses<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_sorted_accesses<>;
#endif

/// Two operators of which the second must run after the first.
struct operator_pair {
    operator_index first = 0;
    operator_index second = 0;
    buffer_index buffer = 0;  ///< the buffer without bytes that says so; past the last: a control edge
};

/// Dependencies through buffers without bytes, and those that no buffer explains.
template <class = void>
[[nodiscard]] std::vector<operator_pair> pairs_without_bytes(const tensor_graph& program) {
    std::vector<operator_pair> pairs;
    const std::size_t buffers = program.buffer_count();
    const auto listed = [](std::span<const buffer_index> row, buffer_index b) {
        return std::find(row.begin(), row.end(), b) != row.end();
    };
    std::vector<operator_index> readers;
    for (buffer_index b = 0; b < buffers; ++b) {
        if (program.bytes(b) != 0) continue;
        operator_index writer = no_operator;
        readers.clear();
        for (const operator_index op : program.users(b)) {
            if (writer != no_operator) pairs.push_back({writer, op, b});
            if (!listed(program.writes(op), b)) {
                readers.push_back(op);
                continue;
            }
            for (const operator_index reader : readers)
                pairs.push_back({reader, op, b});
            readers.clear();
            writer = op;
        }
    }
    std::vector<std::uint8_t> mark(buffers, 0);  // 1: this operator reads it, 2: writes
    for (operator_index op = 0; op < program.operator_count(); ++op) {
        for (const buffer_index b : program.reads(op))
            mark[b] |= 1U;
        for (const buffer_index b : program.writes(op))
            mark[b] |= 2U;
        for (const operator_index before : program.predecessors(op)) {
            bool explained = false;
            for (const buffer_index b : program.writes(before))
                explained = explained || mark[b] != 0;
            for (const buffer_index b : program.reads(before))
                explained = explained || (mark[b] & 2U) != 0;
            if (!explained) pairs.push_back({before, op, static_cast<buffer_index>(buffers)});
        }
        for (const buffer_index b : program.accesses(op))
            mark[b] = 0;
    }
    return pairs;
}

/// Operators run where the program says, if it says so.
template <class = void>
[[nodiscard]] std::optional<verdict> check_placement(const tensor_graph& program,
                                                     const turnip::memgraph& graph) {
    bool placed = false;
    for (operator_index op = 0; op < program.operator_count(); ++op)
        placed = placed || program.device(op) != 0;
    if (!placed) return std::nullopt;
    for (const turnip::vertex& v : graph.vertices) {
        if (v.kind != turnip::vertex_kind::op || v.device == program.device(v.op)) continue;
        const subject op = program.describe_operator(v.op);
        return refuse(op.text("operator") + " runs on device " + std::to_string(v.device) +
                          ", the program places it on device " + std::to_string(program.device(v.op)),
                      {op});
    }
    return std::nullopt;
}

/// The bytes of a residence; a memory that does not exist or a buffer that does not is a no.
template <class = void>
[[nodiscard]] std::optional<verdict> residence_bytes(const tensor_graph& program,
                                                     const memgraph_accesses& accesses,
                                                     const turnip::residence& where, const char* when,
                                                     byte_access& bytes) {
    if (where.buffer >= program.buffer_count()) {
        return refuse(std::string(when) + ": there is no buffer " + std::to_string(where.buffer));
    }
    const bool on_host = where.memory == turnip::host;
    if (!on_host && where.memory >= accesses.devices()) {
        return refuse(std::string(when) + ": there is no device " + std::to_string(where.memory));
    }
    return accesses.place(when, on_host ? accesses.devices() : where.memory, where.address, where.buffer,
                          true, bytes);
}

/// Places at the start: of buffers that are there, apart, and of each whose first contents are read.
template <class = void>
[[nodiscard]] std::optional<verdict> check_start(const tensor_graph& program, const turnip::memgraph& graph,
                                                 const memgraph_accesses& accesses, memgraph_replay& replay) {
    std::vector<std::uint8_t> listed(program.buffer_count(), 0);
    for (const turnip::residence& where : graph.start) {
        byte_access bytes;
        if (auto bad = residence_bytes(program, accesses, where, "at the start", bytes)) return bad;
        const std::string text = accesses.item_text(where.buffer);
        if (!is_alive_at_start(program.kind(where.buffer))) {
            return accesses.refuse_item("at the start: " + text + " is not there before it is written",
                                        where.buffer);
        }
        if (!replay.put_at_start(bytes)) {
            return accesses.refuse_item(
                "at the start: " + text + " overlaps another at " + replay.place_text(bytes), where.buffer);
        }
        listed[where.buffer] = 1;
    }
    for (operator_index op = 0; op < program.operator_count(); ++op) {
        const std::span<const buffer_index> reads = program.reads(op);
        for (std::size_t k = 0; k < reads.size(); ++k) {
            const buffer_index b = reads[k];
            if (listed[b] != 0 || program.bytes(b) == 0 || !is_alive_at_start(program.kind(b))) continue;
            if (replay.versions().before(op, k) != 0) continue;
            return accesses.refuse_item(
                "at the start: " + accesses.item_text(b) + " has no place, and an operator reads it", b);
        }
    }
    return std::nullopt;
}

/// Places at the end, and what must not have been lost.
template <class = void>
[[nodiscard]] std::optional<verdict> check_ends(const tensor_graph& program, const turnip::memgraph& graph,
                                                const memgraph_accesses& accesses,
                                                const memgraph_replay& replay) {
    const std::size_t buffers = program.buffer_count();
    std::vector<std::uint8_t> ends(buffers, 0);
    const auto no = [&](buffer_index b, const std::string& rule) {
        return accesses.refuse_item(accesses.item_text(b) + " " + rule, b);
    };
    for (const turnip::residence& where : graph.final) {
        byte_access bytes;
        if (auto bad = residence_bytes(program, accesses, where, "at the end", bytes)) return bad;
        ends[where.buffer] = 1;
        if (replay.holds(bytes, replay.versions().last(where.buffer))) continue;
        return no(where.buffer, "does not end there in version " +
                                    std::to_string(replay.versions().last(where.buffer)) + ": " +
                                    replay.what_is_there(bytes));
    }
    std::vector<std::uint8_t> intact(buffers, 0);  // 1: listed at the start, 2: its contents are still there
    for (const turnip::residence& where : graph.start) {
        byte_access bytes;
        if (auto bad = residence_bytes(program, accesses, where, "at the start", bytes)) return bad;
        const buffer_index b = where.buffer;
        intact[b] |= 1U;
        if (replay.holds(bytes, 0)) intact[b] |= 2U;
        const bool comes_back = is_persistent(program.kind(b)) && program.kind(b) != buffer_kind::input;
        if (!graph.repeatable || !comes_back || replay.holds(bytes, replay.versions().last(b))) continue;
        return no(b, "does not end where it began, at " + replay.place_text(bytes) +
                         ", but the memgraph is called repeatable");
    }
    for (buffer_index b = 0; b < buffers; ++b) {
        if (program.bytes(b) == 0 || ends[b] != 0) continue;
        const buffer_kind kind = program.kind(b);
        const bool written = replay.versions().last(b) > 0;
        if (written && (kind == buffer_kind::output || is_persistent(kind))) {
            return no(b, "is written, and the memgraph does not say where it ends");
        }
        if (is_persistent(kind) && kind != buffer_kind::input && intact[b] == 1) {
            return no(b, "is overwritten, and the memgraph does not say where it ends");
        }
    }
    return std::nullopt;
}

/// What a taskgraph asks for beside its program.
template <class = void>
[[nodiscard]] std::optional<verdict> check_tasks(const turnip::taskgraph& tasks,
                                                 const turnip::memgraph& graph) {
    const tensor_graph& program = tasks.program;
    const auto memory = [](turnip::memory_index m) {
        return m == turnip::host ? std::string("the host") : "device " + std::to_string(m);
    };
    if (graph.arena_bytes.size() != tasks.devices) {
        return refuse("the memgraph has " + std::to_string(graph.arena_bytes.size()) +
                      " devices, the taskgraph " + std::to_string(tasks.devices));
    }
    for (const turnip::vertex& v : graph.vertices) {
        if (v.kind != turnip::vertex_kind::op || v.device == tasks.placement[v.op]) continue;
        const subject op = program.describe_operator(v.op);
        return refuse(op.text("operator") + " runs on device " + std::to_string(v.device) +
                          ", the taskgraph places it on device " + std::to_string(tasks.placement[v.op]),
                      {op});
    }
    std::vector<std::uint8_t> seen(program.buffer_count(), 0);  // 1: where the taskgraph says, 2: elsewhere
    for (const bool at_end : {false, true}) {
        const std::vector<turnip::memory_index>& wanted = at_end ? tasks.finish : tasks.start;
        const std::vector<turnip::residence>& places = at_end ? graph.final : graph.start;
        std::fill(seen.begin(), seen.end(), std::uint8_t{0});
        for (const turnip::residence& where : places) {
            // A buffer that is to start on a device may have a copy on the host as well.
            const turnip::memory_index asked = wanted[where.buffer];
            const bool right = asked == turnip::anywhere || asked == where.memory;
            const bool copy = !at_end && asked != turnip::host && where.memory == turnip::host;
            seen[where.buffer] |= right ? 1U : copy ? 0U : 2U;
        }
        for (const turnip::residence& where : places) {
            if (seen[where.buffer] == 1 || program.bytes(where.buffer) == 0) continue;
            const subject buffer = program.describe_buffer(where.buffer);
            return refuse(buffer.text("buffer") + (at_end ? " ends on " : " starts on ") +
                              memory(where.memory) + ", the taskgraph says " + memory(wanted[where.buffer]),
                          {}, {buffer});
        }
    }
    if (tasks.repeatable && !graph.repeatable) return refuse("the memgraph is not repeatable");
    return std::nullopt;
}

/// By device: the largest end of an access or residence.
template <class = void>
[[nodiscard]] std::vector<std::int64_t> used_bytes(const turnip::memgraph& graph,
                                                   const memgraph_accesses& accesses) {
    std::vector<std::int64_t> used(accesses.memories(), 0);
    for (std::uint32_t v = 0; v < graph.vertices.size(); ++v) {
        for (const byte_access& access : accesses.of(v))
            used[access.memory] = std::max(used[access.memory], access.last);
    }
    for (const std::vector<turnip::residence>* list : {&graph.start, &graph.final}) {
        for (const turnip::residence& where : *list) {
            const std::uint32_t m = where.memory == turnip::host ? accesses.devices() : where.memory;
            if (where.address < 0) continue;
            used[m] = std::max(used[m], where.address + accesses.bytes_of(where.buffer));
        }
    }
    used.pop_back();
    return used;
}

}  // namespace stowage::verify::detail
