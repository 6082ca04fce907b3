// docs/cookbook.md and README.md, "Adapt your own graph".
#include <iostream>
#include <memory>
#include <string>
#include <vector>

// [graph]
struct tensor {
    std::string name;
    std::size_t size_in_bytes;
    bool is_weight;
};
struct kernel {
    std::string name;
    std::vector<const tensor*> inputs, outputs;
};
struct my_graph {
    std::vector<std::unique_ptr<tensor>> tensors;
    std::vector<kernel> kernels;  // in an order in which they may run
};
// [graph]

// [traits]
#include <stowage/roam.hpp>

template <>
struct stowage::program_traits<my_graph> {
    static auto& operators(const my_graph& graph) { return graph.kernels; }
    static auto& buffers(const my_graph& graph) { return graph.tensors; }
    static auto& reads(const my_graph&, const kernel& op) { return op.inputs; }
    static auto& writes(const my_graph&, const kernel& op) { return op.outputs; }
    static auto bytes(const my_graph&, const std::unique_ptr<tensor>& buffer) {
        return buffer->size_in_bytes;
    }
    static auto kind(const my_graph&, const std::unique_ptr<tensor>& buffer) {
        return buffer->is_weight ? buffer_kind::parameter : buffer_kind::intermediate;
    }
    static auto& operator_name(const my_graph&, const kernel& op) { return op.name; }  // optional
};
// [traits]

int main() {
    my_graph graph;
    const auto add = [&](const char* name, std::size_t bytes, bool is_weight = false) {
        graph.tensors.push_back(std::make_unique<tensor>(tensor{name, bytes, is_weight}));
        return graph.tensors.back().get();
    };
    const tensor* const w = add("w", 100, true);
    const tensor* const a = add("a", 300);
    const tensor* const b = add("b", 500);
    const tensor* const c = add("c", 10);
    const tensor* const d = add("d", 10);
    graph.kernels = {{"make_a", {w}, {a}},
                     {"make_b", {w}, {b}},
                     {"shrink_a", {a}, {c}},
                     {"shrink_b", {b}, {d}},
                     {"use", {c, d}, {}}};
    // [use]
    const stowage::plan plan = stowage::roam::best(graph);
    for (const stowage::operator_index op : plan.order)
        std::cout << graph.kernels[op].name << '\n';  // positions are those of your own ranges
    std::cout << "arena: " << plan.arena.bytes << " bytes\n";
    // [use]
}
