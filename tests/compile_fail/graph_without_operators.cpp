// A graph that does not list its operators: the message names the concept.
// expect: has_operators
#include <stowage/graph.hpp>

struct graph {
    struct op {};
    struct tensor {};
    const std::vector<op>& operators() const { return ops; }
    const std::vector<tensor>& buffers() const { return tensors; }
    std::vector<int> reads(const op&) const { return {}; }
    std::vector<int> writes(const op&) const { return {}; }
    std::int64_t bytes(const tensor&) const { return 0; }
    stowage::buffer_kind kind(const tensor&) const { return stowage::buffer_kind::intermediate; }
    std::vector<op> ops;
    std::vector<tensor> tensors;
};

struct graph_without_operators : graph {
#ifndef PASS
    void operators() const = delete;
#endif
};

int main() {
    return static_cast<int>(stowage::make_tensor_graph(graph_without_operators{}).operator_count());
}
