#include <stowage/graph/liveness.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include "support/any_program.hpp"

using namespace stowage;

namespace {

/// Some legal order: at each step any operator that is ready.
std::vector<operator_index> random_order(const tensor_graph& graph, detail::splitmix64& random) {
    std::vector<operator_index> ready, order;
    std::vector<std::size_t> waits(graph.operator_count());
    for (operator_index v = 0; v < graph.operator_count(); ++v) {
        waits[v] = graph.predecessors(v).size();
        if (waits[v] == 0) ready.push_back(v);
    }
    while (!ready.empty()) {
        std::swap(ready[random.below(ready.size())], ready.back());
        order.push_back(ready.back());
        ready.pop_back();
        for (const operator_index next : graph.successors(order.back()))
            if (--waits[next] == 0) ready.push_back(next);
    }
    return order;
}

/// By the memory model's words, from the program itself: O(steps * buffers * accesses).
std::vector<std::int64_t> naive_live_bytes(const program& p, const std::vector<operator_index>& order) {
    const auto touches = [&](operator_index op, std::size_t buffer) {
        const auto& options = p.operators()[op];
        const auto holds = [&](const std::vector<buffer_id>& ids) {
            return std::find(ids.begin(), ids.end(), static_cast<buffer_id>(buffer)) != ids.end();
        };
        return holds(options.reads) || holds(options.writes);
    };
    std::vector<std::int64_t> live(order.size(), 0);
    for (std::size_t t = 0; t < order.size(); ++t) {
        live[t] = p.operators()[order[t]].workspace;
        for (std::size_t b = 0; b < p.buffers().size(); ++b) {
            const buffer_kind kind = p.buffers()[b].kind;
            if (is_persistent(kind)) continue;
            bool before = false, now_or_before = false, now_or_after = false, ever = false;
            for (std::size_t s = 0; s < order.size(); ++s) {
                if (!touches(order[s], b)) continue;
                ever = true;
                before = before || s < t;
                now_or_before = now_or_before || s <= t;
                now_or_after = now_or_after || s >= t;
            }
            const bool born = kind == buffer_kind::donated ? ever : now_or_before;
            const bool needed = kind == buffer_kind::output ? ever : now_or_after;
            if (born && needed) live[t] += p.buffers()[b].bytes;
        }
    }
    return live;
}

std::string message_of(const tensor_graph& graph, std::vector<operator_index> order) {
    try {
        static_cast<void>(steps_of(graph, order));
    } catch (const program_error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("a lifespan covers birth and last access; donated from the start, outputs to the end") {
    program p;
    const auto given = p.add_buffer({.bytes = 1, .kind = buffer_kind::donated});
    const auto weight = p.add_buffer({.bytes = 2, .kind = buffer_kind::parameter});
    const auto hidden = p.add_buffer({.bytes = 4});
    const auto result = p.add_buffer({.bytes = 8, .kind = buffer_kind::output});
    p.add_buffer({.bytes = 16, .kind = buffer_kind::donated, .name = "never used"});
    p.add_operator({.reads = {weight}, .writes = {hidden}});
    p.add_operator({.reads = {given, hidden}, .writes = {result}, .workspace = 100});
    p.add_operator({});
    const tensor_graph graph = make_tensor_graph(p);
    const auto order = program_order(graph);
    const auto lives = lifespans(graph, order);
    CHECK(lives[0] == lifespan{0, 1});
    CHECK(!lives[1].planned());
    CHECK(lives[2] == lifespan{0, 1});
    CHECK(lives[3] == lifespan{1, 2});
    CHECK(!lives[4].planned());
    CHECK(live_bytes(graph, order) == std::vector<std::int64_t>{5, 113, 8});
    CHECK(peak_bytes(graph, order) == 113);
    CHECK(persistent_bytes(graph) == 2);
}

TEST_CASE("live bytes of random programs under random orders are those of the definition") {
    detail::splitmix64 random(11);
    for (int round = 0; round < 300; ++round) {
        const program p = test::any_program(random, {.operators = 1 + static_cast<std::size_t>(round % 10)});
        const tensor_graph graph = make_tensor_graph(p);
        const auto order = random_order(graph, random);
        REQUIRE(order.size() == graph.operator_count());
        const auto expected = naive_live_bytes(p, order);
        CHECK(live_bytes(graph, order) == expected);
        CHECK(peak_bytes(graph, order) == *std::max_element(expected.begin(), expected.end()));
        const auto steps = steps_of(graph, order);
        for (std::size_t t = 0; t < order.size(); ++t)
            CHECK(steps[order[t]] == t);
    }
}

TEST_CASE("what is no permutation of the operators is refused") {
    program p;
    for (const char* name : {"a", "b", "c"})
        p.add_operator({.name = name});
    const tensor_graph graph = make_tensor_graph(p);
    CHECK(message_of(graph, {2, 0, 1}) == "nothing was thrown");
    CHECK(message_of(graph, {0, 1}) == "the order has 2 operators, the program has 3");
    CHECK(message_of(graph, {0, 1, 2, 0}) == "the order has 4 operators, the program has 3");
    CHECK(message_of(graph, {0, 3, 1}) == "operator 3: the order names an operator that does not exist");
    CHECK(message_of(graph, {0, 1, 1}) == "operator 1 (b): it stands twice in the order");
}

TEST_CASE("an empty program has no steps and a peak of 0") {
    const tensor_graph graph;
    CHECK(program_order(graph).empty());
    CHECK(live_bytes(graph, {}).empty());
    CHECK(peak_bytes(graph, {}) == 0);
}
