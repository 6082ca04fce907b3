// A program that asks for stowage::boost_graph alone: it gets the core and Boost.Graph with it.
#include <boost/graph/adjacency_list.hpp>
#include <stowage/version.hpp>

int main() {
    static_assert(stowage::version.major == EXPECTED_MAJOR && stowage::version.minor == EXPECTED_MINOR);
    const boost::adjacency_list<> graph(3);
    return num_vertices(graph) == 3 ? 0 : 1;
}
