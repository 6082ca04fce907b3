#include <stowage/layout/detail/skyline_engine.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/layout/detail/ranking.hpp>
#include "support/layout_cases.hpp"

namespace layout = stowage::layout;
using layout::slack_rule;
using layout::detail::sections;
using layout::detail::skyline_engine;
using layout::detail::skyline_run;

namespace {

stowage::budget plenty() {
    return stowage::budget({.states = std::numeric_limits<std::uint64_t>::max()});
}

/// The rule, word for word, on a list of heights a section.
std::vector<std::int64_t> plain_skyline(const sections& compact, const std::vector<std::uint32_t>& ranked,
                                        slack_rule rule, std::int64_t target) {
    constexpr std::int64_t no_wall = std::numeric_limits<std::int64_t>::max();
    const std::size_t k = compact.load.size();
    std::vector<std::int64_t> floor(k, 0);
    std::vector<std::int64_t> offsets(compact.items.size(), -1);
    for (std::size_t left = compact.items.size(); left > 0;) {
        const auto lowest =
            static_cast<std::size_t>(std::min_element(floor.begin(), floor.end()) - floor.begin());
        std::size_t end = lowest;
        while (end < k && floor[end] == floor[lowest])
            ++end;
        const std::int64_t wall =
            std::min(lowest > 0 ? floor[lowest - 1] : no_wall, end < k ? floor[end] : no_wall);
        std::size_t tight = lowest;
        std::int64_t least = no_wall;
        for (std::size_t s = lowest; s < end; ++s) {
            std::int64_t slack = target - floor[s];
            for (std::size_t i = 0; i < compact.items.size(); ++i) {
                const auto& entry = compact.items[i];
                const auto at = static_cast<std::int32_t>(s);
                if (offsets[i] < 0 && entry.range.first <= at && at < entry.range.last) slack -= entry.size;
            }
            if (slack < least) {
                least = slack;
                tight = s;
            }
        }
        const bool must = rule == slack_rule::always || (rule == slack_rule::when_needed &&
                                                         (wall == no_wall || least < wall - floor[lowest]));
        const auto best = [&](bool covering) {
            for (const std::uint32_t i : ranked) {
                const auto range = compact.items[i].range;
                if (offsets[i] >= 0 || range.first < static_cast<std::int32_t>(lowest) ||
                    range.last > static_cast<std::int32_t>(end)) {
                    continue;
                }
                const auto at = static_cast<std::int32_t>(tight);
                if (!covering || (range.first <= at && at < range.last)) return static_cast<std::int32_t>(i);
            }
            return -1;
        };
        std::int32_t chosen = must ? best(true) : -1;
        if (chosen < 0) chosen = best(false);
        if (chosen < 0) {
            std::fill(floor.begin() + static_cast<std::ptrdiff_t>(lowest),
                      floor.begin() + static_cast<std::ptrdiff_t>(end), wall);
            continue;
        }
        const auto& entry = compact.items[static_cast<std::size_t>(chosen)];
        offsets[static_cast<std::size_t>(chosen)] = floor[lowest];
        std::fill(floor.begin() + entry.range.first, floor.begin() + entry.range.last,
                  floor[lowest] + entry.size);
        --left;
    }
    return offsets;
}

}  // namespace

TEST_CASE("does what the rule says, with every key and slack rule") {
    stowage::detail::splitmix64 random(17);
    for (int round = 0; round < 300; ++round) {
        const layout::problem problem =
            layout_cases::random_problem(1 + random.below(30), {.empty = true}, random);
        const sections compact = layout::detail::make_sections(problem);
        skyline_engine engine(compact);
        CHECK(engine.rounded_load() == compact.max_load());
        std::vector<std::int64_t> offsets(compact.items.size());
        for (const layout::key key : layout::all_keys) {
            const auto ranked = layout::detail::ranked_by(compact, key);
            for (const slack_rule rule : {slack_rule::none, slack_rule::when_needed, slack_rule::always}) {
                auto account = plenty();
                const auto outcome = engine.run(ranked, {.slack = rule}, offsets, account);
                REQUIRE(outcome.complete);
                CHECK(outcome.arena == layout::detail::arena_of_items(compact, offsets));
                CHECK(offsets == plain_skyline(compact, ranked, rule, compact.max_load()));
            }
        }
    }
}

