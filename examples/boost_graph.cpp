// Boost.Graph on both sides: a graph of its own becomes a program and is planned; the program's dependencies
// go back to its algorithms, for what they are good at. Here: which operators every run must pass, and the
// longest chain.

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/topological_sort.hpp>

#include <stowage/interop/boost_graph.hpp>
#include <stowage/roam.hpp>

namespace {

struct layer {
    std::string name;
    std::int64_t bytes;
};
using network = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, layer>;

/// A residual block: vertices are layers, their results are tensors of that many bytes.
network residual_block() {
    network net;
    const auto input = add_vertex({"input", 100}, net);
    const auto shortcut = add_vertex({"shortcut", 200}, net);
    const auto widen = add_vertex({"widen", 400}, net);
    const auto attend = add_vertex({"attend", 400}, net);
    const auto narrow = add_vertex({"narrow", 100}, net);
    const auto sum = add_vertex({"sum", 100}, net);
    add_edge(input, shortcut, net);
    add_edge(input, widen, net);
    add_edge(widen, attend, net);
    add_edge(widen, narrow, net);
    add_edge(attend, narrow, net);
    add_edge(shortcut, sum, net);
    add_edge(narrow, sum, net);
    return net;
}

}  // namespace

int main() {
    const network net = residual_block();

    // In: sizes and names are property maps, or anything that can be called with a vertex.
    const auto imported =
        stowage::interop::program_from_vertices(net, get(&layer::bytes, net), get(&layer::name, net));
    const stowage::tensor_graph graph = stowage::make_tensor_graph(imported.program);
    const stowage::plan plan = stowage::roam::best(graph);
    std::cout << "order:";
    for (const stowage::operator_index op : plan.order)
        std::cout << ' ' << net[imported.vertex_of_operator[op]].name;
    std::cout << "\nas written " << stowage::peak_bytes(graph, stowage::program_order(graph))
              << " bytes, planned " << plan.arena.bytes << " (" << to_string(plan.status) << ")\n";

    // Out: operators are vertices named by std::size_t, dependencies are edges.
    const stowage::interop::dependency_graph dependencies(graph);
    const auto index = get(boost::vertex_index, dependencies);
    std::vector<std::size_t> dominator(num_vertices(dependencies), dependencies.null_vertex());
    boost::lengauer_tarjan_dominator_tree(dependencies, std::size_t{0},
                                          boost::make_iterator_property_map(dominator.begin(), index));
    std::cout << "every way to "
              << graph.operator_name(static_cast<stowage::operator_index>(dominator.size() - 1)) << " passes "
              << graph.operator_name(static_cast<stowage::operator_index>(dominator.back())) << '\n';

    std::vector<std::size_t> reversed;
    boost::topological_sort(dependencies, std::back_inserter(reversed));
    std::vector<std::size_t> depth(num_vertices(dependencies), 1);
    for (const std::size_t v : reversed) {
        for (const std::size_t w : boost::make_iterator_range(adjacent_vertices(v, dependencies)))
            depth[v] = std::max(depth[v], depth[w] + 1);
    }
    std::cout << "longest chain: " << *std::max_element(depth.begin(), depth.end()) << " operators\n";
}
