#include <stowage/verify/timesteps.hpp>

#include <doctest/doctest.h>

#include <string>

#include <stowage/graph.hpp>

using namespace stowage;
using order::timesteps;

namespace {

/// make -> {left, right} -> join, right after left by a control edge if asked.
tensor_graph diamond(bool control = false) {
    program made;
    const buffer_id x = made.add_buffer({.bytes = 1});
    const buffer_id l = made.add_buffer({.bytes = 2});
    const buffer_id r = made.add_buffer({.bytes = 4});
    const buffer_id y = made.add_buffer({.bytes = 8, .kind = buffer_kind::output});
    made.add_operator({.name = "make", .writes = {x}});
    const operator_id left = made.add_operator({.name = "left", .reads = {x}, .writes = {l}});
    operator_options right{.name = "right", .reads = {x}, .writes = {r}};
    if (control) right.after = {left};
    made.add_operator(right);
    made.add_operator({.name = "join", .reads = {l, r}, .writes = {y}});
    return make_tensor_graph(made);
}

bool refused(const tensor_graph& graph, const timesteps& steps, const std::string& text) {
    const verify::verdict found = verify::check_timesteps(graph, steps);
    CAPTURE(found.reason);
    return !found.ok && found.reason.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("legal steps and their peak") {
    CHECK(verify::check_timesteps(diamond(), timesteps{{{0}, {1, 2}, {3}}}).peak == 14);
    CHECK(verify::check_timesteps(diamond(), timesteps{{{0}, {2}, {1}, {3}}}).peak == 14);
    CHECK(verify::check_timesteps(make_tensor_graph(program{}), timesteps{}).ok);
}

TEST_CASE("broken steps are refused by name") {
    CHECK(refused(diamond(), {{{0, 1}, {2}, {3}}}, "operator 1 (left) runs before operator 0 (make)"));
    CHECK(refused(diamond(), {{{0}, {1}, {2, 3}}}, "operator 3 (join) runs before operator 2 (right)"));
    CHECK(refused(diamond(true), {{{0}, {1, 2}, {3}}}, "operator 2 (right) runs before operator 1 (left)"));
    CHECK(refused(diamond(), {{{0}, {1}, {3}}}, "operator 2 (right) is in no step"));
    CHECK(refused(diamond(), {{{0}, {1, 1}, {2}, {3}}}, "operator 1 (left) stands in two steps"));
    CHECK(refused(diamond(), {{{0}, {}, {1, 2}, {3}}}, "step 1 holds no operator"));
    CHECK(refused(diamond(), {{{0}, {1, 2}, {3, 4}}}, "operator 4, which does not exist"));
}

TEST_CASE("claims that do not agree are refused") {
    const order::timesteps_solution good{.timesteps = {{{0}, {1, 2}, {3}}},
                                         .peak = 14,
                                         .lower_bound = 14,
                                         .limit = 3,
                                         .status = status::optimal};
    CHECK(verify::check_timesteps(diamond(), good));
    auto wrong = good;
    wrong.peak = 13;
    CHECK(!verify::check_timesteps(diamond(), wrong));
    wrong = good;
    wrong.lower_bound = 10;
    CHECK(!verify::check_timesteps(diamond(), wrong));
    wrong = good;
    wrong.limit = 2;
    CHECK(!verify::check_timesteps(diamond(), wrong));
}
