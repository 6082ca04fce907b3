#include <stowage/layout/detail/simpler_problem.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "../../support/layout_cases.hpp"

namespace layout = stowage::layout;

TEST_CASE("every layout of the simpler problem is one of the problem itself") {
    stowage::detail::splitmix64 random(1);
    for (int round = 0; round < 300; ++round) {
        const layout_cases::features features{
            .alignment = round % 2 == 0, .mixed_alignment = true, .gaps = true, .empty = round % 3 == 0};
        const layout::problem problem = layout_cases::random_problem(6, features, random);
        const layout::problem strict = layout::detail::simpler_problem(problem, 4096);
        CAPTURE(round);
        CHECK(layout::detail::make_sections(strict).plain());
        std::vector<std::int64_t> offsets;  // one on another
        std::int64_t top = 0;
        for (const layout::buffer& b : strict.buffers) {
            CHECK(b.gaps.empty());
            const std::int64_t step = layout::detail::common_alignment(strict.alignment, b.alignment);
            top = (top + step - 1) / step * step;
            offsets.push_back(b.takes_part() ? top : 0);
            if (b.takes_part()) top += b.size;
        }
        CHECK(layout_cases::fault(strict, offsets) == "");
        CHECK(layout_cases::fault(problem, offsets) == "");
        CHECK(layout_cases::least_arena(strict) >= layout_cases::least_arena(problem));
    }
}

TEST_CASE("an alignment above the largest is left as it is") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 2, .size = 5, .alignment = 64},
                       {.lower = 0, .upper = 4, .size = 5, .alignment = 3, .gaps = {{1, 2}}}};
    const layout::problem strict = layout::detail::simpler_problem(problem, 100);
    CHECK(strict.buffers[0].alignment == 64);
    CHECK(strict.buffers[1].alignment == 3);
    CHECK(strict.buffers[1].gaps.empty());
    CHECK(layout::detail::simpler_problem(problem, 192).buffers[1].alignment == 192);
}
