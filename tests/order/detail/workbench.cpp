#include <stowage/order/detail/workbench.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include <stowage/graph.hpp>

#include "support/known_programs.hpp"

using namespace stowage;
using namespace stowage::order::detail;

TEST_CASE("the bench keeps the best order, the first of equal ones, and tells the context") {
    const tensor_graph graph = make_tensor_graph(test::known_programs()[1].step);
    budget account;
    order::context shared{.account = account};
    workbench bench(graph, shared);
    CHECK(bench.best().empty());
    CHECK(!bench.finished());
    CHECK(!bench.offer({}, "nobody"));
    CHECK(bench.offer({0, 1, 2, 3, 4, 5, 6}, "first"));
    CHECK(bench.best_peak() == 150);
    CHECK(shared.incumbent_peak == 150);
    CHECK(!bench.offer({0, 1, 2, 3, 4, 5, 6}, "again"));
    CHECK(bench.pool().size() == 1);
    CHECK(bench.offer({0, 1, 3, 4, 2, 5, 6}, "second"));
    CHECK(bench.found_by() == "second");
    CHECK(bench.best_peak() == 130);
    CHECK(shared.incumbent.data() == bench.best().data());
    CHECK(bench.pool().size() == 2);
    CHECK(bench.least_hill(1) == 60);
    bench.raise(120, "min cut", 5);
    CHECK(!bench.proven());
    bench.raise(100, "working set", 1);
    CHECK(shared.lower_bound == 120);
    CHECK(shared.witness.at == 5);
    bench.raise(130, "search", no_operator);
    CHECK(bench.proven());
    CHECK(bench.finished());
}

TEST_CASE("the pool is bounded; the worst leaves") {
    program step;
    for (int i = 0; i < 6; ++i)
        step.add_operator({.workspace = i});
    const tensor_graph graph = make_tensor_graph(step);
    budget account;
    order::context shared{.account = account};
    workbench bench(graph, shared);
    order::sequence order = program_order(graph);
    do {
        bench.offer(order, "all");
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(bench.pool().size() == 16);
}

TEST_CASE("alone, a policy leaves the context's incumbent as it was") {
    const tensor_graph graph = make_tensor_graph(test::known_programs()[1].step);
    budget account;
    const order::sequence start = program_order(graph);
    order::context shared{.account = account, .incumbent = start, .incumbent_peak = 150};
    struct offers {
        order::sequence order;
        void search(workbench& bench) const { bench.offer(order, "offers"); }
    };
    CHECK(search_alone(offers{{0, 1, 3, 4, 2, 5, 6}}, graph, shared) == order::sequence{0, 1, 3, 4, 2, 5, 6});
    CHECK(search_alone(offers{start}, graph, shared).empty());
    CHECK(shared.incumbent.data() == start.data());
    CHECK(shared.incumbent_peak == 150);
}
