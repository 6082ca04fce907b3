#pragma once
// A Boost.Graph graph as a tensor program: vertices are operators, in a topological order; tensors are the
// edges, or each vertex has one result that all its neighbours read.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/graph/graph_traits.hpp>
#include <boost/property_map/property_map.hpp>

#include <stowage/error.hpp>
#include <stowage/graph/program.hpp>

namespace stowage::interop {

/// A graph that was to become a program has a cycle.
class cycle_error : public program_error {
public:
    /// `cycle` names its vertices by their places in vertices(g), each once, in the direction of the edges.
    explicit cycle_error(std::vector<subject> cycle)
        : program_error(make_rule(cycle), cycle.empty() ? subject{} : cycle.front()),
          cycle_(std::move(cycle)) {}
    /// The vertices of the cycle.
    [[nodiscard]] const std::vector<subject>& cycle() const noexcept { return cycle_; }

private:
    static std::string make_rule(const std::vector<subject>& cycle) {
        constexpr std::size_t most = 8;
        std::string text = "it lies on a cycle: ";
        for (std::size_t i = 0; i < std::min(cycle.size(), most); ++i)
            text += label(cycle[i]) + " -> ";
        if (cycle.size() > most) text += "... (" + std::to_string(cycle.size()) + " in all) -> ";
        return text + (cycle.empty() ? "" : label(cycle.front()));
    }
    static std::string label(const subject& vertex) {
        return vertex.name.empty() ? std::to_string(vertex.index) : vertex.name;
    }
    std::vector<subject> cycle_;
};

/// A program made of a graph, and what its operators and buffers were there.
template <class Graph>
struct imported_program {
    stowage::program program;  ///< operators in a topological order: of those ready, the first in vertices(g)
    std::vector<typename boost::graph_traits<Graph>::vertex_descriptor> vertex_of_operator;
    /// The edge that each buffer stands for; empty where buffers are vertices' results (buffer i of operator
    /// i).
    std::vector<typename boost::graph_traits<Graph>::edge_descriptor> edge_of_buffer;
};

/// How a graph becomes a program.
struct import_options {
    bool unread_is_output = true;  ///< a result that no vertex reads stays to the end; else it dies at once
};

/// A graph of Boost.Graph that can be read: directed, models of VertexListGraph and IncidenceGraph.
template <class Graph>
concept importable_graph =
    std::convertible_to<typename boost::graph_traits<Graph>::directed_category, boost::directed_tag> &&
    std::convertible_to<typename boost::graph_traits<Graph>::traversal_category,
                        boost::vertex_list_graph_tag> &&
    std::convertible_to<typename boost::graph_traits<Graph>::traversal_category, boost::incidence_graph_tag>;

namespace detail {

/// The value that a callable or a readable property map gives for `key`.
template <class Map, class Key>
[[nodiscard]] decltype(auto) value_at(const Map& map, const Key& key) {
    if constexpr (std::invocable<const Map&, const Key&>) {
        return std::invoke(map, key);
    } else if constexpr (std::is_pointer_v<Map>) {
        return map[key];
    } else {
        using boost::get;
        return get(map, key);
    }
}

/// Gives every vertex an empty name.
struct no_names {
    std::string operator()(const auto&) const { return {}; }
};

/// The vertices and edges of a graph by number, in the order in which it lists them.
template <class Graph>
class numbered_graph {
public:
    using traits = boost::graph_traits<Graph>;
    using vertex = typename traits::vertex_descriptor;
    using edge = typename traits::edge_descriptor;

