#pragma once
// A tensor_graph as models of Boost.Graph's concepts, without a copy. Vertices are operators, named by
// std::size_t, since transitive_closure takes nothing else; the types are nested in the classes, since
// transitive_reduction asks the graph for its out_edge_iterator and not graph_traits.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/property_map.hpp>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/interop/detail/graph_iterators.hpp>

namespace stowage::interop {

namespace detail {

/// What both views share: the vertices, and where the edges of each operator begin in the numbering of edges.
class operator_view {
public:
    using vertex_descriptor = std::size_t;
    using edge_descriptor = dependency;
    using vertices_size_type = std::size_t;
    using edges_size_type = std::size_t;
    using degree_size_type = std::size_t;
    using vertex_iterator = boost::counting_iterator<std::size_t>;
    using edge_parallel_category = boost::disallow_parallel_edge_tag;
    [[nodiscard]] static constexpr std::size_t null_vertex() noexcept {
        return std::numeric_limits<std::size_t>::max();
    }

    explicit operator_view(const tensor_graph& graph)
        : graph_(&graph), first_edge_(graph.operator_count() + 1, 0) {
        for (operator_index op = 0; op < graph.operator_count(); ++op)
            first_edge_[op + 1] = first_edge_[op] + graph.successors(op).size();
    }
    explicit operator_view(tensor_graph&&) = delete;

    /// The graph that is seen.
    [[nodiscard]] const tensor_graph& graph() const noexcept { return *graph_; }
    /// Number of dependencies.
    [[nodiscard]] std::size_t dependency_count() const noexcept { return first_edge_.back(); }
    /// The place of the dependency (from, to), from < to, among all: ordered by `from`, then by `to`. O(log
    /// degree).
    [[nodiscard]] std::size_t dependency_index(std::size_t from, std::size_t to) const {
        const auto row = graph_->successors(static_cast<operator_index>(from));
        const auto found = std::lower_bound(row.begin(), row.end(), to);
        return first_edge_[from] + static_cast<std::size_t>(found - row.begin());
    }

private:
    const tensor_graph* graph_;
    std::vector<std::size_t> first_edge_;
};

[[nodiscard]] inline std::span<const operator_index> successors(const operator_view& view, std::size_t v) {
    return view.graph().successors(static_cast<operator_index>(v));
}
[[nodiscard]] inline std::span<const operator_index> predecessors(const operator_view& view, std::size_t v) {
    return view.graph().predecessors(static_cast<operator_index>(v));
}

/// Gives each edge of a view its number, from 0.
template <class View>
class edge_index_map {
public:
    using key_type = dependency;
    using value_type = std::size_t;
    using reference = std::size_t;
    using category = boost::readable_property_map_tag;
    edge_index_map() = default;
    explicit edge_index_map(const View& view) noexcept : view_(&view) {}
    friend std::size_t get(const edge_index_map& map, const dependency& edge) {
        return map.view_->index_of(edge);
    }

private:
    const View* view_ = nullptr;
};

}  // namespace detail

/// The dependencies of a tensor_graph as a Boost.Graph graph: an edge (u, v) says that v runs after u. Models
/// VertexListGraph, EdgeListGraph, BidirectionalGraph and AdjacencyGraph, with the property maps vertex_index
/// and edge_index (0 to num_edges - 1). Making one takes O(n); every call is O(1), an edge's index O(log
/// degree). The tensor_graph must outlive it; any number of threads may read it.
class dependency_graph : public detail::operator_view {
public:
    using directed_category = boost::bidirectional_tag;
    struct traversal_category : boost::vertex_list_graph_tag,
                                boost::edge_list_graph_tag,
                                boost::bidirectional_graph_tag,
                                boost::adjacency_graph_tag {};
    using out_edge_iterator = detail::row_iterator<detail::as_out_edge>;
    using in_edge_iterator = detail::row_iterator<detail::as_in_edge>;
    using adjacency_iterator = detail::row_iterator<detail::as_vertex>;
    using edge_iterator = detail::edge_list_iterator;

    using operator_view::operator_view;
    /// The number of an edge, from 0.
    [[nodiscard]] std::size_t index_of(const dependency& edge) const {
        return dependency_index(edge.from, edge.to);
    }

    friend std::pair<edge_iterator, edge_iterator> edges(const dependency_graph& g) {
        return {{g.graph(), 0}, {g.graph(), g.graph().operator_count()}};
    }
    friend std::size_t num_edges(const dependency_graph& g) { return g.dependency_count(); }
    friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(std::size_t v,
                                                                     const dependency_graph& g) {
        return detail::row_range<detail::as_out_edge>(v, successors(g, v));
    }
    friend std::pair<in_edge_iterator, in_edge_iterator> in_edges(std::size_t v, const dependency_graph& g) {
        return detail::row_range<detail::as_in_edge>(v, predecessors(g, v));
    }
    friend std::pair<adjacency_iterator, adjacency_iterator> adjacent_vertices(std::size_t v,
                                                                               const dependency_graph& g) {
        return detail::row_range<detail::as_vertex>(v, successors(g, v));
    }
    friend std::size_t out_degree(std::size_t v, const dependency_graph& g) {
        return successors(g, v).size();
    }
    friend std::size_t in_degree(std::size_t v, const dependency_graph& g) {
        return predecessors(g, v).size();
    }
    friend std::size_t degree(std::size_t v, const dependency_graph& g) {
        return out_degree(v, g) + in_degree(v, g);
    }
};

/// The dependencies of a tensor_graph with an edge each way, as Boost.Graph's max-flow algorithms ask for:
/// (u, v) for each dependency, numbered 0 to m - 1 as in dependency_graph, and its reverse (v, u), numbered m
/// higher. Models VertexListGraph and IncidenceGraph, with the property maps vertex_index, edge_index and
/// edge_reverse; capacities are the caller's (0 for the reverses). Costs and lifetimes as with
/// dependency_graph.
class flow_graph : public detail::operator_view {
public:
    using directed_category = boost::directed_tag;
    struct traversal_category : boost::vertex_list_graph_tag, boost::incidence_graph_tag {};
    using out_edge_iterator = detail::both_ways_iterator;
    using in_edge_iterator = void;
    using adjacency_iterator = void;
    using edge_iterator = void;

