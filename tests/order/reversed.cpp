#include <stowage/order/reversed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/depth_first.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/program.hpp>
#include <stowage/verify/order.hpp>

#include "support/any_program.hpp"

namespace {

using namespace stowage;

struct no_rule {
    order::sequence operator()(const tensor_graph&) const { return {}; }
};
template <class Rule>
concept reversible = requires {
    typename order::reversed<Rule>;
};
static_assert(reversible<order::lescea>);
static_assert(!reversible<no_rule>);
static_assert(order::detail::list_rule<order::reversed<order::lescea>>);
static_assert(order::simple_order_policy<order::reversed<order::depth_first>>);

}  // namespace

TEST_CASE("a rule run backwards gives a legal order; run backwards twice, its own") {
    stowage::detail::splitmix64 random(25);
    for (int trial = 0; trial < 200; ++trial) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 1 + random.below(40)}));
        CHECK(verify::check_order(graph, order::reversed{order::depth_first{}}(graph)).ok);
        CHECK(verify::check_order(graph, order::reversed{order::lescea{}}(graph)).ok);
        const order::reversed<order::reversed<order::lescea>> twice{{order::lescea{}}};
        CHECK(twice(graph) == order::lescea{}(graph));
        CHECK(order::reversed{order::in_program_order{}}(graph) == program_order(graph));
    }
}
