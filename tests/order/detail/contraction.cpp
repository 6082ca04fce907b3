#include <stowage/order/detail/contraction.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/detail/cut_network.hpp>
#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/reduction.hpp>
#include <stowage/order/detail/valley_solver.hpp>

#include "support/brute_force_order.hpp"
#include "support/order_problems.hpp"
#include "support/rounds.hpp"

using namespace stowage;
namespace detail_ = stowage::order::detail;

namespace {

constexpr detail_::reduction_settings only_contract{.last_users = false, .idle = false, .merge = false};

}  // namespace

TEST_CASE("contraction keeps the least peak, the cuts and the hills, and raises no order") {
    stowage::detail::splitmix64 random(73);
    int joined = 0;
    for (int round = 0; round < stowage::test::rounds(10'000); ++round) {
        CAPTURE(round);
        const tensor_graph graph = test::order_graph(random);
        const detail_::order_problem whole = detail_::make_order_problem(graph);
        const detail_::reduction_settings settings =
            random.below(2) == 0 ? only_contract : detail_::reduction_settings{};
        const detail_::reduction small = detail_::reduce(whole, settings);
        const detail_::order_problem& problem = small.problem;
        joined += static_cast<int>(small.members.values.size() - problem.operator_count());
        REQUIRE(std::is_sorted(small.origin.begin(), small.origin.end()));
        const std::vector<operator_index> any = test::random_order(random, whole);
        const std::vector<operator_index> order = detail_::restrict_order(whole, small, any);
        REQUIRE(test::is_legal(problem, order));
        REQUIRE(detail_::peak_of(problem, order) <= detail_::peak_of(whole, any));
        const std::vector<operator_index> expanded = detail_::expand(whole, small, order);
        REQUIRE(test::is_legal(whole, expanded));
        REQUIRE(detail_::peak_of(whole, expanded) == detail_::peak_of(problem, order));
        REQUIRE(detail_::restrict_order(whole, small, expanded) == order);

        const std::int64_t least = test::least_peak(graph);
        detail_::valley_solver solver(problem);
        detail_::search_effort effort;
        REQUIRE(solver.decide(least, 1'000'000, effort) == detail_::verdict::found);
        if (problem.operator_count() > 0)
            REQUIRE(solver.decide(least - 1, 1'000'000, effort) == detail_::verdict::refuted);

        detail_::cut_network cuts(problem);
        detail_::cut_network cuts_of_whole(whole);
        for (operator_index op = 0; op < problem.operator_count(); ++op) {
            CHECK(problem.workspace[op] >= 0);
            const operator_index same = small.origin[op];
            CHECK(cuts.least_live(op) + problem.born_bytes[op] + problem.workspace[op] ==
                  cuts_of_whole.least_live(same) + whole.born_bytes[same] + whole.workspace[same]);
        }
    }
    CHECK(joined > stowage::test::rounds(10'000));
}

TEST_CASE("an update ends in the operator that makes its gradient, and an upload in its reader") {
    program step;
    const auto weight = step.add_buffer({.bytes = 100, .kind = buffer_kind::parameter});
    const auto input = step.add_buffer({.bytes = 100, .kind = buffer_kind::input});
    const auto uploaded = step.add_buffer({.bytes = 100});
    const auto gradient = step.add_buffer({.bytes = 100});
    const auto scaled = step.add_buffer({.bytes = 50});
    step.add_operator({.reads = {input}, .writes = {uploaded}});
    step.add_operator({.reads = {uploaded}, .writes = {gradient}});
    step.add_operator({.reads = {gradient}, .writes = {scaled}});
    step.add_operator({.reads = {scaled, weight}, .writes = {weight}});
    const detail_::order_problem whole = detail_::make_order_problem(make_tensor_graph(step));
    const detail_::reduction small = detail_::reduce(whole);
    REQUIRE(small.problem.operator_count() == 1);
    CHECK(small.problem.workspace[0] == 200);
    CHECK(std::vector<operator_index>(small.members[0].begin(), small.members[0].end()) ==
          std::vector<operator_index>{0, 1, 2, 3});
    CHECK(detail_::reduce(whole, {.contract = false}).problem.operator_count() == 4);
}

TEST_CASE("what falls and then rises higher stays apart") {
    program step;
    const auto given = step.add_buffer({.bytes = 10, .kind = buffer_kind::donated});
    const auto small = step.add_buffer({.bytes = 1});
    const auto result = step.add_buffer({.bytes = 20, .kind = buffer_kind::output});
    step.add_operator({.reads = {given}, .writes = {small}});
    step.add_operator({.reads = {small}, .writes = {result}});
    const detail_::order_problem whole = detail_::make_order_problem(make_tensor_graph(step));
    CHECK(detail_::reduce(whole).problem.operator_count() == 2);
}
