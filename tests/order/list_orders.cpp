#include <stowage/order/list_orders.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include <stowage/graph.hpp>
#include <stowage/verify/order.hpp>

#include "support/any_program.hpp"

using namespace stowage;

TEST_CASE("the best of the list rules; the first of equal ones") {
    stowage::detail::splitmix64 random(61);
    for (int trial = 0; trial < 100; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 30}));
        budget account;
        order::context shared{.account = account};
        const order::sequence found = order::list_orders{}(graph, shared);
        CHECK(verify::check_order(graph, found).ok);
        const order::sequence rules[] = {program_order(graph),
                                         order::depth_first{}(graph),
                                         order::depth_first{order::first_subtree::lightest}(graph),
                                         order::lescea{}(graph),
                                         order::xla_list{}(graph),
                                         order::eager_free{}(graph),
                                         order::reversed{order::lescea{}}(graph),
                                         order::reversed{order::xla_list{}}(graph)};
        const auto best = std::min_element(
            std::begin(rules), std::end(rules),
            [&](const auto& a, const auto& b) { return peak_bytes(graph, a) < peak_bytes(graph, b); });
        CHECK(found == *best);
        shared.incumbent = found;
        shared.incumbent_peak = peak_bytes(graph, found);
        CHECK(order::list_orders{}(graph, shared).empty());
    }
}

TEST_CASE("without time left there is still program order") {
    stowage::detail::splitmix64 random(62);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 50}));
    budget account(search_limits{.time = std::chrono::nanoseconds(0)});
    order::context shared{.account = account};
    CHECK(order::list_orders{}(graph, shared) == program_order(graph));
}
