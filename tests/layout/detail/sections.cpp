#include <stowage/layout/detail/sections.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "support/layout_cases.hpp"
#include "support/layout_contract.hpp"

namespace layout = stowage::layout;
using layout::detail::make_sections;
using layout::detail::section_range;
using layout::detail::sections;

TEST_CASE("a section starts at a birth that follows a death") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 4, .size = 10}, {.lower = 1, .upper = 2, .size = 5},
                       {.lower = 2, .upper = 4, .size = 7},  {.lower = 3, .upper = 5, .size = 1},
                       {.lower = 9, .upper = 9, .size = 3},  {.lower = 5, .upper = 6, .size = 0},
                       {.lower = 5, .upper = 8, .size = 2}};
    const sections compact = make_sections(problem);
    CHECK(compact.buffers == 7);
    REQUIRE(compact.items.size() == 5);
    CHECK(compact.load == std::vector<std::int64_t>{15, 18, 2});
    CHECK(compact.time == std::vector<std::int64_t>{1, 3, 5});
    CHECK(compact.items[0].range == section_range{0, 2});
    CHECK(compact.items[1].range == section_range{0, 1});
    CHECK(compact.items[2].range == section_range{1, 2});
    CHECK(compact.items[3].range == section_range{1, 2});
    CHECK(compact.items[4].range == section_range{2, 3});
    CHECK(compact.items[4].buffer == 6);
    CHECK(compact.items[3].duration == 2);
    CHECK(compact.peak() == 1);
    CHECK(compact.max_load() == 18);
    CHECK(compact.plain());
}

TEST_CASE("nothing takes part") {
    CHECK(make_sections({}).count() == 0);
    layout::problem problem;
    problem.alignment = 8;
    problem.buffers = {{.lower = 0, .upper = 9, .size = 4, .gaps = {{0, 4}, {4, 9}}}};
    const sections compact = make_sections(problem);
    CHECK(compact.items.empty());
    CHECK(compact.peak() == -1);
    CHECK(compact.max_load() == 0);
    CHECK(compact.alignment == 8);
}

TEST_CASE("a gap counts only if something is born in it") {
    layout::problem problem;
    problem.buffers = {{.lower = 0, .upper = 10, .size = 4, .gaps = {{3, 3}, {4, 6}}},
                       {.lower = 1, .upper = 5, .size = 2}};
    sections compact = make_sections(problem);
    CHECK_FALSE(compact.gapped);
    CHECK(compact.items[0].range == section_range{0, 2});
    problem.buffers.push_back({.lower = 4, .upper = 6, .size = 8});
    compact = make_sections(problem);
    REQUIRE(compact.gapped);
    CHECK(compact.load == std::vector<std::int64_t>{6, 10, 4});
    REQUIRE(compact.pieces_of(0).size() == 2);
    CHECK(compact.pieces_of(0)[0] == section_range{0, 1});
    CHECK(compact.pieces_of(0)[1] == section_range{2, 3});
    CHECK(compact.items[0].range == section_range{0, 3});
    CHECK(compact.pieces_of(2).size() == 1);
}

TEST_CASE("buffers meet if and only if they share a section") {
    stowage::detail::splitmix64 random(5);
    for (const auto& features : layout_cases::feature_sets()) {
        for (int round = 0; round < 100; ++round) {
            const layout::problem problem =
                layout_cases::random_problem(1 + random.below(12), features, random);
            const sections compact = make_sections(problem);
            CHECK(compact.max_load() == layout_cases::load(problem));
            const auto share = [&](std::size_t i, std::size_t j) {
                for (const section_range& x : compact.pieces_of(i)) {
                    for (const section_range& y : compact.pieces_of(j)) {
                        if (x.first < y.last && y.first < x.last) return true;
                    }
                }
                return false;
            };
            for (std::size_t i = 0; i < compact.items.size(); ++i) {
                const layout::buffer& a = problem.buffers[compact.items[i].buffer];
                CHECK(compact.items[i].range.first < compact.items[i].range.last);
                for (std::size_t j = 0; j < i; ++j) {
                    CHECK(share(i, j) == layout_cases::meet(a, problem.buffers[compact.items[j].buffer]));
                }
                for (std::int32_t s = 0; s < compact.count(); ++s) {
                    bool inside = false;
                    for (const section_range& x : compact.pieces_of(i))
                        inside |= x.first <= s && s < x.last;
                    const std::int64_t at = compact.time[static_cast<std::size_t>(s)];
                    bool held = false;
                    for (const auto& span : layout_cases::held(a))
                        held |= span.lower <= at && at < span.upper;
                    CHECK(inside == held);
                }
            }
            std::vector<std::int64_t> loads = layout::detail::largest_loads(compact);
            for (std::size_t i = 0; i < loads.size(); ++i) {
                const section_range range = compact.items[i].range;
                CHECK(loads[i] == *std::max_element(compact.load.begin() + range.first,
                                                    compact.load.begin() + range.last));
            }
        }
    }
}

TEST_CASE("times and sizes up to 2^63 - 1") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    layout::problem problem;
    problem.buffers = {{.lower = std::numeric_limits<std::int64_t>::min(), .upper = most, .size = most - 1},
                       {.lower = most - 1, .upper = most, .size = 1}};
    const sections compact = make_sections(problem);
    CHECK(compact.count() == 1);
    CHECK(compact.max_load() == most);
    CHECK(compact.items[0].duration == most);
    problem.buffers[1].size = 2;
    CHECK_THROWS_AS(static_cast<void>(make_sections(problem)), stowage::overflow_error);
}

TEST_CASE("alignments of problem and buffer hold together") {
    layout::problem problem;
    problem.alignment = 4;
    problem.buffers = {{.lower = 0, .upper = 1, .size = 1, .alignment = 6},
                       {.lower = 0, .upper = 1, .size = 1, .alignment = 12}};
    sections compact = make_sections(problem);
    CHECK(compact.items[0].alignment == 12);
    CHECK(compact.alignment == 12);
    CHECK(compact.plain());
    problem.buffers.push_back({.lower = 2, .upper = 3, .size = 1, .alignment = 5, .offset = 20});
    compact = make_sections(problem);
    CHECK(compact.alignment == 4);
    CHECK(compact.mixed_alignment);
    CHECK(compact.pinned);
    CHECK(compact.items[2].pinned());
    CHECK(layout::detail::common_alignment(std::numeric_limits<std::int64_t>::max(), 2) ==
          std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("sorting by time is stable, near and far") {
    const std::vector<std::int64_t> near = {3, 1, 3, 0, 1};
    CHECK(layout::detail::sorted_by_time(near) == std::vector<std::uint32_t>{3, 1, 4, 0, 2});
    const std::vector<std::int64_t> far = {1'000'000, -5, 1'000'000, std::numeric_limits<std::int64_t>::min(),
                                           -5};
    CHECK(layout::detail::sorted_by_time(far) == std::vector<std::uint32_t>{3, 1, 4, 0, 2});
    CHECK(layout::detail::sorted_by_time({}).empty());
}
