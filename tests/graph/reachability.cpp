#include <stowage/graph/reachability.hpp>

#include <doctest/doctest.h>

#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include "support/any_program.hpp"

using namespace stowage;

namespace {

using relation = std::vector<std::vector<bool>>;  // [v][u]: u must run before v

relation brute_force(const tensor_graph& graph) {
    relation before(graph.operator_count(), std::vector<bool>(graph.operator_count(), false));
    for (operator_index v = 0; v < graph.operator_count(); ++v) {
        for (const operator_index u : graph.predecessors(v)) {
            before[v][u] = true;
            for (std::size_t w = 0; w < u; ++w)
                if (before[u][w]) before[v][w] = true;
        }
    }
    return before;
}

void check(const tensor_graph& graph, reachability reach) {
    const relation before = brute_force(graph);
    const auto count = static_cast<operator_index>(graph.operator_count());
    for (operator_index v = 0; v < count; ++v) {
        std::vector<operator_index> ancestors, descendants;
        for (operator_index u = 0; u < count; ++u) {
            CHECK(reach.reaches(u, v) == before[v][u]);
            if (before[v][u]) ancestors.push_back(u);
            if (before[u][v]) descendants.push_back(u);
        }
        CHECK(reach.ancestors(v) == ancestors);
        CHECK(reach.descendants(v) == descendants);
    }
}

constexpr reachability_options as_labels{.most_as_bits = 0};

}  // namespace

static_assert(!std::is_constructible_v<reachability, tensor_graph>, "the graph must outlive it");

TEST_CASE("both forms agree with brute force on random programs") {
    detail::splitmix64 random(5);
    for (int round = 0; round < 120; ++round) {
        const test::any_program_options options{.operators = 1 + static_cast<std::size_t>(round),
                                                .window = 2 + static_cast<std::size_t>(round % 40),
                                                .writes_again = round % 3 != 0};
        const tensor_graph graph = make_tensor_graph(test::any_program(random, options));
        const reachability bits(graph);
        const reachability labels(graph, as_labels);
        CHECK(bits.as_bits());
        CHECK(!labels.as_bits());
        check(graph, bits);
        check(graph, labels);
    }
}

TEST_CASE("control edges alone make any graph") {
    detail::splitmix64 random(6);
    for (int round = 0; round < 60; ++round) {
        program p;
        for (std::uint32_t v = 0; v < 70; ++v) {
            operator_options op;
            for (std::uint32_t u = 0; u < v; ++u)
                if (random.below(v) < 1 + static_cast<std::uint64_t>(round % 3))
                    op.after.push_back(operator_id{u});
            p.add_operator(op);
        }
        const tensor_graph graph = make_tensor_graph(p);
        check(graph, reachability(graph));
        check(graph, reachability(graph, as_labels));
    }
}

TEST_CASE("an empty graph has no paths to ask for") {
    const tensor_graph graph;
    CHECK(reachability(graph).as_bits());
    CHECK(reachability(graph, as_labels).memory_bytes() < 100);
}

TEST_CASE("two hundred thousand operators take linear memory, and a chain no stack") {
    constexpr std::uint32_t count = 200'000;
    detail::splitmix64 random(9);
    program p;
    for (std::uint32_t i = 0; i < count; ++i) {
        operator_options op;
        if (i > 0) op.after.push_back(operator_id{i - 1 - (i % 4 == 0 ? 0 : i % 4 - 1)});
        if (i > 1000 && i % 8 == 0)
            op.after.push_back(operator_id{i - 1000 + static_cast<std::uint32_t>(random.below(900))});
        p.add_operator(op);
    }
    const tensor_graph graph = make_tensor_graph(p);
    reachability reach(graph);
    CHECK(!reach.as_bits());
    CHECK(reach.memory_bytes() <= 56 * std::size_t{count});
    for (int round = 0; round < 20; ++round) {
        const auto v = static_cast<operator_index>(random.below(20'000));
        const auto ancestors = reach.ancestors(v);
        std::vector<bool> is_ancestor(v + 1, false);
        for (const operator_index u : ancestors)
            is_ancestor[u] = true;
        for (int k = 0; k < 500; ++k) {
            const auto u = static_cast<operator_index>(random.below(v + 1));
            CHECK(reach.reaches(u, v) == is_ancestor[u]);
        }
    }
    CHECK(!reach.reaches(count - 1, 0));
    CHECK(reach.descendants(count - 1).empty());
}
