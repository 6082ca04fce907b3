#include <stowage/verify/arena_proof.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include <stowage/order/prove.hpp>
#include <stowage/roam/granule.hpp>
#include <stowage/roam/planner.hpp>

#include "support/random_program.hpp"

using namespace stowage;

TEST_CASE("what best proves of aligned arenas is accepted, by cuts and by steps; a granule more is not") {
    int cuts = 0;
    int steps = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 10}));
        const plan made = roam::best(graph, {.alignment = 8, .states = 20'000});
        arena_witness claim = made.arena_witness;
        if (claim.granule == 1 || claim.bytes == 0) continue;
        CHECK(claim.arena_bound() <= made.arena.bytes);
        if (claim.by.at != no_operator && verify::check_arena_witness(graph, 8, claim).ok) {
            ++cuts;
        } else {
            budget account({.states = 1'000'000});
            const tensor_graph counted = roam::counted_program(graph, claim.granule).counted(claim.threshold);
            const auto proof =
                order::prove_no_order_within(counted, claim.bytes - claim.granule, made.order, account);
            if (!proof) continue;
            const verify::verdict yes = verify::check_arena_witness(graph, 8, claim, &*proof);
            REQUIRE_MESSAGE(yes.ok, yes.reason);
            ++steps;
            order::order_proof other = *proof;
            other.bound += 1;
            CHECK_FALSE(verify::check_arena_witness(graph, 8, claim, &other).ok);
        }
        claim.bytes += 8 * (made.arena.bytes / 8 + 1);
        CHECK_FALSE(verify::check_arena_witness(graph, 8, claim).ok);
    }
    CHECK(cuts > 40);
    CHECK(steps > 2);
}

TEST_CASE("figures that do not go together are refused") {
    program result;
    const auto a = result.add_buffer({.bytes = 10, .name = "a", .alignment = 4});
    result.add_operator({.writes = {a}});
    const tensor_graph graph = make_tensor_graph(result);
    const arena_witness good{.granule = 8, .threshold = 7, .bytes = 16, .by = {"min cut", 0}};
    CHECK(good.arena_bound() == 10);
    CHECK(verify::check_arena_witness(graph, 8, good).ok);
    CHECK(
        verify::check_arena_witness(graph, 2, {.granule = 4, .threshold = 3, .bytes = 12, .by = {"", 0}}).ok);
    for (const arena_witness& bad :
         {arena_witness{.granule = 0, .threshold = 0, .bytes = 16, .by = {"", 0}},
          arena_witness{.granule = 8, .threshold = 9, .bytes = 16, .by = {"", 0}},
          arena_witness{.granule = 8, .threshold = 0, .bytes = 16, .by = {"", 0}},
          arena_witness{.granule = 8, .threshold = 7, .bytes = 15, .by = {"", 0}},
          arena_witness{.granule = 8, .threshold = 7, .bytes = 24, .by = {"", 0}},
          arena_witness{.granule = 8, .threshold = 6, .bytes = 16, .by = {"", 0}},
          arena_witness{.granule = 8, .threshold = 7, .bytes = 16, .by = {"", 7}}}) {
        CHECK_FALSE(verify::check_arena_witness(graph, 8, bad).ok);
    }
    const verify::verdict coarse = verify::check_arena_witness(graph, 2, good);
    CHECK_FALSE(coarse.ok);
    REQUIRE(coarse.buffers.size() == 1);
    CHECK(coarse.buffers[0].index == 0);
}
