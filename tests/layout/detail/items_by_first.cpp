#include <stowage/layout/detail/items_by_first.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/layout/detail/sections.hpp>

namespace layout = stowage::layout;

TEST_CASE("items that begin in some sections have places in a row, the shorter first") {
    layout::problem problem;
    problem.buffers = {{.lower = 2, .upper = 9, .size = 1},
                       {.lower = 0, .upper = 3, .size = 1},
                       {.lower = 0, .upper = 1, .size = 1},
                       {.lower = 2, .upper = 9, .size = 1},
                       {.lower = 6, .upper = 7, .size = 1}};
    const layout::detail::sections compact = layout::detail::make_sections(problem);
    REQUIRE(compact.count() == 3);
    const layout::detail::items_by_first all(compact, [](std::uint32_t) { return true; });
    CHECK(all.items == std::vector<std::uint32_t>{2, 1, 0, 3, 4});
    CHECK(all.position == std::vector<std::uint32_t>{2, 1, 0, 3, 4});
    CHECK(all.start == std::vector<std::uint32_t>{0, 2, 4, 5});
    const layout::detail::items_by_first some(compact, [](std::uint32_t i) { return i != 0; });
    CHECK(some.items == std::vector<std::uint32_t>{2, 1, 3, 4});
    CHECK(some.from(1) == 2);
    CHECK(some.from(2) == 3);
    CHECK(some.from(3) == 4);
}