    using operator_view::operator_view;
    /// The number of an edge, from 0.
    [[nodiscard]] std::size_t index_of(const dependency& edge) const {
        return edge.from < edge.to ? dependency_index(edge.from, edge.to)
                                   : dependency_count() + dependency_index(edge.to, edge.from);
    }

    friend std::size_t num_edges(const flow_graph& g) { return 2 * g.dependency_count(); }
    friend std::size_t out_degree(std::size_t v, const flow_graph& g) {
        return successors(g, v).size() + predecessors(g, v).size();
    }
    friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(std::size_t v, const flow_graph& g) {
        return {{g.graph(), v, 0}, {g.graph(), v, out_degree(v, g)}};
    }
};

/// Maps an edge of a flow_graph to its reverse.
struct reverse_edge_map {
    using key_type = dependency;
    using value_type = dependency;
    using reference = dependency;
    using category = boost::readable_property_map_tag;
    friend dependency get(const reverse_edge_map&, const dependency& edge) noexcept {
        return {edge.to, edge.from};
    }
};

// The functions that both views share; found by argument-dependent lookup, as Boost.Graph's are.
[[nodiscard]] inline std::size_t source(const dependency& edge, const detail::operator_view&) noexcept {
    return edge.from;
}
[[nodiscard]] inline std::size_t target(const dependency& edge, const detail::operator_view&) noexcept {
    return edge.to;
}

namespace detail {
[[nodiscard]] inline std::size_t num_vertices(const operator_view& g) noexcept {
    return g.graph().operator_count();
}
[[nodiscard]] inline std::pair<operator_view::vertex_iterator, operator_view::vertex_iterator> vertices(
    const operator_view& g) noexcept {
    return {operator_view::vertex_iterator(0), operator_view::vertex_iterator(g.graph().operator_count())};
}
[[nodiscard]] inline boost::typed_identity_property_map<std::size_t> get(boost::vertex_index_t,
                                                                         const operator_view&) noexcept {
    return {};
}
[[nodiscard]] inline std::size_t get(boost::vertex_index_t, const operator_view&, std::size_t v) noexcept {
    return v;
}
}  // namespace detail

/// The property maps edge_index and edge_reverse.
[[nodiscard]] inline detail::edge_index_map<dependency_graph> get(boost::edge_index_t,
                                                                  const dependency_graph& g) noexcept {
    return detail::edge_index_map<dependency_graph>(g);
}
[[nodiscard]] inline detail::edge_index_map<flow_graph> get(boost::edge_index_t,
                                                            const flow_graph& g) noexcept {
    return detail::edge_index_map<flow_graph>(g);
}
[[nodiscard]] inline reverse_edge_map get(boost::edge_reverse_t, const flow_graph&) noexcept {
    return {};
}

/// The same for one edge.
[[nodiscard]] inline std::size_t get(boost::edge_index_t, const dependency_graph& g, const dependency& edge) {
    return g.index_of(edge);
}
[[nodiscard]] inline std::size_t get(boost::edge_index_t, const flow_graph& g, const dependency& edge) {
    return g.index_of(edge);
}
[[nodiscard]] inline dependency get(boost::edge_reverse_t, const flow_graph&,
                                    const dependency& edge) noexcept {
    return {edge.to, edge.from};
}

}  // namespace stowage::interop

// Where Boost.Graph looks up the types of property maps.
template <>
struct boost::property_map<stowage::interop::dependency_graph, boost::vertex_index_t> {
    using type = boost::typed_identity_property_map<std::size_t>;
    using const_type = type;
};
template <>
struct boost::property_map<stowage::interop::flow_graph, boost::vertex_index_t> {
    using type = boost::typed_identity_property_map<std::size_t>;
    using const_type = type;
};
template <>
struct boost::property_map<stowage::interop::dependency_graph, boost::edge_index_t> {
    using type = stowage::interop::detail::edge_index_map<stowage::interop::dependency_graph>;
    using const_type = type;
};
template <>
struct boost::property_map<stowage::interop::flow_graph, boost::edge_index_t> {
    using type = stowage::interop::detail::edge_index_map<stowage::interop::flow_graph>;
    using const_type = type;
};
template <>
struct boost::property_map<stowage::interop::flow_graph, boost::edge_reverse_t> {
    using type = stowage::interop::reverse_edge_map;
    using const_type = type;
};
