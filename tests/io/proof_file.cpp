#include <stowage/io/proof_file.hpp>

#include <doctest/doctest.h>

#include <stowage/graph/make_tensor_graph.hpp>
#include <stowage/roam/planner.hpp>

#include "support/random_program.hpp"

using namespace stowage;

TEST_CASE(
    "a bound that is a cut can be replayed; one of a search cannot where its steps could not be written") {
    int replayable = 0;
    int unwritten = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 10}));
        plan made = roam::best(graph, {.states = 20'000});
        const nlohmann::ordered_json proof = io::proof_json(graph, made, "random");
        CHECK(proof["peak_lower_bound_bytes"] == made.peak.lower_bound);
        CHECK(proof["fingerprint"] == io::fingerprint_text(graph.fingerprint()));
        if (made.witness.rule == "min cut") CHECK(proof["replayable"] == true);
        replayable += proof["replayable"] == true ? 1 : 0;
        made.witness = {"search", no_operator};
        // Without an account only what shows at once, without a search, is written.
        unwritten += io::proof_json(graph, made, "random", {.states = 0})["replayable"] == false ? 1 : 0;
    }
    CHECK(replayable > 30);
    CHECK(unwritten > 30);
}

TEST_CASE("where alignment raises the bound, the proof is of the arena in counted sizes") {
    int aligned = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 10}));
        plan made = roam::best(graph, {.alignment = 16, .states = 20'000});
        const nlohmann::ordered_json proof = io::proof_json(graph, made, "random");
        CHECK(proof["arena_lower_bound_bytes"] == made.arena.lower_bound);
        CHECK(proof.contains("granule") != proof.contains("peak_lower_bound_bytes"));
        if (!proof.contains("granule")) continue;
        ++aligned;
        CHECK(proof["replayable"] == true);
        CHECK(proof["counted_bytes"].get<std::int64_t>() - proof["threshold"].get<std::int64_t>() + 1 ==
              made.arena.lower_bound);
        made.arena_witness.bytes += 16 * (made.arena.bytes / 16 + 1);
        made.arena.lower_bound = made.arena_witness.arena_bound();
        CHECK(io::proof_json(graph, made, "random")["replayable"] == false);
    }
    CHECK(aligned > 30);
}

TEST_CASE("a claim above the cut is not replayable") {
    const tensor_graph graph = make_tensor_graph(test::random_program(2, {.operators = 10}));
    plan made = roam::best(graph);
    made.peak.lower_bound += 1;
    CHECK(io::proof_json(graph, made, "random")["replayable"] == false);
}

TEST_CASE("the smallest programs have proofs that are replayed") {
    const auto proof_of = [](const program& step) {
        const tensor_graph graph = make_tensor_graph(step);
        const plan made = roam::best(graph);
        CHECK(made.status == status::optimal);
        return io::proof_json(graph, made, "small");
    };
    program step;
    CHECK(proof_of(step)["replayable"] == true);  // no operator at all
    step.add_operator({.name = "alone"});
    CHECK(proof_of(step)["replayable"] == true);  // no buffer
    const buffer_id empty = step.add_buffer({.bytes = 0, .kind = buffer_kind::output});
    step.add_operator({.writes = {empty}});
    CHECK(proof_of(step)["replayable"] == true);  // no bytes
    step.add_operator({.reads = {empty}, .workspace = 3});
    const auto scratch = proof_of(step);
    CHECK(scratch["replayable"] == true);
    CHECK(scratch["peak_lower_bound_bytes"] == 3);
    const buffer_id large = step.add_buffer({.bytes = std::int64_t{1} << 62U, .kind = buffer_kind::donated});
    step.add_operator({.reads = {large}});
    const auto whole = proof_of(step);
    CHECK(whole["replayable"] == true);
    CHECK(whole["arena_lower_bound_bytes"].get<std::int64_t>() >= std::int64_t{1} << 62U);
}

TEST_CASE("a bound on the arena by a pin names the buffer, and no more is claimed of it") {
    program step;
    const buffer_id a = step.add_buffer({.bytes = 8, .pinned_offset = 100});
    const buffer_id b = step.add_buffer({.bytes = 3, .kind = buffer_kind::output, .pinned_offset = 0});
    step.add_operator({.writes = {a}});
    step.add_operator({.reads = {a}, .writes = {b}});
    const tensor_graph graph = make_tensor_graph(step);
    plan made = roam::best(graph);
    CHECK(made.arena.lower_bound == 108);
    const auto proof = io::proof_json(graph, made, "pinned");
    CHECK(proof["replayable"] == true);
    CHECK(proof["pinned"] == 0);
    CHECK(proof["peak_lower_bound_bytes"] == 11);
    CHECK(verify::check_pinned_end(graph, 0, 108).ok);
    CHECK(!verify::check_pinned_end(graph, 0, 109).ok);
    CHECK(!verify::check_pinned_end(graph, 1, 4).ok);
    CHECK(!verify::check_pinned_end(graph, 7, 1).ok);
    made.arena.lower_bound = 109;
    CHECK(io::proof_json(graph, made, "pinned")["replayable"] == false);
}
