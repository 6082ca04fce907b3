#include <stowage/interop/boost_graph.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/adjacency_matrix.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/graph/transitive_closure.hpp>
#include <boost/graph/transitive_reduction.hpp>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include "support/any_program.hpp"

using namespace stowage;
using interop::dependency;
using interop::dependency_graph;
using interop::flow_graph;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<dependency_graph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<dependency_graph>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<dependency_graph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<dependency_graph>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<dependency_graph>));
BOOST_CONCEPT_ASSERT(
    (boost::ReadablePropertyGraphConcept<dependency_graph, std::size_t, boost::vertex_index_t>));
BOOST_CONCEPT_ASSERT(
    (boost::ReadablePropertyGraphConcept<dependency_graph, dependency, boost::edge_index_t>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<flow_graph>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<flow_graph>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<flow_graph, dependency, boost::edge_reverse_t>));

using plain = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
static_assert(interop::importable_graph<plain> && interop::importable_graph<dependency_graph>);
using undirected = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
static_assert(!interop::importable_graph<undirected>);

namespace {

/// Random programs with one operator before all others, which a dominator tree and a flow start at.
tensor_graph rooted(detail::splitmix64& random, std::size_t operators) {
    program p;
    p.add_operator({.name = "entry"});
    const program body = test::any_program(random, {.operators = operators});
    for (const buffer_options& buffer : body.buffers())
        p.add_buffer(buffer);
    for (operator_options op : body.operators()) {
        for (operator_id& before : op.after)
            before = operator_id{static_cast<std::uint32_t>(before) + 1};
        op.after.push_back(operator_id{0});
        p.add_operator(op);
    }
    return make_tensor_graph(p);
}

std::vector<std::vector<bool>> paths(const tensor_graph& graph) {
    const std::size_t count = graph.operator_count();
    std::vector<std::vector<bool>> reach(count, std::vector<bool>(count, false));
    reachability all(graph);
    for (operator_index u = 0; u < count; ++u)
        for (operator_index v = 0; v < count; ++v)
            reach[u][v] = all.reaches(u, v);
    return reach;
}

template <class Act>
std::string message_of(Act act) {
    try {
        act();
    } catch (const error& caught) {
        return caught.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("edges and their numbers are the graph's dependencies") {
    detail::splitmix64 random(21);
    for (int round = 0; round < 50; ++round) {
        const tensor_graph graph = rooted(random, 20);
        const dependency_graph view(graph);
        const flow_graph flow(graph);
        CHECK(num_vertices(view) == graph.operator_count());
        REQUIRE(num_edges(view) == graph.dependency_count());
        std::size_t number = 0;
        for (const dependency& edge : boost::make_iterator_range(edges(view))) {
            CHECK(get(get(boost::edge_index, view), edge) == number);
            CHECK(get(get(boost::edge_index, flow), edge) == number);
            const dependency back = get(get(boost::edge_reverse, flow), edge);
            CHECK(back == dependency{edge.to, edge.from});
            CHECK(get(get(boost::edge_index, flow), back) == number + num_edges(view));
            ++number;
        }
        CHECK(number == num_edges(view));
        std::size_t entering = 0;
        for (const std::size_t v : boost::make_iterator_range(vertices(view))) {
            for (const dependency& edge : boost::make_iterator_range(in_edges(v, view))) {
                CHECK(target(edge, view) == v);
                const auto [first, last] = adjacent_vertices(source(edge, view), view);
                CHECK(std::count(first, last, v) == 1);
                ++entering;
            }
            const auto [first, last] = out_edges(v, flow);
            CHECK(static_cast<std::size_t>(std::distance(first, last)) == degree(v, view));
            CHECK(std::all_of(first, last, [&](const dependency& edge) { return source(edge, flow) == v; }));
        }
        CHECK(entering == num_edges(view));
    }
}

TEST_CASE("topological_sort, transitive_closure and transitive_reduction run over a tensor_graph") {
    detail::splitmix64 random(22);
    for (int round = 0; round < 50; ++round) {
        const tensor_graph graph = rooted(random, 15);
        const dependency_graph view(graph);
        const std::size_t count = graph.operator_count();

        std::vector<std::size_t> order;
        boost::topological_sort(view, std::back_inserter(order));
        std::reverse(order.begin(), order.end());
        std::vector<std::size_t> step(count, count);
        for (std::size_t t = 0; t < order.size(); ++t)
            step[order[t]] = t;
        for (const dependency& edge : boost::make_iterator_range(edges(view)))
            CHECK(step[edge.from] < step[edge.to]);

        const auto reach = paths(graph);
        plain closure;
        boost::transitive_closure(view, closure);
        REQUIRE(num_vertices(closure) == count);
        for (std::size_t u = 0; u < count; ++u)
            for (std::size_t v = 0; v < count; ++v)
                CHECK(edge(u, v, closure).second == reach[u][v]);

        plain reduced;
        std::map<std::size_t, std::size_t> place;
        boost::transitive_reduction(view, reduced, boost::make_assoc_property_map(place),
                                    get(boost::vertex_index, view));
        CHECK(num_edges(reduced) <= num_edges(view));
        std::size_t needed = 0;
        for (std::size_t u = 0; u < count; ++u) {
            for (std::size_t v = 0; v < count; ++v) {
                bool implied = !reach[u][v];
                for (std::size_t w = 0; w < count && !implied; ++w)
                    implied = reach[u][w] && reach[w][v];
                needed += implied ? 0U : 1U;
                if (!implied) CHECK(edge(place[u], place[v], reduced).second);
            }
        }
        CHECK(num_edges(reduced) == needed);
    }
}

TEST_CASE("the dominator tree is that of the definition: without a dominator there is no way") {
    detail::splitmix64 random(23);
    for (int round = 0; round < 50; ++round) {
        const tensor_graph graph = rooted(random, 12);
        const dependency_graph view(graph);
        const std::size_t count = graph.operator_count();
        std::vector<std::size_t> parent(count, dependency_graph::null_vertex());
        const auto index = get(boost::vertex_index, view);
        boost::lengauer_tarjan_dominator_tree(view, std::size_t{0},
                                              boost::make_iterator_property_map(parent.begin(), index));
        for (std::size_t removed = 1; removed < count; ++removed) {
            std::vector<bool> reached(count, false);
            reached[0] = true;
            for (operator_index v = 1; v < count; ++v)
                for (const operator_index u : graph.predecessors(v))
                    reached[v] = reached[v] || (v != removed && reached[u]);
            for (std::size_t v = 1; v < count; ++v) {
                bool dominates = v == removed;
                for (std::size_t up = v; up != 0 && !dominates; up = parent[up])
                    dominates = up == removed;
                CHECK(dominates == !reached[v]);
            }
        }
    }
}

TEST_CASE("max-flow over a tensor_graph: two of Boost's algorithms and a copy of the graph agree") {
    detail::splitmix64 random(24);
    for (int round = 0; round < 50; ++round) {
        const tensor_graph graph = rooted(random, 25);
        const flow_graph view(graph);
        const std::size_t count = graph.operator_count(), m = num_edges(view);
        std::vector<std::int64_t> capacity(m, 0), residual(m);
        for (std::size_t e = 0; e < m / 2; ++e)
            capacity[e] = static_cast<std::int64_t>(random.below(20));
        const auto index = get(boost::edge_index, view);
        std::vector<dependency> way(count);
        std::vector<boost::default_color_type> colour(count);
        const std::size_t from = 0, to = count - 1;
        const auto by_relabelling = boost::push_relabel_max_flow(
            view, from, to, boost::make_iterator_property_map(capacity.cbegin(), index),
            boost::make_iterator_property_map(residual.begin(), index), get(boost::edge_reverse, view),
            get(boost::vertex_index, view));
        const auto by_paths = boost::edmonds_karp_max_flow(
            view, from, to, boost::make_iterator_property_map(capacity.cbegin(), index),
            boost::make_iterator_property_map(residual.begin(), index), get(boost::edge_reverse, view),
            boost::make_iterator_property_map(colour.begin(), get(boost::vertex_index, view)),
            boost::make_iterator_property_map(way.begin(), get(boost::vertex_index, view)));
        CHECK(by_relabelling == by_paths);

        using flow_traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
        using copy_type = boost::adjacency_list<
            boost::vecS, boost::vecS, boost::directedS, boost::no_property,
            boost::property<
                boost::edge_capacity_t, std::int64_t,
                boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                boost::property<boost::edge_reverse_t, flow_traits::edge_descriptor>>>>;
        copy_type copy(count);
        const dependency_graph forward(graph);
        for (const dependency& edge : boost::make_iterator_range(edges(forward))) {
            const auto there = add_edge(edge.from, edge.to, copy).first;
            const auto back = add_edge(edge.to, edge.from, copy).first;
            put(boost::edge_capacity, copy, there, capacity[get(index, edge)]);
            put(boost::edge_reverse, copy, there, back);
            put(boost::edge_reverse, copy, back, there);
        }
        CHECK(boost::push_relabel_max_flow(copy, from, to) == by_relabelling);
    }
}

TEST_CASE("edges become tensors: the known answer of a diamond") {
    plain diamond(7);
    const std::array<std::array<std::size_t, 3>, 7> tensors = {
        {{0, 1, 10}, {1, 2, 20}, {1, 3, 30}, {3, 4, 40}, {4, 5, 50}, {2, 5, 60}, {5, 6, 10}}};
    std::map<plain::edge_descriptor, int> size;
    for (const auto& [from, to, bytes] : tensors)
        size[add_edge(from, to, diamond).first] = static_cast<int>(bytes);
    const auto named = [](std::size_t v) { return std::string(1, static_cast<char>('A' + v)); };
    const auto from_map = interop::program_from_edges(diamond, boost::make_assoc_property_map(size), named);
    const auto from_call =
        interop::program_from_edges(diamond, [&](const auto& edge) { return size.at(edge); });
    const tensor_graph graph = make_tensor_graph(from_map.program);
    CHECK(graph.fingerprint() == make_tensor_graph(from_call.program).fingerprint());
    CHECK(graph.operator_name(3) == "D");
    CHECK(peak_bytes(graph, program_order(graph)) == 150);
    CHECK(from_map.vertex_of_operator == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
    REQUIRE(from_map.edge_of_buffer.size() == 7);
    for (buffer_index b = 0; b < 7; ++b) {
        const auto& edge = from_map.edge_of_buffer[b];
        CHECK(graph.bytes(b) == size.at(edge));
        CHECK(graph.producer(b) == source(edge, diamond));
    }
}

TEST_CASE("vertices' results are one tensor with many readers, whatever the order of the vertices") {
    plain graph(4);  // 3 -> 0 -> 1, 3 -> 1, 0 => 2 by two edges
    for (const auto& [from, to] : std::vector<std::pair<int, int>>{{3, 0}, {0, 1}, {3, 1}, {0, 2}, {0, 2}})
        add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), graph);
    const std::array<std::uint16_t, 4> sizes = {1, 2, 4, 8};
    const auto imported = interop::program_from_vertices(graph, sizes.data());
    CHECK(imported.vertex_of_operator == std::vector<std::size_t>{3, 0, 1, 2});
    CHECK(imported.edge_of_buffer.empty());
    const tensor_graph made = make_tensor_graph(imported.program);
    REQUIRE(made.buffer_count() == 4);
    CHECK(made.bytes(0) == 8);
    CHECK(made.users(0).size() == 3);
    CHECK(made.reads(3).size() == 1);
    CHECK(made.kind(1) == buffer_kind::intermediate);
    CHECK(made.kind(2) == buffer_kind::output);
    CHECK(made.kind(3) == buffer_kind::output);
    const auto dying = interop::program_from_vertices(graph, sizes.data(), [](std::size_t) { return ""; },
                                                      {.unread_is_output = false});
    CHECK(dying.program.buffers()[3].kind == buffer_kind::intermediate);
}

TEST_CASE("graphs of other kinds: lists, matrices, compressed rows, filtered graphs, stowage's own") {
    const auto one = [](const auto&) { return 1; };
    boost::adjacency_list<boost::listS, boost::listS, boost::bidirectionalS> lists;
    const auto a = add_vertex(lists), b = add_vertex(lists), c = add_vertex(lists);
    add_edge(c, b, lists);
    add_edge(b, a, lists);
    const auto of_lists = interop::program_from_edges(lists, one);
    CHECK(of_lists.vertex_of_operator == std::vector{c, b, a});
    const std::uint64_t fingerprint = make_tensor_graph(of_lists.program).fingerprint();

    boost::adjacency_matrix<boost::directedS> matrix(3);
    add_edge(0, 1, matrix);
    add_edge(1, 2, matrix);
    CHECK(make_tensor_graph(interop::program_from_edges(matrix, one).program).fingerprint() == fingerprint);

    const std::vector<std::pair<std::size_t, std::size_t>> rows = {{0, 1}, {1, 2}};
    const boost::compressed_sparse_row_graph<boost::directedS> compressed(boost::edges_are_sorted,
                                                                          rows.begin(), rows.end(), 3);
    CHECK(make_tensor_graph(interop::program_from_edges(compressed, one).program).fingerprint() ==
          fingerprint);

    plain larger(5);  // 0 -> 2 -> 4, and what a filter hides
    for (const auto& [from, to] :
         std::vector<std::pair<std::size_t, std::size_t>>{{0, 2}, {2, 4}, {4, 1}, {1, 0}})
        add_edge(from, to, larger);
    const auto is_even = [](std::size_t v) { return v % 2 == 0; };
    const boost::filtered_graph<plain, boost::keep_all, std::function<bool(std::size_t)>> filtered(
        larger, boost::keep_all(), is_even);
    const auto of_filtered = interop::program_from_edges(filtered, one);
    CHECK(of_filtered.vertex_of_operator == std::vector<std::size_t>{0, 2, 4});
    CHECK(make_tensor_graph(of_filtered.program).fingerprint() == fingerprint);

    const tensor_graph own = make_tensor_graph(of_lists.program);
    CHECK(make_tensor_graph(interop::program_from_edges(dependency_graph(own), one).program).fingerprint() ==
          fingerprint);
}

TEST_CASE("a cycle is an error that names it") {
    plain graph(5);
    for (const auto& [from, to] :
         std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}})
        add_edge(from, to, graph);
    const auto named = [](std::size_t v) { return "op" + std::to_string(v); };
    const auto one = [](const auto&) { return 1; };
    try {
        static_cast<void>(interop::program_from_edges(graph, one, named));
        FAIL("nothing was thrown");
    } catch (const interop::cycle_error& error) {
        CHECK(std::string(error.what()) == "operator 1 (op1): it lies on a cycle: op1 -> op2 -> op3 -> op1");
        REQUIRE(error.cycle().size() == 3);
        CHECK(error.cycle()[2].index == 3);
    }
    plain loop(1);
    add_edge(0, 0, loop);
    CHECK(message_of([&] { static_cast<void>(interop::program_from_vertices(loop, one)); }) ==
          "operator 0: it lies on a cycle: 0 -> 0");
    plain ring(100'000);
    for (std::size_t v = 0; v < 100'000; ++v)
        add_edge(v, (v + 1) % 100'000, ring);
    CHECK(message_of([&] { static_cast<void>(interop::program_from_vertices(ring, one)); }) ==
          "operator 0: it lies on a cycle: 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> ... (100000 in all) -> 0");
}

TEST_CASE("sizes that no buffer can have are refused") {
    plain pair(2);
    add_edge(0, 1, pair);
    const auto named = [](std::size_t v) { return v == 0 ? "make" : "use"; };
    CHECK(message_of([&] {
              static_cast<void>(interop::program_from_edges(
                  pair, [](const auto&) { return -1; }, named));
          }) == "buffer 0 (make): its size is negative");
    CHECK(message_of([&] {
              static_cast<void>(
                  interop::program_from_edges(pair, [](const auto&) { return ~std::uint64_t{0}; }));
          }) == "buffer 0: its size is beyond 2^63 - 1");
}
