#include <stowage/layout/replay.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/roam/plan.hpp>

using namespace stowage;
using layout::arena_error;

namespace {

static_assert(layout::program_plan<plan>);
static_assert(!layout::program_plan<layout::problem>);

std::string refusal(auto call) {
    try {
        call();
    } catch (const arena_error& e) {
        return e.what();
    }
    return "nothing was refused";
}

program two_operators() {
    program p;
    const auto a = p.add_buffer({.bytes = 16, .name = "a"});
    const auto o = p.add_buffer({.bytes = 32, .kind = buffer_kind::output, .name = "o"});
    p.add_operator({.name = "f", .writes = {a}});
    p.add_operator({.name = "g", .reads = {a}, .writes = {o}, .workspace = 8});
    return p;
}

plan plan_of(const tensor_graph& graph) {
    plan result;
    result.order = {0, 1};
    result.offsets = {32, 0};
    result.workspace_offsets = {-1, 48};
    result.fingerprint = graph.fingerprint();
    return result;
}

}  // namespace

TEST_CASE("a plan's slots are its buffers, then its workspaces") {
    const tensor_graph graph = make_tensor_graph(two_operators());
    const layout::replay recorded = layout::make_replay(graph, plan_of(graph));
    CHECK(recorded.slot_count() == 3);
    CHECK(recorded.slot_of("a") == 0);
    CHECK(recorded.slot_of(buffer_id{1}) == 1);
    CHECK(recorded.slot_of(operator_id{1}) == 2);
    CHECK(recorded.offset(2) == 48);
    CHECK(recorded.size(2) == 8);
    CHECK(recorded.arena_bytes() == 56);
    CHECK(std::vector<std::uint32_t>(recorded.sequence().begin(), recorded.sequence().end()) ==
          std::vector<std::uint32_t>{0, 1, 2});
    CHECK(refusal([&] { (void)recorded.slot_of(operator_id{0}); }) ==
          "the plan has no workspace of operator 0");
}

TEST_CASE("plans that do not belong or lack a place are refused by name") {
    const tensor_graph graph = make_tensor_graph(two_operators());
    const auto refused = [&](auto change) {
        plan bad = plan_of(graph);
        change(bad);
        return refusal([&] { (void)layout::make_replay(graph, bad); });
    };
    CHECK(refused([](plan& p) { p.fingerprint ^= 1U; }) == "the plan was made for another program");
    CHECK(refused([](plan& p) { p.offsets.pop_back(); }) == "the plan does not have one offset a buffer");
    CHECK(refused([](plan& p) { p.offsets[0] = -1; }) == "buffer 0 (a): it has no offset");
    CHECK(refused([](plan& p) { p.workspace_offsets.clear(); }) ==
          "buffer 2 (workspace of operator 1 (g)): it has no offset");
    CHECK(refused([](plan& p) { p.offsets[1] = std::numeric_limits<std::int64_t>::max(); }) ==
          "buffer 1 (o): its end passes 2^63 - 1");
    plan twice = plan_of(graph);
    twice.order = {0, 0};
    CHECK_THROWS_AS((void)layout::make_replay(graph, twice), program_error);
}

TEST_CASE("problems: names that are shared, pools, wrong lengths") {
    layout::problem p;
    p.buffers = {{.lower = 0, .upper = 1, .size = 1}, {.lower = 1, .upper = 2, .size = 1}};
    p.names = {"x", "x"};
    const std::vector<std::int64_t> offsets = {0, 0};
    const layout::replay recorded(p, offsets);
    CHECK(refusal([&] { (void)recorded.slot_of("x"); }) ==
          "buffer 0 (x): it shares its name with buffer 1 (x)");
    CHECK(recorded.slot_of(std::size_t{1}) == 1);
    CHECK(refusal([&] { (void)recorded.slot_of(""); }) != "nothing was refused");
    CHECK(refusal([&] { layout::replay(p, std::vector<std::int64_t>{0}); }) == "1 offsets for 2 buffers");
    p.capacities = {10, 10};
    CHECK(refusal([&] { layout::replay(p, offsets); }) ==
          "an arena is one block, the problem has several pools");
}
