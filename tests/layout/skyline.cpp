#include <stowage/layout/skyline.hpp>

#include <doctest/doctest.h>

#include <stowage/layout/first_fit.hpp>
#include "support/dense_layouts.hpp"
#include "support/layout_contract.hpp"

namespace layout = stowage::layout;
using layout::slack_rule;

TEST_CASE("a skyline by every key and slack rule keeps the contract of policies") {
    for (const layout::key key : layout::all_keys) {
        CAPTURE(to_string(key));
        layout_cases::check_contract(layout::skyline{{.key = key}});
    }
    layout_cases::check_contract(layout::skyline{{.slack = slack_rule::when_needed}});
    layout_cases::check_contract(layout::skyline{{.slack = slack_rule::always}});
    layout_cases::check_contract(layout::skyline{{.noise = 0.2}});
}

TEST_CASE("noise is drawn from the seed") {
    stowage::detail::splitmix64 random(4);
    const layout::problem problem = layout_cases::random_problem(60, {}, random);
    const layout::skyline policy{{.noise = 0.2}};
    const auto with_seed = [&](std::uint64_t seed) {
        stowage::budget account;
        layout::context context{.account = account, .seed = seed};
        return policy(problem, context);
    };
    CHECK(with_seed(1) == policy(problem));
    CHECK(with_seed(2) == with_seed(2));
    CHECK(with_seed(2) != with_seed(1));
    CHECK(policy.name() == "skyline by size_duration, perturbed");
}

TEST_CASE("a raise that a section cannot afford is put off") {
    // Neither form wins always (that is why both are tried), but this one does more often.
    stowage::detail::splitmix64 random(6);
    int better = 0;
    int worse = 0;
    for (int round = 0; round < 300; ++round) {
        const layout::problem problem = dense_layouts::fill(40, 60, 20, random);
        const auto plain =
            layout_cases::arena(problem, layout::skyline{{.key = layout::key::duration}}(problem));
        const layout::skyline aware{{.key = layout::key::duration, .slack = slack_rule::when_needed}};
        const auto slack = layout_cases::arena(problem, aware(problem));
        better += slack < plain ? 1 : 0;
        worse += slack > plain ? 1 : 0;
    }
    CHECK(better > worse);
    CHECK(better > 50);
}
