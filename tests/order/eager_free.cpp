#include <stowage/order/eager_free.hpp>

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
    const bool fits = f.live + f.need <= f.peak;
    return std::tuple(!fits ? 2 : f.net < 0 ? 0 : f.net == 0 ? 1 : 2, f.op);
}

}  // namespace

TEST_CASE("eager_free: the order that the definition gives, forwards and backwards") {
    stowage::detail::splitmix64 random(23);
    for (int trial = 0; trial < 300; ++trial) {
        const tensor_graph graph = make_tensor_graph(
            test::any_program(random, {.operators = 1 + random.below(14), .window = 2 + random.below(10)}));
        CHECK(order::eager_free{}(graph) == test::naive_list_order(graph, false, key));
        CHECK(order::reversed{order::eager_free{}}(graph) == test::naive_list_order(graph, true, key));
    }
}

TEST_CASE("eager_free: an exhausted account gives no order, an empty program an empty one") {
    program step;
    step.add_operator({});
    const auto problem = order::detail::make_order_problem(make_tensor_graph(step));
    std::stop_source stop;
    stop.request_stop();
    budget account(search_limits{.stop = stop.get_token()});
    CHECK(order::eager_free{}.arrange(problem, &account).empty());
    CHECK(order::eager_free{}.arrange(problem) == order::sequence{0});
    CHECK(order::eager_free{}(make_tensor_graph(program{})).empty());
}
