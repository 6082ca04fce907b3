#include <stowage/layout/first_fit.hpp>

#include <doctest/doctest.h>

#include "support/layout_contract.hpp"

namespace layout = stowage::layout;
using layout::placement_order;

static_assert(layout::simple_layout_policy<layout::first_fit>);
static_assert(layout::searching_layout_policy<layout::first_fit>);

TEST_CASE("first fit in every order keeps the contract of policies") {
    for (const placement_order order :
         {placement_order::birth, placement_order::size, placement_order::duration,
          placement_order::size_duration, placement_order::load}) {
        CAPTURE(to_string(order));
        layout_cases::check_contract(layout::first_fit{{.order = order}});
    }
}

TEST_CASE("first fit takes the lowest gap, best fit would take the snuggest") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 4},
                       {.lower = 0, .upper = 9, .size = 1},
                       {.lower = 0, .upper = 2, .size = 2},
                       {.lower = 0, .upper = 9, .size = 1},
                       {.lower = 2, .upper = 3, .size = 2}};
    CHECK(layout::first_fit{}(problem) == layout::offset_list{0, 4, 5, 7, 0});
}

TEST_CASE("the bytes below the lowest live buffer are a gap like any other") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 3, .size = 70},
                       {.lower = 1, .upper = 5, .size = 50},
                       {.lower = 3, .upper = 7, .size = 45}};
    CHECK(layout::first_fit{}(problem) == layout::offset_list{0, 70, 0});
}

TEST_CASE("an offset past 2^63 - 1 is an error, never a negative number") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 9},
                       {.lower = 0, .upper = 2, .size = 4, .alignment = std::int64_t{1} << 62},
                       {.lower = 0, .upper = 2, .size = 4, .alignment = std::int64_t{1} << 62},
                       {.lower = 0, .upper = 2, .size = 4, .alignment = std::int64_t{1} << 62}};
    CHECK_THROWS_AS(static_cast<void>(layout::first_fit{}(problem)), stowage::overflow_error);
}
