#include <stowage/layout/best_fit.hpp>

#include <doctest/doctest.h>

#include "support/layout_contract.hpp"

namespace layout = stowage::layout;
using layout::placement_order;

static_assert(layout::simple_layout_policy<layout::best_fit>);
static_assert(layout::searching_layout_policy<layout::best_fit>);

TEST_CASE("best fit in every order keeps the contract of policies") {
    for (const placement_order order :
         {placement_order::birth, placement_order::size, placement_order::duration,
          placement_order::size_duration, placement_order::load}) {
        CAPTURE(to_string(order));
        layout_cases::check_contract(layout::best_fit{{.order = order}});
    }
}

TEST_CASE("best fit takes the smallest gap that does, the lowest of several") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 4}, {.lower = 0, .upper = 9, .size = 1},
                       {.lower = 0, .upper = 2, .size = 2}, {.lower = 0, .upper = 9, .size = 1},
                       {.lower = 0, .upper = 2, .size = 2}, {.lower = 0, .upper = 9, .size = 1},
                       {.lower = 2, .upper = 3, .size = 2}, {.lower = 2, .upper = 3, .size = 5}};
    const layout::best_fit policy{{.order = placement_order::birth}};
    CHECK(policy(problem) == layout::offset_list{0, 4, 5, 7, 8, 10, 5, 11});
    CHECK(policy.name() == "best_fit by birth");
}
