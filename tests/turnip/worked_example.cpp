// The worked example of Turnip's paper (arXiv 2405.16283): a matrix product on three devices, whose first
// device handles seven tensors of one size (two inputs, five results) in five slots, and in four. The paper's
// figures name the tensors; this program has the same counts and answers.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/horizon.hpp>
#include <stowage/verify/memgraph.hpp>
#include "support/memgraph_contents.hpp"

namespace turnip = stowage::turnip;
using stowage::buffer_kind;
using turnip::edge_kind;
using turnip::vertex_index;
using turnip::vertex_kind;

namespace {

/// One tensor fills one slot.
constexpr std::int64_t slot = 64;

enum buffers : stowage::buffer_index { a, b, c, d, product, second, sum, third, total, other };
enum operators : stowage::operator_index { multiply, multiply_second, add, use_a, multiply_third, add_all };

/// Device 0 multiplies its blocks, adds the second device's product to one of them, hands its block `a` on,
/// and adds what the third device made.
turnip::taskgraph matrix_product() {
    stowage::program step;
    const auto input = [&] { return step.add_buffer({.bytes = slot, .kind = buffer_kind::input}); };
    const auto tensor = [&] { return step.add_buffer({.bytes = slot}); };
    const auto in_a = input();
    const auto in_b = input();
    const auto in_c = input();
    const auto in_d = input();
    const auto made_product = tensor();
    const auto made_second = tensor();
    const auto made_sum = tensor();
    const auto made_third = tensor();
    const auto made_total = step.add_buffer({.bytes = slot, .kind = buffer_kind::output});
    const auto made_other = step.add_buffer({.bytes = slot, .kind = buffer_kind::output});
    step.add_operator({.name = "multiply", .reads = {in_a, in_b}, .writes = {made_product}, .device = 0});
    step.add_operator({.name = "multiply second", .reads = {in_c}, .writes = {made_second}, .device = 1});
    step.add_operator({.name = "add", .reads = {made_second, in_b}, .writes = {made_sum}, .device = 0});
    step.add_operator({.name = "use a", .reads = {in_a}, .writes = {made_other}, .device = 1});
    step.add_operator({.name = "multiply third", .reads = {in_d}, .writes = {made_third}, .device = 2});
    step.add_operator({.name = "add all",
                       .reads = {made_product, made_sum, made_third},
                       .writes = {made_total},
                       .device = 0});
    return turnip::make_taskgraph(stowage::make_tensor_graph(step),
                                  {.devices = 3, .start = turnip::start_rule::on_device});
}

turnip::compiled compiled_in(const turnip::taskgraph& task, std::int64_t slots) {
    turnip::compile_options options;
    options.devices.assign(3, {.capacity = slots * slot});
    // Transfers are not in the order: looking far ahead, results would be given room that they need.
    const turnip::compiled made = turnip::compile(task, options, turnip::horizon{{.lookahead = 1}});
    REQUIRE(made.ok());
    CHECK(stowage::verify::check_memgraph(task, made.memgraph,
                                          {.capacities = std::vector(std::size_t{3}, slots * slot)})
              .reason == "");
    for (std::uint64_t run = 0; run < 8; ++run)
        CHECK(stowage::test::runs_right(task.program, made.memgraph, run));
    return made;
}

/// By slot of device 0: the tensors that come to lie there, in the order of the memgraph.
std::map<std::int64_t, std::vector<stowage::buffer_index>> tenants(const turnip::memgraph& graph) {
    std::map<std::int64_t, std::vector<stowage::buffer_index>> found;
    for (const turnip::residence& p : graph.start) {
        if (p.memory == 0) found[p.address].push_back(p.buffer);
    }
    for (vertex_index v = 0; v < graph.vertices.size(); ++v) {
        if (graph.vertices[v].device != 0 || graph.vertices[v].kind == vertex_kind::offload) continue;
        for (const turnip::operand& o : graph.writes(v))
            found[o.address].push_back(o.buffer);
    }
    return found;
}

std::size_t count(const turnip::memgraph& graph, vertex_kind kind) {
    std::size_t found = 0;
    for (const turnip::vertex& v : graph.vertices)
        found += v.kind == kind ? 1 : 0;
    return found;
}

}  // namespace

TEST_CASE("five slots: two pairs share one, one of the two memory dependencies is superfluous and left out") {
    const turnip::taskgraph task = matrix_product();
    const turnip::compiled made = compiled_in(task, 5);
    const turnip::memgraph& graph = made.memgraph;
    CHECK(made.bytes_moved == 0);
    CHECK(count(graph, vertex_kind::transfer) == 3);  // the second and third product come, `a` goes
    std::size_t tensors = 0;
    std::size_t shared = 0;
    for (const auto& [address, buffers] : tenants(graph)) {
        tensors += buffers.size();
        CHECK(buffers.size() <= 2);
        shared += buffers.size() == 2 ? 1 : 0;
    }
    CHECK(tensors == 7);
    CHECK(shared == 2);
    // `total` also takes a free slot, after `add`: their data path says so already.
    std::vector<turnip::edge> memory;
    for (const turnip::edge& e : graph.edges) {
        if (e.kind == edge_kind::memory) memory.push_back(e);
    }
    REQUIRE(memory.size() == 1);
    CHECK(graph.vertices[memory[0].from].op == add);
    CHECK(graph.vertices[memory[0].to].kind == vertex_kind::transfer);
    CHECK(graph.moved(memory[0].to) == third);
    turnip::compile_options options;
    options.devices.assign(3, {.capacity = 5 * slot});
    CHECK(turnip::compile(task, options).bytes_moved == 0);
}

TEST_CASE("four slots: one tensor leaves and returns, into the slot of one whose only consumer is done") {
    const turnip::taskgraph task = matrix_product();
    const turnip::compiled made = compiled_in(task, 4);
    const turnip::memgraph& graph = made.memgraph;
    REQUIRE(count(graph, vertex_kind::offload) == 1);
    REQUIRE(count(graph, vertex_kind::reload) == 1);
    CHECK(made.bytes_moved == 2 * slot);
    vertex_index reload = 0;
    while (graph.vertices[reload].kind != vertex_kind::reload)
        ++reload;
    CHECK(graph.moved(reload) == product);
    bool waits = false;
    for (const turnip::edge& e : graph.edges) {
        if (e.to == reload && e.kind == edge_kind::memory) waits |= graph.vertices[e.from].op == add;
    }
    CHECK(waits);
    // The default policy knows that an input's copy on the host is free: it only comes back.
    turnip::compile_options options;
    options.devices.assign(3, {.capacity = 4 * slot});
    const turnip::compiled by_host = turnip::compile(task, options, turnip::residency{{.parking = false}});
    REQUIRE(by_host.ok());
    CHECK(by_host.bytes_moved == slot);
    CHECK(stowage::verify::check_memgraph(task, by_host.memgraph).reason == "");
    // And that another device has room for it, so that nothing comes from the host.
    const turnip::compiled fewest = turnip::compile(task, options);
    REQUIRE(fewest.ok());
    CHECK(fewest.bytes_moved == 0);
    CHECK(fewest.bytes_transferred > by_host.bytes_transferred);
    CHECK(stowage::verify::check_memgraph(task, fewest.memgraph).reason == "");
}
