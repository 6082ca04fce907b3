#include <stowage/order/detail/frontier.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/state_set.hpp>

#include "support/order_problems.hpp"

using namespace stowage;
namespace detail_ = stowage::order::detail;

namespace {

void check_against(const detail_::frontier& state, const detail_::order_problem& problem) {
    detail_::live_state live(problem);
    std::vector<std::uint8_t> run(problem.operator_count(), 0);
    for (const operator_index op : state.trail()) {
        live.run(op);
        run[op] = 1;
    }
    REQUIRE(state.live() == live.live());
    std::set<operator_index> ready;
    std::set<operator_index> falling;
    for (operator_index op = 0; op < problem.operator_count(); ++op) {
        const auto before = problem.predecessors[op];
        REQUIRE(state.contains(op) == (run[op] != 0));
        if (run[op] != 0) continue;
        if (!std::all_of(before.begin(), before.end(), [&](operator_index p) { return run[p] != 0; }))
            continue;
        ready.insert(op);
        REQUIRE(state.is_ready(op));
        REQUIRE(state.hill(op) == live.hill(op));
        const std::int64_t net = live.born_at(op) - live.dead_after(op);
        REQUIRE(state.net(op) == net);
        if (net <= 0) falling.insert(op);
    }
    REQUIRE(std::set<operator_index>(state.ready().begin(), state.ready().end()) == ready);
    REQUIRE(std::set<operator_index>(state.falling().begin(), state.falling().end()) == falling);
}

}  // namespace

TEST_CASE("a frontier agrees with the definition after any steps forth and back, in both directions") {
    stowage::detail::splitmix64 random(61);
    for (int round = 0; round < 400; ++round) {
        CAPTURE(round);
        const tensor_graph graph = test::order_graph(random, 14);
        detail_::order_problem problem = detail_::make_order_problem(graph);
        if (random.below(2) == 0) problem = detail_::reverse(problem);
        detail_::frontier state(problem);
        std::map<std::pair<std::uint64_t, std::uint64_t>, std::set<operator_index>> sets;
        for (int step = 0; step < 60; ++step) {
            if (!state.trail().empty() && (state.ready().empty() || random.below(3) == 0)) {
                state.undo();
            } else {
                state.run(state.ready()[random.below(state.ready().size())]);
            }
            check_against(state, problem);
            const std::set<operator_index> set(state.trail().begin(), state.trail().end());
            const auto [at, added] = sets.try_emplace({state.key().low, state.key().high}, set);
            REQUIRE(at->second == set);
        }
    }
}

TEST_CASE("a blocked operator is not ready until it is unblocked, and what becomes ready is recorded once") {
    stowage::detail::splitmix64 random(62);
    for (int round = 0; round < 200; ++round) {
        const tensor_graph graph = test::order_graph(random, 14);
        const detail_::order_problem problem = detail_::make_order_problem(graph);
        detail_::frontier state(problem);
        const auto blocked = static_cast<operator_index>(random.below(problem.operator_count()));
        state.block(blocked);
        CHECK(state.is_blocked(blocked));
        std::vector<operator_index> recorded;
        state.record_ready(&recorded);
        while (!state.ready().empty())
            state.run(state.ready()[random.below(state.ready().size())]);
        CHECK(!state.contains(blocked));
        state.unblock(blocked);
        while (!state.ready().empty())
            state.run(state.ready()[0]);
        CHECK(state.trail().size() == problem.operator_count());
        state.rewind(0);
        check_against(state, problem);
        std::sort(recorded.begin(), recorded.end());
        CHECK(recorded.size() == problem.operator_count());
        CHECK(std::unique(recorded.begin(), recorded.end()) == recorded.end());
    }
}

TEST_CASE("a set of states holds what was put in and nothing else") {
    stowage::detail::splitmix64 random(63);
    detail_::state_set set;
    std::set<std::pair<std::uint64_t, std::uint64_t>> model;
    for (int step = 0; step < 20'000; ++step) {
        const detail_::state_key key{random.below(300) + 1, random.below(30)};
        CHECK(set.contains(key) == (model.count({key.low, key.high}) != 0));
        if (random.below(4) == 0) {
            set.insert(key);
            model.insert({key.low, key.high});
        }
        if (random.below(10'000) == 0) {
            set.clear();
            model.clear();
        }
        CHECK(set.size() == model.size());
    }
}
