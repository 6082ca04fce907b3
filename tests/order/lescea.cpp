#include <stowage/order/lescea.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <tuple>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/reversed.hpp>

#include "support/any_program.hpp"
#include "support/naive_list_rule.hpp"

namespace {

using namespace stowage;

auto key(const test::ready_figures& f) {
    return std::tuple(std::max<std::int64_t>(0, f.live + f.need - f.peak), f.net, f.op);
}

}  // namespace

TEST_CASE("lescea: the order that the definition gives, forwards and backwards") {
    stowage::detail::splitmix64 random(21);
    for (int trial = 0; trial < 300; ++trial) {
        const tensor_graph graph = make_tensor_graph(
            test::any_program(random, {.operators = 1 + random.below(14), .window = 2 + random.below(10)}));
        CHECK(order::lescea{}(graph) == test::naive_list_order(graph, false, key));
        CHECK(order::reversed{order::lescea{}}(graph) == test::naive_list_order(graph, true, key));
    }
}

TEST_CASE("lescea: an exhausted account gives no order, an empty program an empty one") {
    program step;
    step.add_operator({});
    const auto problem = order::detail::make_order_problem(make_tensor_graph(step));
    std::stop_source stop;
    stop.request_stop();
    budget account(search_limits{.stop = stop.get_token()});
    CHECK(order::lescea{}.arrange(problem, &account).empty());
    CHECK(order::lescea{}.arrange(problem) == order::sequence{0});
    CHECK(order::lescea{}(make_tensor_graph(program{})).empty());
}
