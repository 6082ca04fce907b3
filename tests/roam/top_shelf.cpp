#include <stowage/roam/top_shelf.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/verify.hpp>

using namespace stowage;

namespace {

constexpr std::int64_t granule = 64;

layout::problem random_problem(std::uint64_t seed) {
    stowage::detail::splitmix64 random(seed);
    layout::problem result{.alignment = granule};
    for (std::uint64_t k = 4 + random.below(20); k > 0; --k) {
        const auto lower = static_cast<std::int64_t>(random.below(12));
        const bool small = random.below(3) == 0;  // 60 bytes of padding, the others have less
        const auto size = 1 + static_cast<std::int64_t>(random.below(4));
        result.buffers.push_back(
            {.lower = lower,
             .upper = lower + 1 + static_cast<std::int64_t>(random.below(8)),
             .size = small ? 4 : granule * size - static_cast<std::int64_t>(random.below(60))});
    }
    return result;
}

std::int64_t rounded_load(const layout::problem& problem, std::int64_t time) {
    std::int64_t load = 0;
    for (const layout::buffer& b : problem.buffers) {
        if (b.lower <= time && time < b.upper) load += (b.size + granule - 1) / granule * granule;
    }
    return load;
}

}  // namespace

TEST_CASE("a shelf holds one small buffer at every full moment, and two never meet on it") {
    int shelves = 0;
    int refused = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const layout::problem problem = random_problem(seed);
        std::int64_t top = 0;
        for (std::int64_t t = 0; t < 20; ++t)
            top = std::max(top, rounded_load(problem, t));
        const std::vector<std::size_t> shelf = roam::top_shelf(problem, top - granule, 4);
        std::vector<int> on_top(20, 0);
        for (const std::size_t b : shelf) {
            CHECK(problem.buffers[b].size <= 4);
            for (std::int64_t t = problem.buffers[b].lower; t < problem.buffers[b].upper; ++t)
                ++on_top[static_cast<std::size_t>(t)];
        }
        for (std::int64_t t = 0; t < 20; ++t) {
            CHECK(on_top[static_cast<std::size_t>(t)] <= 1);
            if (!shelf.empty() && rounded_load(problem, t) == top)
                CHECK(on_top[static_cast<std::size_t>(t)] == 1);
        }
        ++(shelf.empty() ? refused : shelves);
    }
    CHECK(shelves > 40);
    CHECK(refused > 40);
}

TEST_CASE("with pins, gaps, pools or mixed alignments there is no shelf; nor where nothing is too high") {
    layout::problem problem{
        .buffers = {{.lower = 0, .upper = 2, .size = 4}, {.lower = 0, .upper = 2, .size = 64}},
        .alignment = granule};
    CHECK(roam::top_shelf(problem, 64, 4) == std::vector<std::size_t>{0});
    CHECK(roam::top_shelf(problem, 64, 3).empty());
    CHECK(roam::top_shelf(problem, 128, 4).empty());
    layout::problem pinned = problem;
    pinned.buffers[1].offset = 64;
    CHECK(roam::top_shelf(pinned, 64, 4).empty());
    layout::problem mixed = problem;
    mixed.buffers[1].alignment = 128;
    CHECK(roam::top_shelf(mixed, 64, 4).empty());
    problem.capacities = {1000, 1000};
    CHECK(roam::top_shelf(problem, 64, 4).empty());
}

TEST_CASE("layouts to a proven bound are valid, and reach it by the shelf where first fit alone does not") {
    int better = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const layout::problem problem = random_problem(seed);
        std::int64_t top = 0;
        for (std::int64_t t = 0; t < 20; ++t)
            top = std::max(top, rounded_load(problem, t));
        // What the rule says of this one order: nothing below top - 60, if buffers of 4 bytes are the
        // smallest.
        const roam::proven_arena proven{top - 60,
                                        {.granule = granule, .threshold = 61, .bytes = top, .by = {}}};
        budget account;
        budget other;
        const layout::solution found =
            roam::lay_out_to_bound(problem, layout::first_fit{}, account, 1, proven);
        const verify::verdict verdict = verify::check_layout(problem, found);
        REQUIRE_MESSAGE(verdict.ok, "seed ", seed, ": ", verdict.reason);
        const layout::solution plain = layout::plan(problem, layout::first_fit{}, other);
        CHECK(found.arena <= plain.arena);
        better += found.arena < plain.arena ? 1 : 0;
    }
    CHECK(better > 20);
}
