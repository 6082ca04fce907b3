#include <stowage/graph/tensor_graph.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include <stowage/detail/fnv.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include "support/any_program.hpp"
#include "support/rounds.hpp"

using namespace stowage;

namespace {

using relation = std::vector<std::vector<bool>>;  // [v][u]: u must run before v

void close(relation& before) {
    for (std::size_t v = 0; v < before.size(); ++v)
        for (std::size_t u = 0; u < v; ++u)
            if (before[v][u])
                for (std::size_t w = 0; w < u; ++w)
                    if (before[u][w]) before[v][w] = true;
}

/// By the definition: two operators that touch one buffer, one of them writing, keep their order; so do the
/// two ends of a control edge.
relation hazards(const program& p) {
    const auto ops = p.operators();
    relation before(ops.size(), std::vector<bool>(ops.size(), false));
    const auto share = [](const std::vector<buffer_id>& a, const std::vector<buffer_id>& b) {
        return std::any_of(a.begin(), a.end(),
                           [&](buffer_id x) { return std::find(b.begin(), b.end(), x) != b.end(); });
    };
    for (std::size_t v = 0; v < ops.size(); ++v) {
        for (std::size_t u = 0; u < v; ++u) {
            before[v][u] = share(ops[u].writes, ops[v].reads) || share(ops[u].writes, ops[v].writes) ||
                           share(ops[u].reads, ops[v].writes);
        }
        for (const operator_id u : ops[v].after)
            before[v][static_cast<std::size_t>(u)] = true;
    }
    close(before);
    return before;
}

relation paths(const tensor_graph& graph) {
    relation before(graph.operator_count(), std::vector<bool>(graph.operator_count(), false));
    for (operator_index v = 0; v < graph.operator_count(); ++v)
        for (const operator_index u : graph.predecessors(v))
            before[v][u] = true;
    close(before);
    return before;
}

std::vector<operator_index> list(std::span<const operator_index> row) {
    return {row.begin(), row.end()};
}
using ops = std::vector<operator_index>;

}  // namespace

TEST_CASE(
    "read after write, write after write and write after read keep their order, and nothing else does") {
    program p;
    const auto w = p.add_buffer({.kind = buffer_kind::parameter});
    const auto x = p.add_buffer({});
    const auto y = p.add_buffer({});
    p.add_operator({.name = "0 writes x", .writes = {x}});
    p.add_operator({.name = "1 reads x", .reads = {x, w}, .writes = {y}});
    p.add_operator({.name = "2 reads x", .reads = {x, w}});
    p.add_operator({.name = "3 replaces x", .writes = {x}});
    p.add_operator({.name = "4 replaces x unread", .writes = {x}});
    p.add_operator({.name = "5 updates w in place", .reads = {w}, .writes = {w}});
    p.add_operator({.name = "6 reads w", .reads = {w}});
    const tensor_graph graph = make_tensor_graph(p);
    CHECK(list(graph.predecessors(0)).empty());
    CHECK(list(graph.predecessors(1)) == ops{0});
    CHECK(list(graph.predecessors(2)) == ops{0});
    CHECK(list(graph.predecessors(3)) == ops{1, 2});
    CHECK(list(graph.predecessors(4)) == ops{3});
    CHECK(list(graph.predecessors(5)) == ops{1, 2});
    CHECK(list(graph.predecessors(6)) == ops{5});
    CHECK(list(graph.successors(1)) == ops{3, 5});
    CHECK(list(graph.successors(6)).empty());
    CHECK(graph.dependency_count() == 8);
    CHECK(list(graph.users(static_cast<buffer_index>(x))) == ops{0, 1, 2, 3, 4});
    CHECK(graph.producer(static_cast<buffer_index>(x)) == 0);
    CHECK(graph.producer(static_cast<buffer_index>(w)) == no_operator);
}

TEST_CASE("repeated accesses stay as listed, but make no dependency of an operator on itself") {
    program p;
    const auto x = p.add_buffer({.bytes = 4});
    p.add_operator({.writes = {x, x}});
    p.add_operator({.reads = {x, x}, .writes = {x, x}});
    p.add_operator({.reads = {x, x}});
    const tensor_graph graph = make_tensor_graph(p);
    CHECK(graph.access_count() == 8);
    CHECK(graph.reads(1).size() == 2);
    CHECK(graph.writes(1).size() == 2);
    CHECK(graph.accesses(1).size() == 4);
    CHECK(graph.users(0).size() == 3);
    CHECK(list(graph.predecessors(1)) == ops{0});
    CHECK(list(graph.predecessors(2)) == ops{1});
}

