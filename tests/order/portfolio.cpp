#include <stowage/order/portfolio.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

#include <stowage/graph.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/order/reversed.hpp>
#include <stowage/verify/order.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/known_programs.hpp"

namespace {

using namespace stowage;

struct not_a_policy {
    int operator()(const tensor_graph&) const { return 0; }
};
template <class Policy>
concept in_a_portfolio = requires(Policy policy) {
    order::portfolio{policy};
};
static_assert(in_a_portfolio<order::lescea>);
static_assert(in_a_portfolio<order::local_search>);
static_assert(in_a_portfolio<decltype([](const tensor_graph& g) { return program_order(g); })>);
static_assert(!in_a_portfolio<not_a_policy>);
static_assert(order::searching_order_policy<decltype(order::portfolio{})>);
static_assert(in_a_portfolio<decltype(order::portfolio{})>);

}  // namespace

TEST_CASE("the known small answers") {
    for (const auto& known : test::known_programs()) {
        CAPTURE(known.name);
        const order::solution found = order::portfolio{}(known.step);
        CHECK(found.peak == known.optimum);
        CHECK(found.lower_bound >= known.min_cut);
        CHECK(found.lower_bound <= known.optimum);
        CHECK(verify::check_order(make_tensor_graph(known.step), found).ok);
    }
}

TEST_CASE("random small programs: legal, at most a rare step above the optimum, never a bound above it") {
    stowage::detail::splitmix64 random(71);
    constexpr int trials = 150;
    int optimal = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = random.below(12)}));
        const order::solution found = order::portfolio{}(graph, {.states = 5'000});
        const std::int64_t optimum = test::least_peak(graph);
        CHECK(verify::check_order(graph, found).ok);
        CHECK(found.peak == peak_bytes(graph, found.order));
        CHECK(found.lower_bound <= optimum);
        CHECK(found.peak >= optimum);
        CHECK((found.status == status::optimal) == (found.peak == found.lower_bound));
        optimal += found.peak == optimum ? 1 : 0;
    }
    CHECK(optimal >= trials - 3);
}

TEST_CASE("same input, options and seed: same answer") {
    stowage::detail::splitmix64 random(72);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 400, .window = 15}));
    const auto first = order::portfolio{}(graph, {.states = 20'000, .seed = 5});
    const auto second = order::portfolio{}(graph, {.states = 20'000, .seed = 5});
    CHECK(first.order == second.order);
    CHECK(first.lower_bound == second.lower_bound);
    CHECK(first.found_by == second.found_by);
}

TEST_CASE("a user's policies take part, simple or searching; ties go to the first") {
    const auto known = test::known_programs()[1];
    const tensor_graph graph = make_tensor_graph(known.step);
    order::sequence best = order::portfolio{}(graph).order;
    bool saw_incumbent = false;
    const auto mine = [&](const tensor_graph&) { return best; };
    const auto looks = [&](const tensor_graph&, order::context& shared) {
        saw_incumbent = shared.incumbent_peak == 130 && !shared.incumbent.empty();
        if (shared.lower_bound < 130) {
            shared.lower_bound = 130;
            shared.witness = {"search", no_operator};
        }
        return order::sequence{};
    };
    const auto found = order::portfolio{mine, order::lescea{}, looks, mine}(graph);
    CHECK(found.order == best);
    CHECK(found.found_by == "policy 1");
    CHECK(saw_incumbent);
    CHECK(found.status == status::optimal);
    CHECK(found.witness.rule == "search");
    CHECK(order::portfolio{order::in_program_order{}}(graph).found_by == "program");
    CHECK(order::portfolio{order::reversed{order::lescea{}}}(graph).peak <= known.in_program_order);
}

TEST_CASE("nothing runs once the bound is met") {
    const auto known = test::known_programs()[0];
    int calls = 0;
    const auto counts = [&](const tensor_graph& g) {
        ++calls;
        return program_order(g);
    };
    const auto found = order::portfolio{counts}(known.step);
    CHECK(found.status == status::optimal);
    CHECK(calls == 0);
}

TEST_CASE("an order that is not legal is refused, with policy and operator") {
    program step = test::arrows(3, {{0, 1, 10}, {0, 2, 7}, {1, 2, 10}});
    const auto refused = [&](const order::sequence& order, const std::string& text) {
        const auto mine = [&](const tensor_graph&) { return order; };
        try {
            (void)order::portfolio{mine}(step);
        } catch (const program_error& error) {
            CHECK(std::string(error.what()).find("policy 1") != std::string::npos);
            return std::string(error.what()).find(text) != std::string::npos;
        }
        return false;
    };
    const auto always_open = test::known_programs()[1].step;
    step = always_open;
    CHECK(refused({1, 0, 2, 3, 4, 5, 6}, "before operator 0"));
    CHECK(refused({0, 0, 1, 2, 3, 4, 5}, "twice"));
    CHECK(refused({0, 1, 2, 3}, "leaves it out"));
    CHECK(refused({0, 1, 2, 3, 4, 5, 99}, "does not exist"));
}

TEST_CASE("no time at all, or a stop before the start: program order") {
    stowage::detail::splitmix64 random(73);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 200}));
    const auto late = order::portfolio{}(graph, {.time = std::chrono::nanoseconds(0)});
    CHECK(late.order == program_order(graph));
    CHECK(late.found_by == "program");
    std::stop_source stop;
    stop.request_stop();
    CHECK(order::portfolio{}(graph, {.stop = stop.get_token()}).order == program_order(graph));
    const auto no_states = order::portfolio{}(graph, {.states = 0});
    CHECK(verify::check_order(graph, no_states).ok);
}

TEST_CASE("an empty program") {
    const auto found = order::portfolio{}(program{});
    CHECK(found.order.empty());
    CHECK(found.peak == 0);
    CHECK(found.status == status::optimal);
}

TEST_CASE("within another portfolio, and as a policy by itself") {
    const auto known = test::known_programs()[1];
    const tensor_graph graph = make_tensor_graph(known.step);
    CHECK(order::portfolio{order::portfolio{order::lescea{}}, order::portfolio{}}(graph).peak == 130);
    budget account;
    order::context shared{.account = account};
    CHECK(peak_bytes(graph, order::portfolio{}(graph, shared)) == 130);
    CHECK(shared.incumbent.empty());
}
