#pragma once
// Replays a memgraph in one legal order over a map of every memory's bytes, for its verifier: what each byte
// holds (a buffer in a version), who wrote it and who has read it since. It finds the first operator that
// reads the wrong contents, and gathers the pairs of vertices that a path must order.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/verify/detail/memgraph_accesses.hpp>
#include <stowage/verify/detail/memgraph_paths.hpp>

namespace stowage::verify::detail {

/// A buffer's contents between two writes; version 0 is what it holds at the start.
struct contents {
    std::uint32_t item = 0;     ///< a buffer, or a workspace that holds nothing of use
    std::uint32_t version = 0;  ///< number of operators, in program order, that have written it
    friend bool operator==(const contents&, const contents&) = default;
};

/// Which versions every operator reads and leaves, by the program.
template <class = void>
class basic_program_versions {
public:
    explicit basic_program_versions(const tensor_graph& program) : last_(program.buffer_count(), 0) {
        std::vector<operator_index> written_by(program.buffer_count(), no_operator);
        for (operator_index op = 0; op < program.operator_count(); ++op) {
            begin_.push_back(before_.size());
            for (const buffer_index b : program.accesses(op))
                before_.push_back(last_[b]);
            for (const buffer_index b : program.writes(op)) {
                if (written_by[b] == op) continue;  // listed twice
                written_by[b] = op;
                ++last_[b];
            }
        }
    }
    /// Version of the k-th access of `op` (reads, then writes) before `op` runs.
    [[nodiscard]] std::uint32_t before(operator_index op, std::size_t k) const noexcept {
        return before_[begin_[op] + k];
    }
    /// Version at the end of the program.
    [[nodiscard]] std::uint32_t last(buffer_index buffer) const noexcept { return last_[buffer]; }

private:
    std::vector<std::size_t> begin_;  // by operator
    std::vector<std::uint32_t> before_;
    std::vector<std::uint32_t> last_;
};
using program_versions = basic_program_versions<>;

/// Two vertices that touch a common byte, one of them writing.
struct ordered_pair {
    std::uint32_t first = 0;  ///< runs first in the order that was replayed
    std::uint32_t second = 0;
    std::size_t access = 0;  ///< of `second`, in the table of accesses
    bool first_writes = false;
};

template <class = void>
class basic_memgraph_replay {
public:
    static constexpr std::uint32_t at_start = ~std::uint32_t{0};  ///< stands for the vertex that wrote it

    basic_memgraph_replay(const tensor_graph& program, const turnip::memgraph& graph,
                          const memgraph_accesses& accesses)
        : program_(program), graph_(graph), accesses_(accesses), versions_(program),
          bytes_(accesses.memories()), moved_(graph.vertices.size(), 0) {}

    /// Contents that are there at the start; false if some of these bytes are taken already.
    [[nodiscard]] bool put_at_start(const byte_access& where) {
        if (where.first == where.last) return true;
        auto& map = bytes_[where.memory];
        auto next = map.upper_bound(where.first);
        if (next != map.begin() && std::prev(next)->second.last > where.first) return false;
        if (next != map.end() && next->first < where.last) return false;
        map.emplace(where.first, piece{where.last, at_start, 0, {where.item, 0}});
        return true;
    }

    /// True if exactly these bytes hold the buffer in that version, whole.
    [[nodiscard]] bool holds(const byte_access& where, std::uint32_t version) const {
        if (where.first == where.last) return true;
        const auto found = bytes_[where.memory].find(where.first);
        return found != bytes_[where.memory].end() && found->second.last == where.last &&
               found->second.held == contents{where.item, version};
    }

