#include <stowage/layout/integer_program.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <stowage/layout/branch_and_bound.hpp>
#include <stowage/layout/plan.hpp>
#include <stowage/verify/layout.hpp>

#include "support/layout_cases.hpp"

using namespace stowage;
using namespace stowage::layout;

namespace {

/// A solver with a fault of a kind.
struct faulty {
    enum class kind { throws, lies, shrugs } what = kind::throws;
    [[nodiscard]] std::string_view name() const noexcept { return "faulty"; }
    [[nodiscard]] solver::result operator()(const solver::model& program, const solver::options&) const {
        if (what == kind::throws) throw solver::solver_error(solver::fault::aborted, "faulty", "code 1");
        if (what == kind::shrugs) return {};
        return {.status = status::optimal, .values = std::vector<double>(program.variable_count(), 0.0)};
    }
};
static_assert(searching_layout_policy<integer_program<faulty>>);

struct no_solver {};
template <class Solver>
concept programmable = requires {
    typename integer_program<Solver>;
};
static_assert(programmable<solver::enumerator> && !programmable<no_solver>);

problem random_case(int round, stowage::detail::splitmix64& random) {
    const layout_cases::features features{.alignment = round % 2 == 0,
                                          .mixed_alignment = round % 3 == 0,
                                          .pins = round % 5 == 0,
                                          .gaps = round % 7 == 0,
                                          .empty = round % 4 == 0};
    return layout_cases::random_problem(2 + random.below(4), features, random);
}

}  // namespace

TEST_CASE("the integer program is exact on small problems with everything") {
    stowage::detail::splitmix64 random(21);
    for (int round = 0; round < 300; ++round) {
        const problem posed = random_case(round, random);
        CAPTURE(round);
        const std::int64_t least = layout_cases::least_arena(posed);
        for (const bool warm : {true, false}) {
            const integer_program<> policy{.options = {.warm_start = warm}};
            const solution found = layout::plan(posed, policy, {.states = 50'000'000});
            CHECK(verify::check_layout(posed, found));
            CHECK(layout_cases::fault(posed, found.offsets) == "");
            CHECK(found.arena == least);
            CHECK(found.status == status::optimal);
        }
    }
}

TEST_CASE("it agrees with branch and bound") {
    stowage::detail::splitmix64 random(22);
    for (int round = 0; round < 60; ++round) {
        const problem posed =
            layout_cases::random_problem(7, {.alignment = true, .mixed_alignment = round % 2 == 0}, random);
        CAPTURE(round);
        const solution ours = layout::plan(posed, integer_program<>{}, {.states = 100'000'000});
        const solution theirs = layout::plan(posed, branch_and_bound{}, {.states = 100'000'000});
        REQUIRE(theirs.status == status::optimal);
        CHECK(ours.lower_bound <= theirs.arena);
        if (ours.status == status::optimal) CHECK(ours.arena == theirs.arena);
    }
}

TEST_CASE("sizes are divided by their common divisor, however large they are") {
    const std::int64_t piece = 3 * (std::int64_t{1} << 55);
    const problem posed = make_problem(std::vector<buffer>{{.lower = 0, .upper = 2, .size = piece},
                                                           {.lower = 1, .upper = 3, .size = 2 * piece}},
                                       256);
    const solution found = layout::plan(posed, integer_program<>{});
    CHECK(found.arena == 3 * piece);
    CHECK(found.status == status::optimal);
}

TEST_CASE("a target that cannot be beaten is proven, one that can is beaten") {
    stowage::detail::splitmix64 random(23);
    for (int round = 0; round < 60; ++round) {
        const problem posed = random_case(round, random);
        const std::int64_t least = layout_cases::least_arena(posed);
        if (least == 0) continue;
        CAPTURE(round);
        for (const bool warm : {true, false}) {
            const integer_program<> policy{.options = {.warm_start = warm}};
            budget account({.states = 50'000'000});
            context tight{.account = account, .target = least};
            CHECK(policy(posed, tight).empty());
            CHECK(tight.lower_bound == least);
            context loose{.account = account, .target = least + 1};
            const offset_list offsets = policy(posed, loose);
            REQUIRE(!offsets.empty());
            CHECK(arena_of(posed, offsets) == least);
            CHECK(loose.lower_bound == least);
        }
    }
}

TEST_CASE("faults of the solver never cost the layout that there was") {
    stowage::detail::splitmix64 random(24);
    for (int round = 0; round < 40; ++round) {
        const problem posed = layout_cases::random_problem(8, {.alignment = true}, random);
        for (const auto kind : {faulty::kind::throws, faulty::kind::lies, faulty::kind::shrugs}) {
            std::vector<std::string> told;
            const integer_program<faulty> policy{
                .solver = {kind}, .options = {.limits = {.on_fault = [&](const solver::solver_error& error) {
                                                  told.emplace_back(error.what());
                                              }}}};
            budget account({.states = 1'000'000});
            context context{.account = account};
            const offset_list offsets = policy(posed, context);
            CHECK(layout_cases::fault(posed, offsets) == "");
            CHECK(context.lower_bound <= arena_of(posed, offsets));
            const bool searched = context.lower_bound < arena_of(posed, offsets) || !told.empty();
            if (searched) CHECK(told.size() == (kind == faulty::kind::shrugs ? 0 : 1));
        }
    }
}

TEST_CASE("limits of nothing leave the warm start") {
    stowage::detail::splitmix64 random(25);
    const problem posed = layout_cases::random_problem(12, {.alignment = true}, random);
    using namespace std::chrono_literals;
    const solution none = layout::plan(posed, integer_program<>{.options = {.limits = {.time = 0ns}}});
    CHECK(verify::check_layout(posed, none));
    std::stop_source stopped;
    stopped.request_stop();
    const solution halted = layout::plan(posed, integer_program<>{}, {.stop = stopped.get_token()});
    CHECK(verify::check_layout(posed, halted));
    CHECK(halted.arena == none.arena);
}

TEST_CASE("what is too large, or has several pools, is refused politely") {
    stowage::detail::splitmix64 random(26);
    problem posed = layout_cases::random_problem(12, {}, random);
    budget account;
    context context{.account = account};
    CHECK(integer_program<>{.options = {.pairs = 3}}(posed, context).empty());
    CHECK(context.lower_bound == 0);
    posed.capacities = {1000, 1000};
    CHECK(integer_program<>{}(posed, context).empty());
    problem nothing = make_problem(std::vector<buffer>{{.lower = 0, .upper = 0, .size = 3}});
    CHECK(integer_program<>{}(nothing, context) == offset_list{0});
}
