#include <stowage/order/detail/run_policy.hpp>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/order/depth_first.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/local_search.hpp>
#include <stowage/order/reversed.hpp>

#include "support/known_programs.hpp"

using namespace stowage;
using namespace stowage::order::detail;

TEST_CASE("names of policies") {
    CHECK(policy_name(order::lescea{}, 0) == "lescea");
    CHECK(policy_name(order::reversed{order::lescea{}}, 0) == "reversed lescea");
    CHECK(policy_name([](const tensor_graph& g) { return program_order(g); }, 2) == "policy 3");
}

TEST_CASE("a policy of each shape is run and its answer ends on the bench") {
    const tensor_graph graph = make_tensor_graph(test::known_programs()[1].step);
    budget account;
    order::context shared{.account = account};
    workbench bench(graph, shared);
    run_policy(
        bench, [](const tensor_graph& g) { return program_order(g); }, 0);
    CHECK(bench.found_by() == "policy 1");
    run_policy(
        bench, [](const tensor_graph&, order::context&) { return order::sequence{}; }, 1);
    CHECK(bench.pool().size() == 1);
    run_policy(
        bench, [](const tensor_graph&, order::context&) { return order::sequence{0, 1, 3, 2, 4, 5, 6}; }, 1);
    CHECK(bench.pool().size() == 2);
    run_policy(bench, order::depth_first{}, 2);
    run_policy(bench, order::local_search{.rounds = 1}, 3);
    CHECK(bench.best_peak() == 130);
    CHECK_THROWS_AS(run_policy(
                        bench, [](const tensor_graph&) { return order::sequence{6}; }, 4),
                    program_error);
}
