#pragma once
// Checks a memgraph against its program: whatever legal order an executor runs it in, every operator reads
// what the program gives it and everything ends where it must. The proof: no cycle; every two vertices that
// touch a common byte, one of them writing, are ordered by a path; and in one legal order every operator
// reads the right versions, so that it does in all. Source: the safe overwrite of Turnip (arXiv 2405.16283),
// said of bytes. Shares no code with turnip::compile.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/memgraph.hpp>
#include <stowage/turnip/taskgraph.hpp>
#include <stowage/verify/detail/memgraph_accesses.hpp>
#include <stowage/verify/detail/memgraph_ends.hpp>
#include <stowage/verify/detail/memgraph_paths.hpp>
#include <stowage/verify/detail/memgraph_replay.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify {

/// What a memgraph is held to beside its program.
struct memgraph_limits {
    std::vector<std::int64_t> capacities = {};       ///< by device: its arena is no larger; empty: any size
    std::optional<std::int64_t> host_capacity = {};  ///< the host's arena is no larger; nothing: any size
    bool superfluous_edges = false;  ///< true: memory and control edges may be implied by longer paths
};

namespace detail {

/// Edges between vertices that exist, none twice, none from a vertex to itself.
template <class = void>
[[nodiscard]] std::optional<verdict> check_edge_table(const turnip::memgraph& graph) {
    std::vector<std::uint64_t> pairs;
    pairs.reserve(graph.edges.size());
    for (const turnip::edge& e : graph.edges) {
        const std::string text = "edge " + std::to_string(e.from) + " -> " + std::to_string(e.to);
        if (std::max(e.from, e.to) >= graph.vertices.size()) {
            return refuse(text + ": there are only " + std::to_string(graph.vertices.size()) + " vertices");
        }
        if (e.kind > turnip::edge_kind::control) return refuse(text + ": its kind does not exist");
        pairs.push_back(std::uint64_t{e.from} << 32U | e.to);
    }
    std::sort(pairs.begin(), pairs.end());
    const auto twice = std::adjacent_find(pairs.begin(), pairs.end());
    if (twice == pairs.end()) return std::nullopt;
    return refuse("edge " + std::to_string(*twice >> 32U) + " -> " + std::to_string(*twice & 0xffffffffU) +
                  " occurs twice");
}

template <class = void>
[[nodiscard]] verdict refuse_cycle(const memgraph_accesses& accesses, const vertex_order& order) {
    constexpr std::size_t shown = 8;
    const std::vector<std::uint32_t> cycle = order.cycle();
    std::string text = "a cycle: ";
    for (std::size_t i = 0; i < cycle.size() && i < shown; ++i)
        text += (i == 0 ? "" : " -> ") + accesses.vertex_text(cycle[i]);
    return accesses.refuse_item(text + (cycle.size() > shown ? " -> ..." : ""), ~std::uint32_t{0},
                                {cycle.front()});
}

/// The first of the pairs that no path orders.
template <class = void>
[[nodiscard]] std::optional<verdict> check_races(const vertex_order& order, const memgraph_accesses& accesses,
                                                 const memgraph_replay& replay) {
    std::vector<path_question> questions;
    questions.reserve(replay.pairs().size());
    for (const ordered_pair& pair : replay.pairs())
        questions.push_back({pair.first, pair.second});
    const std::vector<std::uint8_t> ordered = answer_paths(order, questions);
    const auto bad = std::find(ordered.begin(), ordered.end(), 0);
    if (bad == ordered.end()) return std::nullopt;
    const ordered_pair& pair = replay.pairs()[static_cast<std::size_t>(bad - ordered.begin())];
    const byte_access& access = accesses.access(pair.access);
    return accesses.refuse_item(
        "a race on " + replay.place_text(access) + ": " + accesses.vertex_text(pair.first) +
            (pair.first_writes ? " writes there, " : " reads there, ") + accesses.vertex_text(pair.second) +
            (access.writes ? " writes " : " reads ") + accesses.item_text(access.item) +
            ", and no path orders them",
        access.item, {pair.first, pair.second});
}

/// Operators that wait for each other by the program, but share no bytes for it.
template <class = void>
[[nodiscard]] std::optional<verdict> check_control(const tensor_graph& program, const vertex_order& order,
                                                   const memgraph_accesses& accesses) {
    const std::vector<operator_pair> pairs = pairs_without_bytes(program);
    std::vector<path_question> questions;
    questions.reserve(pairs.size());
    for (const operator_pair& pair : pairs)
        questions.push_back({accesses.vertex_of(pair.first), accesses.vertex_of(pair.second)});
    const std::vector<std::uint8_t> ordered = answer_paths(order, questions);
    const auto bad = std::find(ordered.begin(), ordered.end(), 0);
    if (bad == ordered.end()) return std::nullopt;
    const operator_pair& pair = pairs[static_cast<std::size_t>(bad - ordered.begin())];
    const subject first = program.describe_operator(pair.first);
    const subject second = program.describe_operator(pair.second);
    const bool by_buffer = pair.buffer < program.buffer_count();
    verdict no = refuse(second.text("operator") + " must run after " + first.text("operator") +
                            (by_buffer ? ", for " + accesses.item_text(pair.buffer) + " without bytes"
                                       : ", as the program says") +
                            ", and no path orders them",
                        {first, second});
    if (by_buffer) no.buffers.push_back(program.describe_buffer(pair.buffer));
    return no;
}

/// Contents that the vertices make and use, each row sorted, as (buffer, version).
template <class = void>
class basic_made_and_used {
public:
    basic_made_and_used(const tensor_graph& program, const turnip::memgraph& graph,
                        const memgraph_replay& replay) {
        for (std::uint32_t v = 0; v < graph.vertices.size(); ++v) {
            const turnip::vertex& at = graph.vertices[v];
            const auto begin = static_cast<std::ptrdiff_t>(list_.size());
            if (at.kind == turnip::vertex_kind::op) {
                const std::span<const buffer_index> row = program.accesses(at.op);
                const std::size_t reads = program.reads(at.op).size();
                for (std::size_t k = 0; k < row.size(); ++k) {
                    const std::uint64_t version = replay.versions().before(at.op, k);
                    add(row[k], version + (k < reads ? 0 : 1), k >= reads);
                }
            } else {
                add(graph.moved(v), replay.moved(v), true);
                add(graph.moved(v), replay.moved(v), false);
            }
            std::sort(list_.begin() + begin, list_.end());
            begin_.push_back(list_.size());
        }
    }
    /// True if `to` uses contents that `from` makes. O(both rows).
    [[nodiscard]] bool feeds(std::uint32_t from, std::uint32_t to) const {
        std::size_t i = begin_[from];
        std::size_t k = begin_[to];
        while (i < begin_[from + 1] && k < begin_[to + 1]) {
            if (!list_[i].made || list_[i].what < list_[k].what) {
                ++i;
            } else if (list_[k].made || list_[k].what < list_[i].what) {
                ++k;
            } else {
                return true;
            }
        }
        return false;
    }

private:
    struct entry {
        std::uint64_t what = 0;
        bool made = false;
        friend auto operator<=>(const entry&, const entry&) = default;
    };
    void add(buffer_index buffer, std::uint64_t version, bool made) {
        list_.push_back({std::uint64_t{buffer} << 32U | version, made});
    }
    std::vector<entry> list_;
    std::vector<std::size_t> begin_ = {0};
};
using made_and_used = basic_made_and_used<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_made_and_used<>;
#endif

/// Every edge is what it is called, and no memory or control edge is implied by a longer path.
template <class = void>
[[nodiscard]] std::optional<verdict> check_edge_kinds(
    const tensor_graph& program, const turnip::memgraph& graph, const vertex_order& order,
    const memgraph_accesses& accesses, const memgraph_replay& replay, bool may_be_superfluous) {
    const made_and_used flow(program, graph, replay);
    const sorted_accesses bytes(graph, accesses);
    std::vector<path_question> questions;
    const auto no = [&](std::uint32_t from, std::uint32_t to, const std::string& rule) {
        return accesses.refuse_item(
            "the edge from " + accesses.vertex_text(from) + " to " + accesses.vertex_text(to) + " " + rule,
            ~std::uint32_t{0}, {from, to});
    };
    for (const turnip::edge& e : graph.edges) {
        if (e.kind == turnip::edge_kind::data && !flow.feeds(e.from, e.to)) {
            return no(e.from, e.to, "is called data, but the second reads nothing that the first makes");
        }
        if (e.kind == turnip::edge_kind::memory && !bytes.clash(e.from, e.to)) {
            return no(e.from, e.to, "is called memory, but they share no byte that one of them writes");
        }
        if (e.kind != turnip::edge_kind::data && !may_be_superfluous) {
            questions.push_back({e.from, e.to, true});
        }
    }
    const std::vector<std::uint8_t> implied = answer_paths(order, questions);
    const auto bad = std::find(implied.begin(), implied.end(), 1);
    if (bad == implied.end()) return std::nullopt;
    const path_question& edge = questions[static_cast<std::size_t>(bad - implied.begin())];
    return no(edge.from, edge.to, "is superfluous: a longer path orders them");
}

template <class = void>
[[nodiscard]] std::optional<verdict> check_sizes(const turnip::memgraph& graph,
                                                 const memgraph_limits& limits) {
    if (!limits.capacities.empty() && limits.capacities.size() != graph.arena_bytes.size()) {
        return refuse(std::to_string(limits.capacities.size()) + " capacities for " +
                      std::to_string(graph.arena_bytes.size()) + " devices");
    }
    const auto passes = [](const std::string& who, std::int64_t arena, std::int64_t capacity) {
        return refuse("the arena of " + who + " has " + std::to_string(arena) + " bytes, its capacity is " +
                      std::to_string(capacity));
    };
    for (std::size_t d = 0; d < limits.capacities.size(); ++d) {
        if (graph.arena_bytes[d] > limits.capacities[d]) {
            return passes("device " + std::to_string(d), graph.arena_bytes[d], limits.capacities[d]);
        }
    }
    if (limits.host_capacity && graph.host_bytes > *limits.host_capacity) {
        return passes("the host", graph.host_bytes, *limits.host_capacity);
    }
    return std::nullopt;
}

}  // namespace detail

