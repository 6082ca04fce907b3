#include <stowage/layout/llfb.hpp>

#include <doctest/doctest.h>

#include "support/layout_contract.hpp"

namespace layout = stowage::layout;

TEST_CASE("both forms keep the contract of policies") {
    layout_cases::check_contract(layout::llfb{});
    layout_cases::check_contract(layout::llfb_fit{});
}

TEST_CASE("both forms are what the paper names") {
    stowage::detail::splitmix64 random(8);
    for (int round = 0; round < 50; ++round) {
        const layout::problem problem = layout_cases::random_problem(30, {}, random);
        CHECK(layout::llfb{}(problem) == layout::skyline{{.key = layout::key::duration}}(problem));
        CHECK(layout::llfb_fit{}(problem) ==
              layout::best_fit{{.order = layout::placement_order::duration}}(problem));
    }
    CHECK(layout::llfb{}.name() == "llfb");
    CHECK(layout::llfb_fit{}.name() == "llfb_fit");
}
