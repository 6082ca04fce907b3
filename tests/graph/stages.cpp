#include <stowage/graph/stages.hpp>

#include <doctest/doctest.h>

#include <vector>

#include <stowage/graph.hpp>

using namespace stowage;

namespace {

using stage_list = std::vector<stage>;

/// One layer y = w x, its loss, its gradient, and an update of w.
struct step {
    program p;
    buffer_id x = p.add_buffer({.bytes = 8, .kind = buffer_kind::input});
    buffer_id w, y, loss, gradient;
    explicit step(buffer_kind kind_of_w) {
        w = p.add_buffer({.bytes = 4, .kind = kind_of_w});
        y = p.add_buffer({.bytes = 16});
        loss = p.add_buffer({.bytes = 1, .kind = buffer_kind::output});
        gradient = p.add_buffer({.bytes = 4});
        p.add_operator({.reads = {x, w}, .writes = {y}});
        p.add_operator({.reads = {y}, .writes = {loss}});
        p.add_operator({.reads = {loss, y, x}, .writes = {gradient}});
    }
    stage_list inferred() const { return inferred_stages(make_tensor_graph(p)); }
};

constexpr stage f = stage::forward, b = stage::backward, u = stage::update;

}  // namespace

TEST_CASE(
    "in place: what writes a parameter or touches optimizer state is an update, and what reads its results") {
    step in_place(buffer_kind::parameter);
    const auto m = in_place.p.add_buffer({.bytes = 4, .kind = buffer_kind::optimizer_state});
    const auto root = in_place.p.add_buffer({.bytes = 4});
    in_place.p.add_operator({.reads = {in_place.gradient}, .writes = {in_place.gradient}});
    in_place.p.add_operator({.reads = {m, in_place.gradient}, .writes = {m}});
    in_place.p.add_operator({.reads = {m}, .writes = {root}});
    in_place.p.add_operator({.reads = {root}, .writes = {root}});
    in_place.p.add_operator({.reads = {in_place.w, root}, .writes = {in_place.w}});
    CHECK(in_place.inferred() == stage_list{f, f, b, b, u, u, u, u});
}

TEST_CASE(
    "functional: donated state that the passes did not read, and outputs that take a donated buffer's "
    "place") {
    step functional(buffer_kind::donated);
    const auto m = functional.p.add_buffer({.bytes = 5, .kind = buffer_kind::donated});
    const auto new_m = functional.p.add_buffer({.bytes = 5, .kind = buffer_kind::output});
    const auto decayed = functional.p.add_buffer({.bytes = 5});
    functional.p.add_operator({.reads = {m}, .writes = {decayed}});
    functional.p.add_operator({.reads = {decayed, functional.gradient}, .writes = {new_m}});
    const program not_matched = functional.p;  // w has no output that takes its place
    const auto new_w = functional.p.add_buffer({.bytes = 4, .kind = buffer_kind::output});
    functional.p.add_operator({.reads = {functional.w, functional.gradient}, .writes = {new_w}});
    CHECK(functional.inferred() == stage_list{f, f, b, u, u, u});
    CHECK(inferred_stages(make_tensor_graph(not_matched)) == stage_list{f, f, f, f, f});
}

TEST_CASE("without an update, or without an output, everything is forward") {
    CHECK(step(buffer_kind::parameter).inferred() == stage_list{f, f, f});
    program p;
    const auto w = p.add_buffer({.kind = buffer_kind::parameter});
    p.add_operator({.writes = {w}});
    CHECK(inferred_stages(make_tensor_graph(p)) == stage_list{f});
    CHECK(inferred_stages(tensor_graph()).empty());
}

TEST_CASE("running statistics and writes before the loss are no update") {
    program p;
    const auto mean = p.add_buffer({.kind = buffer_kind::buffer});
    const auto w = p.add_buffer({.kind = buffer_kind::parameter});
    const auto loss = p.add_buffer({.kind = buffer_kind::output});
    p.add_operator({.reads = {mean}, .writes = {mean}});
    p.add_operator({.reads = {w}, .writes = {w}});
    p.add_operator({.writes = {loss}});
    p.add_operator({.reads = {mean}, .writes = {mean}});
    p.add_operator({.reads = {w}, .writes = {w}});
    CHECK(inferred_stages(make_tensor_graph(p)) == stage_list{f, f, f, b, u});
}

TEST_CASE("what the program says counts; only what it leaves open is inferred") {
    program p;
    const auto w = p.add_buffer({.kind = buffer_kind::parameter});
    const auto loss = p.add_buffer({.kind = buffer_kind::output});
    p.add_operator({.writes = {loss}, .stage = stage::backward});
    p.add_operator({.reads = {loss}});
    p.add_operator({.writes = {w}, .stage = stage::forward});
    p.add_operator({.writes = {w}});
    CHECK(stages_of(make_tensor_graph(p)) == stage_list{b, b, f, u});
    program given;
    given.add_operator({.stage = stage::update});
    CHECK(stages_of(make_tensor_graph(given)) == stage_list{u});
}

TEST_CASE("activations are born in the forward pass and read in the backward pass") {
    program p;
    const auto x = p.add_buffer({.kind = buffer_kind::input});
    const auto kept = p.add_buffer({});
    const auto temporary = p.add_buffer({});
    const auto replaced = p.add_buffer({});
    const auto late = p.add_buffer({});
    p.add_operator({.reads = {x}, .writes = {kept, temporary, replaced}, .stage = f});
    p.add_operator({.reads = {temporary}, .stage = f});
    p.add_operator({.reads = {kept, x}, .writes = {late, replaced}, .stage = b});
    p.add_operator({.reads = {late}, .stage = b});
    const tensor_graph graph = make_tensor_graph(p);
    CHECK(activations(graph, stages_of(graph)) == std::vector<buffer_index>{static_cast<buffer_index>(kept)});
    CHECK_THROWS_AS(static_cast<void>(activations(graph, {f})), program_error);
}
