#include <stowage/order/integer_program.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/verify/order.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"

using namespace stowage;
using namespace stowage::order;

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
static_assert(order_policy<integer_program<faulty>>);

struct no_solver {};
template <class Solver>
concept programmable = requires {
    typename integer_program<Solver>;
};
static_assert(programmable<solver::enumerator> && !programmable<no_solver>);

/// Tensors of one producer and their consumers, as the tables of known answers list them.
struct edge {
    int from;
    int to;
    std::int64_t bytes;
};

tensor_graph graph_of(int operators, const std::vector<edge>& edges,
                      const std::vector<std::pair<int, int>>& control = {}) {
    program made;
    std::vector<operator_options> ops(static_cast<std::size_t>(operators));
    for (const edge& e : edges) {
        const buffer_id b = made.add_buffer({.bytes = e.bytes});
        ops[static_cast<std::size_t>(e.from)].writes.push_back(b);
        ops[static_cast<std::size_t>(e.to)].reads.push_back(b);
    }
    for (const auto& [from, to] : control)
        ops[static_cast<std::size_t>(to)].after.push_back(operator_id{static_cast<std::uint32_t>(from)});
    for (operator_options& op : ops)
        made.add_operator(op);
    return make_tensor_graph(made);
}

void check_optimum(const tensor_graph& graph, std::int64_t expected) {
    for (const bool warm : {true, false}) {
        const integer_program<> policy{.options = {.warm_start = warm}};
        budget account({.states = 2'000'000'000});
        const order::solution found = order::plan(graph, policy, account);
        const verify::verdict verdict = verify::check_order(graph, found);
        CAPTURE(verdict.reason);
        CHECK(verdict.ok);
        CHECK(found.peak == expected);
        CHECK(found.status == status::optimal);
        context alone{.account = account};  // no bound but its own
        const sequence order = policy(graph, alone);
        CHECK(peak_bytes(graph, order) == expected);
        CHECK(alone.lower_bound == expected);
    }
}

}  // namespace

TEST_CASE("known answers") {
    check_optimum(graph_of(5, {{0, 1, 10}, {1, 2, 20}, {1, 3, 30}, {3, 4, 40}}), 70);
    const std::vector<edge> diamond = {{0, 1, 10}, {1, 2, 20}, {1, 3, 30}, {3, 4, 40},
                                       {4, 5, 50}, {2, 5, 60}, {5, 6, 10}};
    check_optimum(graph_of(7, diamond), 130);
    check_optimum(graph_of(7, diamond, {{2, 4}}), 150);
    check_optimum(graph_of(5, {{0, 1, 10}, {0, 2, 20}, {1, 3, 30}, {3, 4, 40}, {2, 4, 50}}), 110);
}

TEST_CASE("the integer program is exact on small programs with everything") {
    stowage::detail::splitmix64 random(31);
    for (int round = 0; round < 150; ++round) {
        const program made = test::any_program(random, {.operators = 2 + random.below(5)});
        const tensor_graph graph = make_tensor_graph(made);
        CAPTURE(round);
        check_optimum(graph, test::least_peak(graph));
    }
}

TEST_CASE("it never disagrees with the exact searches") {
    stowage::detail::splitmix64 random(32);
    for (int round = 0; round < 20; ++round) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 9}));
        CAPTURE(round);
        budget account({.states = 300'000'000});
        const order::solution ours = order::plan(graph, integer_program<>{}, account);
        budget other;
        const order::solution theirs = order::plan(graph, exact{}, other);
        REQUIRE(theirs.status == status::optimal);
        CHECK(ours.lower_bound <= theirs.peak);
        CHECK(ours.peak >= theirs.peak);
        if (ours.status == status::optimal) CHECK(ours.peak == theirs.peak);
    }
}

TEST_CASE("a context's bound is raised, its incumbent kept") {
    const tensor_graph graph = graph_of(5, {{0, 1, 10}, {0, 2, 20}, {1, 3, 30}, {3, 4, 40}, {2, 4, 50}});
    budget account({.states = 100'000'000});
    context shared{.account = account};
    const sequence found = integer_program<>{}(graph, shared);
    CHECK(peak_bytes(graph, found) == 110);
    CHECK(shared.lower_bound == 110);
    CHECK(shared.witness.rule == "integer program");
    CHECK(shared.incumbent.empty());
    shared.incumbent = found;
    shared.incumbent_peak = 110;
    shared.lower_bound = 0;
    CHECK(integer_program<>{}(graph, shared).empty());
    CHECK(shared.lower_bound == 110);
    CHECK(shared.incumbent.data() == found.data());
}

TEST_CASE("faults of the solver never cost the order that there was") {
    stowage::detail::splitmix64 random(33);
    for (int round = 0; round < 30; ++round) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 10}));
        for (const auto kind : {faulty::kind::throws, faulty::kind::lies, faulty::kind::shrugs}) {
            int told = 0;
            const integer_program<faulty> policy{
                .solver = {kind},
                .options = {.limits = {.on_fault = [&](const solver::solver_error&) { ++told; }}}};
            budget account;
            const order::solution found = order::plan(graph, policy, account);
            CHECK(verify::check_order(graph, found));
            CHECK(told <= 1);
            if (found.status != status::optimal && kind != faulty::kind::shrugs) CHECK(told == 1);
        }
    }
}

TEST_CASE("limits of nothing leave the warm start") {
    stowage::detail::splitmix64 random(34);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 15}));
    using namespace std::chrono_literals;
    budget clock({.time = 0ns});
    CHECK(verify::check_order(graph, order::plan(graph, integer_program<>{}, clock)));
    for (int round = 0; round < 20; ++round) {
        std::stop_source stop;
        std::jthread killer([&, pause = std::chrono::microseconds(random.below(3'000))] {
            std::this_thread::sleep_for(pause);
            stop.request_stop();
        });
        budget account({.time = 10s, .stop = stop.get_token()});
        CHECK(verify::check_order(graph, order::plan(graph, integer_program<>{}, account)));
    }
}

TEST_CASE("what is too large is refused politely") {
    stowage::detail::splitmix64 random(35);
    const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 30}));
    budget account;
    context shared{.account = account};
    CHECK(integer_program<>{.options = {.operators = 29}}(graph, shared).empty());
    CHECK(shared.lower_bound == 0);
    const sequence found = integer_program<>{.options = {.limits = {.entries = 100}}}(graph, shared);
    CHECK(verify::check_order(graph, std::span<const operator_index>(found)));  // the warm start
    CHECK(shared.lower_bound == 0);
    const tensor_graph nothing = make_tensor_graph(program{});
    CHECK(integer_program<>{}(nothing, shared).empty());
}