TEST_CASE("alignments are honoured on the way") {
    stowage::detail::splitmix64 random(23);
    for (int round = 0; round < 300; ++round) {
        const layout::problem problem = layout_cases::random_problem(
            1 + random.below(30), {.alignment = true, .mixed_alignment = round % 2 == 0}, random);
        const sections compact = layout::detail::make_sections(problem);
        skyline_engine engine(compact);
        std::vector<std::int64_t> offsets(compact.items.size());
        const auto ranked = layout::detail::ranked_by(compact, layout::key::size_duration);
        for (const slack_rule rule : {slack_rule::none, slack_rule::when_needed, slack_rule::always}) {
            auto account = plenty();
            REQUIRE(engine.run(ranked, {.slack = rule}, offsets, account).complete);
            CHECK(layout_cases::fault(problem,
                                      layout::detail::offsets_by_buffer(problem, compact, offsets)) == "");
        }
    }
}

TEST_CASE("a limit, an account and a conflict end a run") {
    layout::problem problem;
    // The long one on top of the short ones: section 1 loses a byte to section 0 and has none to lose.
    problem.buffers = {{.lower = 0, .upper = 1, .size = 3},
                       {.lower = 1, .upper = 2, .size = 2},
                       {.lower = 0, .upper = 2, .size = 4},
                       {.lower = 1, .upper = 2, .size = 1},
                       {.lower = 1, .upper = 2, .size = 1}};
    const sections compact = layout::detail::make_sections(problem);
    skyline_engine engine(compact);
    std::vector<std::int64_t> offsets(5);
    const std::vector<std::uint32_t> ranked = {0, 1, 2, 3, 4};
    auto account = plenty();
    CHECK(engine.run(ranked, {.limit = 9}, offsets, account).complete);
    CHECK_FALSE(engine.run(ranked, {.limit = 8}, offsets, account).complete);
    stowage::budget little({.states = 1});
    CHECK_FALSE(engine.run(ranked, {}, offsets, little).complete);
}

TEST_CASE("the first section that loses more than its slack is reported") {
    stowage::detail::splitmix64 random(41);
    int conflicts = 0;
    for (int round = 0; round < 200; ++round) {
        const layout::problem problem = layout_cases::random_problem(20, {}, random);
        const sections compact = layout::detail::make_sections(problem);
        skyline_engine engine(compact);
        std::vector<std::int64_t> offsets(compact.items.size());
        const auto ranked = layout::detail::ranked_by(compact, layout::key::duration);
        for (const slack_rule rule : {slack_rule::when_needed, slack_rule::always}) {
            auto account = plenty();
            const auto whole = engine.run(ranked, {.slack = rule}, offsets, account);
            REQUIRE(whole.complete);
            // Without a conflict no section has lost more than it had: the arena is the load.
            CHECK((whole.conflict < 0) == (whole.arena == compact.max_load()));
            const skyline_run until{.slack = rule, .stop_at_conflict = true};
            const auto stopped = engine.run(ranked, until, offsets, account);
            CHECK(stopped.complete == (whole.conflict < 0));
            CHECK(stopped.conflict == whole.conflict);
            if (whole.conflict >= 0) ++conflicts;
        }
    }
    CHECK(conflicts > 5);
}

TEST_CASE("sizes near 2^63 do not wrap") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    layout::problem problem;
    problem.alignment = 64;
    problem.buffers = {{.lower = 0, .upper = 2, .size = most},
                       {.lower = 2, .upper = 4, .size = most},
                       {.lower = 4, .upper = 5, .size = 1}};
    const sections compact = layout::detail::make_sections(problem);
    skyline_engine engine(compact);
    std::vector<std::int64_t> offsets(3);
    const std::vector<std::uint32_t> ranked = {0, 1, 2};
    for (const slack_rule rule : {slack_rule::none, slack_rule::when_needed, slack_rule::always}) {
        auto account = plenty();
        const auto outcome = engine.run(ranked, {.slack = rule}, offsets, account);
        CHECK(outcome.complete);
        CHECK(outcome.arena == most);
        CHECK(offsets == std::vector<std::int64_t>{0, 0, 0});
    }
    problem.buffers.push_back({.lower = 0, .upper = 5, .size = 0});
    problem.buffers.push_back({.lower = 4, .upper = 5, .size = most - 1});
    const sections full = layout::detail::make_sections(problem);
    skyline_engine second(full);
    offsets.resize(4);
    const std::vector<std::uint32_t> by_index = {0, 1, 2, 3};
    auto account = plenty();
    CHECK_FALSE(second.run(by_index, {}, offsets, account).complete);
}