    /// Runs `v`. Returns an empty text, or what it misreads.
    [[nodiscard]] std::string run(std::uint32_t v) {
        const std::span<const byte_access> row = accesses_.of(v);
        const bool moves = graph_.vertices[v].kind != turnip::vertex_kind::op;
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (row[k].writes || row[k].first == row[k].last) continue;
            const auto found = bytes_[row[k].memory].find(row[k].first);
            const bool there = found != bytes_[row[k].memory].end() && found->second.last == row[k].last &&
                               found->second.held.item == row[k].item;
            if (!there) return what_is_there(row[k]);
            const std::uint32_t version = found->second.held.version;
            if (moves) {
                moved_[v] = version;
            } else if (const std::uint32_t wanted = expected(v, row[k].item); version != wanted) {
                return "reads version " + std::to_string(version) + " of " +
                       accesses_.item_text(row[k].item) + " at " + place_text(row[k]) +
                       ", but the program gives it version " + std::to_string(wanted);
            }
            piece& at = found->second;
            if (at.writer != at_start) pairs_.push_back({at.writer, v, accesses_.first_access(v) + k, true});
            readers_.push_back({v, at.readers});
            at.readers = static_cast<std::uint32_t>(readers_.size());
        }
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (!row[k].writes || row[k].first == row[k].last) continue;
            write(v, k, {row[k].item, moves ? moved_[v] : left_by(v, row[k].item)});
        }
        return {};
    }

    /// What must be ordered, in the order in which it was found.
    [[nodiscard]] const std::vector<ordered_pair>& pairs() const noexcept { return pairs_; }
    [[nodiscard]] const program_versions& versions() const noexcept { return versions_; }
    /// Version that the move `v` has copied.
    [[nodiscard]] std::uint32_t moved(std::uint32_t v) const noexcept { return moved_[v]; }
    /// "bytes [8, 16) of device 0".
    [[nodiscard]] std::string place_text(const byte_access& where) const {
        return "bytes [" + std::to_string(where.first) + ", " + std::to_string(where.last) + ") of " +
               accesses_.memory_text(where.memory);
    }
    /// What the bytes of `where` hold instead of its item, whole.
    [[nodiscard]] std::string what_is_there(const byte_access& where) const {
        const std::string start =
            accesses_.item_text(where.item) + " is not whole at " + place_text(where) + ": ";
        const auto& map = bytes_[where.memory];
        auto next = map.upper_bound(where.first);
        if (next != map.begin() && std::prev(next)->second.last > where.first) --next;
        for (; next != map.end() && next->first < where.last; ++next) {
            const contents& held = next->second.held;
            if (held.item == where.item && next->first == where.first && next->second.last == where.last) {
                return start + "it is there in version " + std::to_string(held.version);
            }
            if (held.item != where.item || next->first != where.first) {
                return start + "there lies " + accesses_.item_text(held.item);
            }
        }
        return start + "parts of it hold nothing";
    }

private:
    /// Bytes with one story; `first` is the key in the map.
    struct piece {
        std::int64_t last = 0;
        std::uint32_t writer = at_start;
        std::uint32_t readers = 0;  // position after the head of a list in readers_; 0: none
        contents held = {};
    };
    struct reader {
        std::uint32_t vertex = 0;
        std::uint32_t next = 0;  // as piece::readers
    };

    [[nodiscard]] std::uint32_t expected(std::uint32_t v, std::uint32_t item) {
        return lookup(v, item).first;
    }
    [[nodiscard]] std::uint32_t left_by(std::uint32_t v, std::uint32_t item) {
        return item < program_.buffer_count() ? lookup(v, item).first + 1 : 0;
    }
    /// Version of `item` before the operator of `v`.
    [[nodiscard]] std::pair<std::uint32_t, bool> lookup(std::uint32_t v, std::uint32_t item) {
        const operator_index op = graph_.vertices[v].op;
        if (known_operator_ != op) {
            known_operator_ = op;
            known_.clear();
            const std::span<const buffer_index> row = program_.accesses(op);
            for (std::size_t k = 0; k < row.size(); ++k)
                known_[row[k]] = versions_.before(op, k);
        }
        const auto found = known_.find(item);
        return {found == known_.end() ? 0 : found->second, found != known_.end()};
    }

    /// Takes the bytes of access `k` of `v`: every earlier user must come first.
    void write(std::uint32_t v, std::size_t k, contents made) {
        const std::size_t index = accesses_.first_access(v) + k;
        const byte_access& where = accesses_.access(index);
        auto& map = bytes_[where.memory];
        auto at = map.upper_bound(where.first);
        if (at != map.begin()) --at;
        while (at != map.end() && at->first < where.last) {
            const piece old = at->second;
            const std::int64_t first = at->first;
            if (old.last <= where.first) {
                ++at;
                continue;
            }
            // Who reads has a path from the writer: then the readers' paths are enough.
            if (old.readers == 0 && old.writer != at_start && old.writer != v) {
                pairs_.push_back({old.writer, v, index, true});
            }
            for (std::uint32_t r = old.readers; r != 0; r = readers_[r - 1].next) {
                if (readers_[r - 1].vertex != v) pairs_.push_back({readers_[r - 1].vertex, v, index, false});
            }
            at = map.erase(at);
            if (first < where.first) {
                piece left = old;
                left.last = where.first;
                map.emplace_hint(at, first, left);
            }
            if (old.last > where.last) {
                at = map.emplace_hint(at, where.last, old);
                break;
            }
        }
        map.emplace(where.first, piece{where.last, v, 0, made});
    }

    const tensor_graph& program_;
    const turnip::memgraph& graph_;
    const memgraph_accesses& accesses_;
    program_versions versions_;
    std::vector<std::map<std::int64_t, piece>> bytes_;  // by memory; pieces do not overlap
    std::vector<reader> readers_;
    std::vector<ordered_pair> pairs_;
    std::vector<std::uint32_t> moved_;  // by vertex, of moves
    std::map<std::uint32_t, std::uint32_t> known_;
    operator_index known_operator_ = no_operator;
};
using memgraph_replay = basic_memgraph_replay<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_memgraph_replay<>;
#endif

}  // namespace stowage::verify::detail
