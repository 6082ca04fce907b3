#include <stowage/order/detail/step_program.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/detail/spans.hpp>
#include <stowage/solver/check.hpp>

using namespace stowage;

namespace {

/// Pairs of operators that update one weight each, in place: the order within a pair is carried by no tensor.
tensor_graph updates(int pairs) {
    program step;
    for (int i = 0; i < pairs; ++i) {
        const auto w = step.add_buffer({.bytes = 8, .kind = buffer_kind::parameter});
        for (const std::int64_t bytes : {16, 32}) {
            const auto scratch = step.add_buffer({.bytes = bytes});
            step.add_operator({.reads = {w}, .writes = {w, scratch}});
        }
    }
    return make_tensor_graph(step);
}

}  // namespace

TEST_CASE("dependencies that no tensor carries cost entries in proportion to spans, not to their squares") {
    for (const int pairs : {10, 40}) {
        const tensor_graph graph = updates(pairs);
        const order::detail::order_problem problem = order::detail::make_order_problem(graph);
        const order::detail::step_program posed(
            problem, order::detail::spans_by_count(problem),
            {.steps = problem.operator_count(), .most = problem.total_bytes(), .entries = 1'000'000});
        REQUIRE(posed.built());
        CHECK(posed.program().entry_count() < 12 * posed.program().variable_count());
    }
}

TEST_CASE("an order is values of the program, and one that breaks a dependency is not") {
    const tensor_graph graph = updates(3);
    const order::detail::order_problem problem = order::detail::make_order_problem(graph);
    const order::detail::step_program posed(
        problem, order::detail::spans_by_count(problem),
        {.steps = 6, .most = problem.total_bytes(), .entries = 1'000'000});
    REQUIRE(posed.built());
    const auto broken = [&](const std::vector<std::uint32_t>& steps) {
        return solver::violation(posed.program(), posed.values_of(steps)).has_value();
    };
    CHECK_FALSE(broken({0, 1, 2, 3, 4, 5}));
    CHECK_FALSE(broken({0, 3, 1, 4, 2, 5}));
    CHECK(posed.steps_of(posed.values_of(std::vector<std::uint32_t>{0, 3, 1, 4, 2, 5})) ==
          std::vector<std::uint32_t>{0, 3, 1, 4, 2, 5});
    CHECK(broken({0, 3, 4, 1, 2, 5}));  // the second pair the wrong way round
}
