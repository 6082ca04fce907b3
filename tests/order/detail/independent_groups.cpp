#include <stowage/order/detail/independent_groups.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/order/detail/order_problem.hpp>

using namespace stowage;
namespace detail_ = stowage::order::detail;

namespace {

/// Pairs of a producer and a consumer, each with one more buffer of the kind given; all producers read one
/// that is `shared`.
detail_::order_problem pairs(const std::vector<buffer_kind>& kinds, buffer_kind shared) {
    program step;
    const buffer_id all = step.add_buffer({.bytes = 3, .kind = shared});
    for (const buffer_kind kind : kinds) {
        const buffer_id made = step.add_buffer({.bytes = 2});
        const buffer_id other = step.add_buffer({.bytes = 5, .kind = kind});
        if (kind == buffer_kind::donated) {
            step.add_operator({.reads = {all, other}, .writes = {made}});
            step.add_operator({.reads = {made}});
        } else {
            step.add_operator({.reads = {all}, .writes = {made}});
            step.add_operator({.reads = {made}, .writes = {other}});
        }
    }
    return detail_::make_order_problem(make_tensor_graph(step));
}

}  // namespace

TEST_CASE("closed components stand between those that start alive and those that stay") {
    constexpr buffer_kind closed = buffer_kind::intermediate;
    using group = std::vector<std::uint32_t>;
    const auto groups = [](const std::vector<buffer_kind>& kinds, buffer_kind shared) {
        return detail_::independent_groups(pairs(kinds, shared));
    };
    CHECK(groups({closed, closed}, buffer_kind::parameter) == group{1, 1, 2, 2});
    CHECK(groups({closed, buffer_kind::output, buffer_kind::donated, closed, buffer_kind::donated},
                 buffer_kind::parameter) == group{1, 1, 3, 3, 0, 0, 2, 2, 0, 0});
    CHECK(groups({closed, closed, buffer_kind::output}, buffer_kind::donated) == group{0, 0, 0, 0, 0, 0});
}

TEST_CASE("a component that starts alive and stays alive keeps all together") {
    program step;
    const buffer_id given = step.add_buffer({.bytes = 1, .kind = buffer_kind::donated});
    const buffer_id kept = step.add_buffer({.bytes = 1, .kind = buffer_kind::output});
    const buffer_id made = step.add_buffer({.bytes = 9});
    step.add_operator({.writes = {made}});
    step.add_operator({.reads = {made}});
    step.add_operator({.reads = {given}, .writes = {kept}});
    const auto problem = detail_::make_order_problem(make_tensor_graph(step));
    CHECK(detail_::independent_groups(problem) == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("orders are brought to groups without other changes") {
    CHECK(detail_::by_groups({2, 0, 2, 1}, {3, 2, 1, 0}) == std::vector<operator_index>{1, 3, 2, 0});
    CHECK(detail_::by_groups({}, {}).empty());
}