TEST_CASE("a buffer without bytes orders operators, and so does a control edge") {
    program p;
    const auto token = p.add_buffer({.bytes = 0});
    const auto first = p.add_operator({.writes = {token}});
    p.add_operator({});
    p.add_operator({.reads = {token}});
    p.add_operator({.after = {first, first}});
    const tensor_graph graph = make_tensor_graph(p);
    CHECK(list(graph.predecessors(1)).empty());
    CHECK(list(graph.predecessors(2)) == ops{0});
    CHECK(list(graph.predecessors(3)) == ops{0});
    CHECK(list(graph.successors(0)) == ops{2, 3});
}

TEST_CASE("on random programs the dependencies have the paths of the definition, and no edge more") {
    detail::splitmix64 random(7);
    for (int round = 0; round < stowage::test::rounds(500); ++round) {
        const program p = test::any_program(random, {.operators = 1 + static_cast<std::size_t>(round % 12)});
        const tensor_graph graph = make_tensor_graph(p);
        const relation before = hazards(p);
        CHECK(paths(graph) == before);
        for (operator_index v = 0; v < graph.operator_count(); ++v) {
            const auto row = graph.predecessors(v);
            CHECK(std::is_sorted(row.begin(), row.end()));
            CHECK(std::adjacent_find(row.begin(), row.end()) == row.end());
            for (const operator_index u : row) {
                CHECK(u < v);
                for (const operator_index w : row)
                    CHECK(!before[w][u]);
                const auto back = graph.successors(u);
                CHECK(std::count(back.begin(), back.end(), v) == 1);
            }
        }
        for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
            ops users;
            for (operator_index v = 0; v < graph.operator_count(); ++v) {
                const auto row = graph.accesses(v);
                if (std::find(row.begin(), row.end(), b) != row.end()) users.push_back(v);
            }
            CHECK(list(graph.users(b)) == users);
            if (!is_alive_at_start(graph.kind(b)) && !users.empty()) {
                CHECK(graph.producer(b) == users.front());
                const auto writes = graph.writes(users.front());
                CHECK(std::find(writes.begin(), writes.end(), b) != writes.end());
            } else {
                CHECK(graph.producer(b) == no_operator);
            }
        }
    }
}

TEST_CASE("the fingerprint is FNV-1a-64 over the words that the format lists") {
    program p;
    const auto x = p.add_buffer({.bytes = 5, .kind = buffer_kind::donated, .name = "names do not count"});
    const auto y = p.add_buffer({.bytes = 6, .kind = buffer_kind::output, .alignment = 64});
    p.add_operator({.reads = {x, x}, .writes = {y}, .workspace = 9, .stage = stage::update, .device = 2});
    p.add_operator({.reads = {y}, .after = {operator_id{0}}});
    detail::fnv1a_64 hash;
    for (const std::uint64_t word : std::initializer_list<std::uint64_t>{2, 5, 5, 6, 7, 2, /*op 0*/ 2, 0, 0,
                                                                         1, 1, 9, 2, /*op 1*/ 1, 1, 0, 0, 0})
        hash.add(word);
    CHECK(make_tensor_graph(p).fingerprint() == hash.value());
}

TEST_CASE("a million operators take no more than 64 bytes each and 8 bytes an access") {
    constexpr std::uint32_t count = 1'000'000;
    program p;
    detail::splitmix64 random(3);
    const auto w = p.add_buffer({.bytes = 1 << 20, .kind = buffer_kind::parameter});
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto out = p.add_buffer({.bytes = 512});
        operator_options op{.reads = {w}, .writes = {out}, .workspace = i % 16};
        for (std::uint32_t k = 0; k < 3 && i > 0; ++k)
            op.reads.push_back(
                buffer_id{1 + i - 1 - static_cast<std::uint32_t>(random.below(std::min(i, 64U)))});
        p.add_operator(std::move(op));
    }
    const tensor_graph graph = make_tensor_graph(p);
    CHECK(graph.operator_count() == count);
    const double limit = 64.0 * count + 8.0 * static_cast<double>(graph.access_count());
    CHECK(static_cast<double>(graph.memory_bytes()) <= limit);
    MESSAGE("bytes: " << graph.memory_bytes() << " of " << limit);
}
