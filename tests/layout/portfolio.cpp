#include <stowage/layout/portfolio.hpp>

#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <stowage/layout/best_fit.hpp>
#include <stowage/layout/first_fit.hpp>
#include <stowage/layout/llfb.hpp>
#include "support/layout_contract.hpp"

namespace layout = stowage::layout;

namespace {

/// Counts its calls and finds nothing.
struct idle {
    int* calls;
    layout::offset_list operator()(const layout::problem&, layout::context&) const {
        ++*calls;
        return {};
    }
};

/// Wrong in one way: it does not return offsets.
struct without_offsets {
    int operator()(const layout::problem&) const { return 0; }
};

static_assert(layout::layout_policy<idle> && !layout::simple_layout_policy<idle>);
static_assert(!layout::layout_policy<without_offsets>);
static_assert(layout::layout_policy<layout::portfolio<idle, layout::llfb>>, "portfolios nest");

}  // namespace

TEST_CASE("a portfolio keeps the contract of policies") {
    layout_cases::check_contract(layout::portfolio{layout::llfb{}, layout::llfb_fit{}, layout::first_fit{}});
    layout_cases::check_contract(
        layout::portfolio{layout::portfolio{layout::best_fit{}}, layout::portfolio{layout::llfb{}}});
}

TEST_CASE("the best answer is kept, the first of equal ones, and its finder named") {
    stowage::detail::splitmix64 random(15);
    const auto stack = [](const layout::problem& problem) {  // a user's own: one above the other
        layout::offset_list offsets;
        std::int64_t top = 0;
        for (const layout::buffer& b : problem.buffers) {
            offsets.push_back(b.takes_part() ? top : 0);
            if (b.takes_part()) top += b.size;
        }
        return offsets;
    };
    for (int round = 0; round < 100; ++round) {
        const layout::problem problem = layout_cases::random_problem(20, {}, random);
        const layout::portfolio all{stack, layout::llfb_fit{}, layout::llfb{}, layout::best_fit{}};
        stowage::budget account;
        layout::context context{.account = account};
        const auto offsets = all(problem, context);
        const auto a = layout_cases::arena(problem, layout::llfb_fit{}(problem));
        const auto b = layout_cases::arena(problem, layout::llfb{}(problem));
        const auto c = layout_cases::arena(problem, layout::best_fit{}(problem));
        CHECK(layout_cases::arena(problem, offsets) == std::min({a, b, c}));
        CHECK(context.target == std::min({a, b, c}));
        CHECK(context.found_by == (a <= b && a <= c ? "llfb_fit" : b <= c ? "llfb" : "best_fit by size"));
    }
    const layout::problem one = layout_cases::random_problem(1, {}, random);
    stowage::budget account;
    layout::context context{.account = account};
    CHECK(layout::portfolio{stack}(one, context) == layout::offset_list{0});
    CHECK(context.found_by == "unnamed policy");
}

TEST_CASE("it stops at the bound and at the end of the account") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 3}};
    int before = 0;
    int after = 0;
    const layout::portfolio policies = layout::portfolio{idle{&before}, layout::llfb{}}.then(idle{&after});
    stowage::budget account;
    layout::context context{.account = account, .lower_bound = 3};
    CHECK(policies(problem, context) == layout::offset_list{0});
    CHECK(before == 1);
    CHECK(after == 0);
    stowage::budget again;
    layout::context lower{.account = again, .lower_bound = 2};
    CHECK(policies(problem, lower) == layout::offset_list{0});
    CHECK(after == 1);
    stowage::budget none({.states = 0});
    layout::context broke{.account = none};
    CHECK(policies(problem, broke).empty());
    CHECK(after == 1);
}

TEST_CASE("an arena of 2^63 - 1 is an answer too") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = std::numeric_limits<std::int64_t>::max()}};
    CHECK(layout_cases::run(layout::portfolio{layout::llfb{}}, problem) == layout::offset_list{0});
}
