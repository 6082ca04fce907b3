// A host application's own intermediate representation, planned where it is: stowage reads it through a
// specialisation of program_traits and is given no copy. The plan goes back into the host's own fields.

#include <cstddef>
#include <iostream>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <stowage/roam.hpp>
#include <stowage/units.hpp>
#include <stowage/verify.hpp>

// What the host has, and does not change: values own nothing, nodes name values by pointer, and sizes are
// known by shape and element size.
namespace host {

struct value {
    std::string name;
    std::vector<std::size_t> shape;
    std::size_t element_bytes = 4;
    bool is_argument = false;  // there before the program, and after it
    bool is_result = false;
    std::ptrdiff_t arena_offset = -1;  // to be filled in
};

struct node {
    std::string kernel;
    std::vector<value*> operands;
    std::vector<value*> results;
    std::size_t scratch_bytes = 0;
};

struct module_ir {
    std::vector<std::unique_ptr<value>> values;
    std::list<node> body;

    value* add_value(std::string name, std::vector<std::size_t> shape) {
        values.push_back(std::make_unique<value>());
        values.back()->name = std::move(name);
        values.back()->shape = std::move(shape);
        return values.back().get();
    }
};

}  // namespace host

// All that stowage needs to know of it. Handles are what the host has: references to nodes, pointers to
// values.
template <>
struct stowage::program_traits<host::module_ir> {
    static const auto& operators(const host::module_ir& ir) { return ir.body; }
    static const auto& buffers(const host::module_ir& ir) { return ir.values; }
    static const auto& reads(const host::module_ir&, const host::node& node) { return node.operands; }
    static const auto& writes(const host::module_ir&, const host::node& node) { return node.results; }
    static std::size_t bytes(const host::module_ir&, const std::unique_ptr<host::value>& value) {
        std::size_t count = value->element_bytes;
        for (const std::size_t extent : value->shape)
            count *= extent;
        return count;
    }
    static buffer_kind kind(const host::module_ir&, const std::unique_ptr<host::value>& value) {
        if (value->is_argument) return buffer_kind::input;
        return value->is_result ? buffer_kind::output : buffer_kind::intermediate;
    }
    static std::size_t workspace(const host::module_ir&, const host::node& node) {
        return node.scratch_bytes;
    }
    static const auto& operator_name(const host::module_ir&, const host::node& node) { return node.kernel; }
    static const auto& buffer_name(const host::module_ir&, const std::unique_ptr<host::value>& value) {
        return value->name;
    }
};
static_assert(stowage::tensor_program<host::module_ir>);

namespace {

/// Two towers over one picture, each wide in the middle, and their sum.
host::module_ir build() {
    host::module_ir ir;
    host::value* const picture = ir.add_value("picture", {3, 512, 512});
    picture->is_argument = true;
    host::value* const sum = ir.add_value("sum", {64, 64, 64});
    sum->is_result = true;
    std::vector<host::value*> ends;
    for (const std::size_t channels : {16U, 32U, 48U}) {
        const std::string tower = "tower" + std::to_string(channels);
        host::value* const wide = ir.add_value(tower + ".wide", {channels, 512, 512});
        ir.body.push_back({tower + ".conv", {picture}, {wide}, 1 << 20});
        ends.push_back(ir.add_value(tower + ".end", {64, 64, 64}));
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
        host::value* const wide = std::next(ir.body.begin(), static_cast<std::ptrdiff_t>(i))->results[0];
        ir.body.push_back(
            {wide->name + ".relu", {wide}, {wide}, 0});  // in place: it reads and writes one value
        ir.body.push_back({wide->name + ".pool", {wide}, {ends[i]}, 0});
    }
    ir.body.push_back({"add", ends, {sum}, 0});
    return ir;
}

}  // namespace

int main() {
    const host::module_ir ir = build();

    const stowage::tensor_graph graph = stowage::make_tensor_graph(ir);
    const stowage::plan plan = stowage::roam::best(graph, {.alignment = 64});
    if (const auto verdict = stowage::verify::check_plan(graph, plan); !verdict) {
        std::cerr << verdict.reason << '\n';
        return 1;
    }

    // Operators and buffers have the positions that the host's own ranges gave them.
    for (std::size_t i = 0; i < ir.values.size(); ++i)
        ir.values[i]->arena_offset = plan.offsets[i];
    std::vector<const host::node*> nodes;
    for (const host::node& node : ir.body)
        nodes.push_back(&node);
    for (const stowage::operator_index op : plan.order)
        std::cout << nodes[op]->kernel << '\n';
    const auto mebibytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / stowage::MiB; };
    std::cout << "as written: " << mebibytes(stowage::peak_bytes(graph, stowage::program_order(graph)))
              << " MiB, planned: " << mebibytes(plan.arena.bytes) << " MiB (" << to_string(plan.status)
              << ")\n";
    for (const auto& value : ir.values) {
        if (value->arena_offset >= 0) std::cout << value->name << " at " << value->arena_offset << '\n';
    }
}
