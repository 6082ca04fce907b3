#include <stowage/roam/paper_order.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include <stowage/order/exact.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/verify.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/training_steps.hpp"

using namespace stowage;

static_assert(order::searching_order_policy<roam::paper_order<order::exact>>);
static_assert(!order::simple_order_policy<roam::paper_order<order::exact>>, "it needs an account");

TEST_CASE("the radius with the least peak is taken, and trying more never costs") {
    for (const std::int64_t activation : {4, 16, 64, 300}) {
        const tensor_graph graph = test::training_graph(
            {.layers = 6, .by = test::optimizer::adam_functional, .activation_bytes = activation});
        budget account;
        const roam::paper_ordering one = roam::order_as_paper(graph, order::lescea{}, account,
                                                              {.radii = {1}, .keep_program_order = false});
        CHECK(one.radius == 1);
        const roam::paper_ordering all = roam::order_as_paper(
            graph, order::lescea{}, account, {.radii = {1, 2, 1000}, .keep_program_order = false});
        CHECK(all.ordered.peak <= one.ordered.peak);
        CHECK(verify::check_order(graph, all.ordered.order).peak == all.ordered.peak);
    }
}

TEST_CASE("the alpha with the least peak is taken, each branch's own first, and the caller's is kept") {
    for (const std::int64_t activation : {8, 16, 64}) {
        const tensor_graph graph =
            test::training_graph({.layers = 6, .by = test::optimizer::adam, .activation_bytes = activation});
        const auto order = [&](const roam::paper_order_options& options) {
            budget account;
            return roam::order_as_paper(graph, order::lescea{}, account, options);
        };
        const roam::paper_ordering own = order({.alphas = {}, .keep_program_order = false});
        const roam::paper_ordering all = order({.keep_program_order = false});
        CHECK_FALSE(own.alpha.has_value());
        CHECK(all.ordered.peak <= own.ordered.peak);
        CHECK((all.ordered.peak < own.ordered.peak) == all.alpha.has_value());
        CHECK(order({.updates = {.alpha = 2.5}, .keep_program_order = false}).alpha == 2.5);
    }
}

TEST_CASE("program order is kept where it is better, and only if that is asked for") {
    stowage::detail::splitmix64 random(9);
    int kept = 0;
    for (int round = 0; round < 200; ++round) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 14}));
        const std::int64_t as_written = peak_bytes(graph, program_order(graph));
        budget account;
        const roam::paper_ordering either =
            roam::order_as_paper(graph, order::lescea{}, account, {.long_segments = false});
        const roam::paper_ordering own = roam::order_as_paper(
            graph, order::lescea{}, account, {.long_segments = false, .keep_program_order = false});
        CHECK(either.ordered.peak == std::min(as_written, own.ordered.peak));
        CHECK(either.is_program_order == (as_written < own.ordered.peak));
        CHECK_FALSE(own.is_program_order);
        kept += either.is_program_order ? 1 : 0;
    }
    CHECK(kept > 5);
}

TEST_CASE("as a policy: legal, not below the optimum, bounds that hold; the exact search beside it") {
    stowage::detail::splitmix64 random(10);
    std::size_t lost = 0;
    for (int round = 0; round < 150; ++round) {
        const tensor_graph graph =
            round % 2 == 0
                ? make_tensor_graph(test::any_program(random, {.operators = 12, .window = 3}))
                : test::training_graph({.layers = 2,
                                        .by = static_cast<test::optimizer>(random.below(4)),
                                        .weight_bytes = 1 + static_cast<std::int64_t>(random.below(60))});
        budget account;
        const order::solution found = order::plan(graph, roam::paper_order{order::exact{}}, account);
        CHECK(verify::check_order(graph, found.order).ok);
        const std::int64_t optimum = test::least_peak(graph);
        CHECK(found.peak >= optimum);
        CHECK(found.lower_bound <= optimum);
        lost += found.peak > optimum ? 1U : 0U;
        budget other;
        CHECK(order::plan(graph, order::exact{}, other).peak == optimum);
    }
    CHECK(lost > 0);  // the rule is no search
    CHECK(lost < 75);
}