    explicit numbered_graph(const Graph& graph) {
        using namespace boost;  // some models keep their functions there, where their types are elsewhere
        for (auto [at, end] = vertices(graph); at != end; ++at) {
            number_.emplace(*at, vertices_.size());
            vertices_.push_back(*at);
        }
        begin_.reserve(vertices_.size() + 1);
        for (const vertex& from : vertices_) {
            for (auto [at, end] = out_edges(from, graph); at != end; ++at) {
                edges_.push_back(*at);
                targets_.push_back(number_.at(target(*at, graph)));
            }
            begin_.push_back(edges_.size());
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return vertices_.size(); }
    [[nodiscard]] const vertex& vertex_at(std::size_t v) const { return vertices_[v]; }
    [[nodiscard]] const edge& edge_at(std::size_t e) const { return edges_[e]; }
    [[nodiscard]] std::size_t target_of(std::size_t e) const { return targets_[e]; }
    /// The edges that leave v have the numbers begin(v) to begin(v + 1) - 1.
    [[nodiscard]] std::size_t begin(std::size_t v) const { return begin_[v]; }

    /// A topological order, of the vertices that are ready always the least; shorter than size()
    /// if there is a cycle. O((n + m) log n).
    [[nodiscard]] std::vector<std::size_t> topological_order() const {
        std::vector<std::size_t> waits(size(), 0), order;
        for (const std::size_t v : targets_)
            ++waits[v];
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
        for (std::size_t v = 0; v < size(); ++v)
            if (waits[v] == 0) ready.push(v);
        while (!ready.empty()) {
            const std::size_t v = ready.top();
            ready.pop();
            order.push_back(v);
            for (std::size_t e = begin(v); e < begin(v + 1); ++e)
                if (--waits[targets_[e]] == 0) ready.push(targets_[e]);
        }
        return order;
    }

    /// Some cycle, in the direction of the edges; empty if there is none. O(n + m), without recursion.
    [[nodiscard]] std::vector<std::size_t> find_cycle() const {
        enum class colour : unsigned char { white, open, done };
        std::vector<colour> colours(size(), colour::white);
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1), path;
        for (std::size_t root = 0; root < size(); ++root) {
            if (colours[root] != colour::white) continue;
            path.assign(1, root);
            colours[root] = colour::open;
            while (!path.empty()) {
                const std::size_t v = path.back();
                if (next[v] == begin(v + 1)) {
                    colours[v] = colour::done;
                    path.pop_back();
                    continue;
                }
                const std::size_t w = targets_[next[v]++];
                if (colours[w] == colour::open) {
                    path.erase(path.begin(), std::find(path.begin(), path.end(), w));
                    return path;
                }
                if (colours[w] == colour::done) continue;
                colours[w] = colour::open;
                path.push_back(w);
            }
        }
        return {};
    }

private:
    std::unordered_map<vertex, std::size_t, boost::hash<vertex>> number_;
    std::vector<vertex> vertices_;
    std::vector<edge> edges_;
    std::vector<std::size_t> targets_;
    std::vector<std::size_t> begin_ = {0};
};

/// Adds a buffer of the size that `bytes` gives for `key`.
template <class Bytes, class Key>
buffer_id add_tensor(program& program, const Bytes& bytes, const Key& key, std::string name,
                     buffer_kind kind) {
    const auto size = value_at(bytes, key);
    static_assert(std::integral<std::remove_cvref_t<decltype(size)>>, "sizes are integers of bytes");
    if (!std::in_range<std::int64_t>(size))
        throw program_error("its size is beyond 2^63 - 1", {}, {program.buffers().size(), std::move(name)});
    return program.add_buffer(
        {.bytes = static_cast<std::int64_t>(size), .kind = kind, .name = std::move(name)});
}

template <class Graph, class Names>
[[nodiscard]] std::vector<std::size_t> order_or_cycle(const numbered_graph<Graph>& graph,
                                                      const Names& names) {
    std::vector<std::size_t> order = graph.topological_order();
    if (order.size() == graph.size()) return order;
    std::vector<subject> cycle;
    for (const std::size_t v : graph.find_cycle())
        cycle.push_back({v, std::string(value_at(names, graph.vertex_at(v)))});
    throw cycle_error(std::move(cycle));
}

}  // namespace detail

/// Makes a program in which each edge of `graph` is a tensor from its source to its target. `bytes` is a
/// callable or a readable property map from edges to integers, `names` one from vertices to text. O((n + m)
/// log n) time, O(n + m) memory. Throws cycle_error naming a cycle, program_error for a size that is negative
/// or beyond 2^63 - 1.
template <importable_graph Graph, class Bytes, class Names = detail::no_names>
[[nodiscard]] imported_program<Graph> program_from_edges(const Graph& graph, const Bytes& bytes,
                                                         const Names& names = {}) {
    const detail::numbered_graph<Graph> numbered(graph);
    const std::vector<std::size_t> order = detail::order_or_cycle(numbered, names);
    imported_program<Graph> result;
    std::vector<std::vector<buffer_id>> reads(numbered.size());
    for (const std::size_t v : order) {
        operator_options op{.name = std::string(detail::value_at(names, numbered.vertex_at(v))),
                            .reads = std::move(reads[v])};
        for (std::size_t e = numbered.begin(v); e < numbered.begin(v + 1); ++e) {
            const buffer_id tensor = detail::add_tensor(result.program, bytes, numbered.edge_at(e), op.name,
                                                        buffer_kind::intermediate);
            op.writes.push_back(tensor);
            reads[numbered.target_of(e)].push_back(tensor);
            result.edge_of_buffer.push_back(numbered.edge_at(e));
        }
        result.program.add_operator(std::move(op));
        result.vertex_of_operator.push_back(numbered.vertex_at(v));
    }
    return result;
}

/// Makes a program in which each vertex of `graph` makes one tensor, which the targets of its edges read.
/// `bytes` is a callable or a readable property map from vertices to integers, `names` one from vertices to
/// text. O((n + m) log n) time, O(n + m) memory. Throws cycle_error naming a cycle, program_error for a size
/// that is negative or beyond 2^63 - 1.
template <importable_graph Graph, class Bytes, class Names = detail::no_names>
[[nodiscard]] imported_program<Graph> program_from_vertices(const Graph& graph, const Bytes& bytes,
                                                            const Names& names = {},
                                                            const import_options& options = {}) {
    const detail::numbered_graph<Graph> numbered(graph);
    const std::vector<std::size_t> order = detail::order_or_cycle(numbered, names);
    imported_program<Graph> result;
    std::vector<std::vector<buffer_id>> reads(numbered.size());
    for (const std::size_t v : order) {
        const bool unread = numbered.begin(v) == numbered.begin(v + 1);
        operator_options op{.name = std::string(detail::value_at(names, numbered.vertex_at(v))),
                            .reads = std::move(reads[v])};
        const buffer_kind kind =
            unread && options.unread_is_output ? buffer_kind::output : buffer_kind::intermediate;
        const buffer_id tensor =
            detail::add_tensor(result.program, bytes, numbered.vertex_at(v), op.name, kind);
        op.writes.push_back(tensor);
        for (std::size_t e = numbered.begin(v); e < numbered.begin(v + 1); ++e) {
            std::vector<buffer_id>& of_target = reads[numbered.target_of(e)];
            if (of_target.empty() || of_target.back() != tensor) of_target.push_back(tensor);
        }
        result.program.add_operator(std::move(op));
        result.vertex_of_operator.push_back(numbered.vertex_at(v));
    }
    return result;
}

}  // namespace stowage::interop
