// ctest-label: threads
#include <stowage/roam/by_segments.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/order/exact.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/portfolio.hpp>
#include <stowage/verify.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"

using namespace stowage;

static_assert(order::searching_order_policy<roam::by_segments<order::lescea>>);
static_assert(!order::simple_order_policy<roam::by_segments<order::lescea>>, "it needs an account");

namespace {

struct nonsense {
    order::sequence operator()(const tensor_graph& graph) const {
        order::sequence order = program_order(graph);
        return {order.rbegin(), order.rend()};
    }
};

}  // namespace

TEST_CASE("solved one by one, segments give the optimum of the whole") {
    stowage::detail::splitmix64 random(5);
    std::size_t several = 0;
    for (int round = 0; round < 250; ++round) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 11, .window = 2}));
        const roam::segmentation parts = roam::independent_segments(graph);
        several += parts.segments.size() > 2 ? 1U : 0U;
        budget account;
        const roam::segmented_order found = roam::order_segments(graph, parts, order::exact{}, account);
        const verify::verdict verdict = verify::check_order(graph, found.order);
        REQUIRE_MESSAGE(verdict.ok, verdict.reason);
        CHECK(found.peak == verdict.peak);
        const std::int64_t optimum = test::least_peak(graph);
        CHECK(found.peak == optimum);
        CHECK(found.lower_bound <= found.peak);
        CHECK(found.segments.size() == parts.segments.size());
    }
    CHECK(several > 40);
}

TEST_CASE("the order does not depend on the number of threads") {
    stowage::detail::splitmix64 random(6);
    for (int round = 0; round < 20; ++round) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 40, .window = 2}));
        const roam::segmentation parts = roam::independent_segments(graph);
        std::vector<order::sequence> orders;
        for (const unsigned threads : {1U, 2U, 8U}) {
            budget account({.states = 5'000});
            std::size_t last = 0;
            orders.push_back(roam::order_segments(graph, parts, order::portfolio{}, account, 1, threads,
                                                  [&](std::size_t done, std::size_t) { last = done; })
                                 .order);
            CHECK(last == parts.segments.size());
        }
        CHECK(orders[0] == orders[1]);
        CHECK(orders[0] == orders[2]);
    }
}

TEST_CASE("as a policy it composes, proves what the parts prove, and never loses to the incumbent") {
    stowage::detail::splitmix64 random(7);
    for (int round = 0; round < 100; ++round) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 10, .window = 2}));
        budget account;
        const order::solution found = order::plan(graph, roam::by_segments{order::exact{}, 2}, account);
        CHECK(verify::check_order(graph, found.order).ok);
        const std::int64_t optimum = test::least_peak(graph);
        CHECK(found.peak == optimum);
        CHECK(found.lower_bound <= optimum);
        budget other;
        CHECK(order::plan(graph, roam::by_segments{order::lescea{}}, other).peak >= optimum);
    }
}

TEST_CASE("a policy whose order of a segment is not legal is refused, on any thread") {
    stowage::detail::splitmix64 random(8);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 30}));
    for (const unsigned threads : {1U, 3U}) {
        budget account;
        CHECK_THROWS_AS((void)roam::order_segments(graph, roam::independent_segments(graph), nonsense{},
                                                   account, 1, threads),
                        program_error);
    }
}