/// Checks a memgraph of `program`: the operands, addresses and order of every vertex, races, contents, the
/// places at start and end, the promise `repeatable`, and the kind and need of every edge. Any values are
/// safe to ask about. The verdict of a right one holds each device's used bytes in `arenas` and the largest
/// of them in `arena`. Memory O(operands + edges) beside 64 bytes a vertex; time O((operands + edges) log)
/// and, for paths, O(vertices * edges / 64) at worst.
///
/// An operator's device is held to the program's where the program names any device but 0.
template <class = void>
[[nodiscard]] verdict check_memgraph(const tensor_graph& program, const turnip::memgraph& graph,
                                     const memgraph_limits& limits = {}) {
    detail::memgraph_accesses accesses(program, graph);
    if (auto bad = accesses.check()) return *bad;
    if (auto bad = detail::check_edge_table(graph)) return *bad;
    if (auto bad = detail::check_sizes(graph, limits)) return *bad;
    if (auto bad = detail::check_placement(program, graph)) return *bad;
    const detail::vertex_order order(graph);
    if (order.has_cycle()) return detail::refuse_cycle(accesses, order);
    detail::memgraph_replay replay(program, graph, accesses);
    if (auto bad = detail::check_start(program, graph, accesses, replay)) return *bad;
    for (const std::uint32_t v : order.order()) {
        const std::string misread = replay.run(v);
        if (misread.empty()) continue;
        if (auto race = detail::check_races(order, accesses, replay)) return *race;
        return accesses.refuse_item(accesses.vertex_text(v) + ": " + misread, ~std::uint32_t{0}, {v});
    }
    if (auto bad = detail::check_races(order, accesses, replay)) return *bad;
    if (auto bad = detail::check_control(program, order, accesses)) return *bad;
    if (auto bad = detail::check_ends(program, graph, accesses, replay)) return *bad;
    if (auto bad =
            detail::check_edge_kinds(program, graph, order, accesses, replay, limits.superfluous_edges))
        return *bad;
    verdict good;
    good.arenas = detail::used_bytes(graph, accesses);
    for (const std::int64_t bytes : good.arenas)
        good.arena = std::max(good.arena, bytes);
    return good;
}

/// Checks a memgraph as above, and that it keeps what the taskgraph says: every operator on its device,
/// buffers where they are to start and to end, and `repeatable` where that is asked for.
template <class = void>
[[nodiscard]] verdict check_memgraph(const turnip::taskgraph& tasks, const turnip::memgraph& graph,
                                     const memgraph_limits& limits = {}) {
    const tensor_graph& program = tasks.program;
    if (tasks.placement.size() != program.operator_count() || tasks.start.size() != program.buffer_count() ||
        tasks.finish.size() != program.buffer_count()) {
        return detail::refuse("the taskgraph does not fit its program");
    }
    verdict found = check_memgraph(program, graph, limits);
    if (!found) return found;
    if (auto bad = detail::check_tasks(tasks, graph)) return *bad;
    return found;
}

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template verdict check_memgraph(const tensor_graph&, const turnip::memgraph&,
                                                  const memgraph_limits&);
STOWAGE_TEMPLATES template verdict check_memgraph(const turnip::taskgraph&, const turnip::memgraph&,
                                                  const memgraph_limits&);
#endif

}  // namespace stowage::verify
