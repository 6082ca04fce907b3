#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/verify/memgraph.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/memgraph_contents.hpp"
#include "support/naive_memgraph.hpp"
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using stowage::tensor_graph;
using stowage::test::naive_memgraph;
using stowage::test::runs_right;
using stowage::verify::check_memgraph;

namespace {

tensor_graph program_of(std::uint64_t seed, std::size_t operators = 6) {
    return stowage::make_tensor_graph(
        stowage::test::random_program(seed, {.operators = operators, .largest = 6}));
}

turnip::memgraph memgraph_of(const tensor_graph& program, std::uint64_t seed) {
    return naive_memgraph(program, seed,
                          {.devices = static_cast<std::uint32_t>(1 + seed % 3),
                           .slack = static_cast<std::int64_t>(seed % 7),
                           .alignment = seed % 4 == 0 ? 2 : 1});
}

bool says(const stowage::verify::verdict& verdict, const std::string& words) {
    const bool found = !verdict && verdict.reason.find(words) != std::string::npos;
    if (!found) MESSAGE("expected `" << words << "`, got `" << verdict.reason << "`");
    return found;
}

/// x (input, on the host) is reloaded; a makes t, which leaves, b makes u in its place, t comes back for c.
struct round_trip {
    tensor_graph program;
    turnip::memgraph graph;

    round_trip() {
        stowage::program p;
        const auto x = p.add_buffer({.bytes = 8, .kind = stowage::buffer_kind::input, .name = "x"});
        const auto t = p.add_buffer({.bytes = 8, .name = "t"});
        const auto u = p.add_buffer({.bytes = 8, .name = "u"});
        const auto y = p.add_buffer({.bytes = 8, .kind = stowage::buffer_kind::output, .name = "y"});
        p.add_operator({.name = "a", .reads = {x}, .writes = {t}});
        p.add_operator({.name = "b", .reads = {x}, .writes = {u}});
        p.add_operator({.name = "c", .reads = {t, u}, .writes = {y}});
        program = stowage::make_tensor_graph(p);
        using turnip::edge_kind;
        using turnip::vertex_kind;
        graph.fingerprint = program.fingerprint();
        graph.arena_bytes = {24};
        graph.host_bytes = 16;
        add({.kind = vertex_kind::reload, .host_address = 0}, {}, {{0, 0, 0}});   // 0
        add({.op = 0}, {{0, 0, 0}}, {{1, 0, 8}});                                 // 1
        add({.kind = vertex_kind::offload, .host_address = 8}, {{1, 0, 8}}, {});  // 2
        add({.op = 1}, {{0, 0, 0}}, {{2, 0, 8}});                                 // 3
        add({.kind = vertex_kind::reload, .host_address = 8}, {}, {{1, 0, 16}});  // 4
        add({.op = 2}, {{1, 0, 16}, {2, 0, 8}}, {{3, 0, 0}});                     // 5
        graph.edges = {{0, 1}, {0, 3}, {1, 2}, {2, 3, edge_kind::memory}, {2, 4}, {4, 5}, {3, 5}};
        graph.start = {{0, turnip::host, 0}};
        graph.final = {{3, 0, 0}};
    }
    void add(const turnip::vertex& v, std::vector<turnip::operand> reads,
             std::vector<turnip::operand> writes) {
        graph.add(v, reads, writes);
    }
    [[nodiscard]] stowage::verify::verdict check() const { return check_memgraph(program, graph); }
};

}  // namespace

TEST_CASE("a right memgraph is accepted, with the bytes it uses") {
    const round_trip sample;
    const auto verdict = sample.check();
    CHECK(verdict.reason == "");
    CHECK(verdict.arena == 24);
    CHECK(verdict.arenas == std::vector<std::int64_t>{24});
}

TEST_CASE("each rule is named in words") {
    const auto refused = [](auto change, const std::string& words) {
        round_trip sample;
        change(sample.graph);
        return says(sample.check(), words);
    };
    using turnip::edge_kind;
    using graph = turnip::memgraph;
    CHECK(refused([](graph& g) { g.fingerprint ^= 1; }, "another program"));
    CHECK(refused([](graph& g) { g.alignment = 0; }, "alignment is not positive"));
    CHECK(refused([](graph& g) { g.alignment = 16; }, "address 8 is no multiple of the alignment 16"));
    CHECK(refused([](graph& g) { g.arena_bytes[0] = 23; }, "pass the end of the arena of 23"));
    CHECK(refused([](graph& g) { g.host_bytes = 15; }, "pass the end of the arena of 15"));
    CHECK(refused([](graph& g) { g.arena_bytes.clear(); }, "there is no device 0"));
    CHECK(refused([](graph& g) { g.first_read.back() = 1; }, "table of operands"));
    CHECK(refused([](graph& g) { g.operands[0].buffer = 9; }, "there is no buffer 9"));
    CHECK(refused([](graph& g) { g.vertices[1].op = 9; }, "there is no operator 9"));
    CHECK(refused([](graph& g) { g.vertices[3].op = 0; }, "already runs at vertex 1"));
    CHECK(refused([](graph& g) { g.operands[1].buffer = 3; }, "does not read what its operator reads"));
    CHECK(refused([](graph& g) { g.operands[2].buffer = 3; }, "does not write what its operator writes"));
    CHECK(refused([](graph& g) { g.operands[2].address = 4; }, "buffer 0 (x) and buffer 1 (t) share bytes"));
    CHECK(refused([](graph& g) { g.operands[2].address = -1; }, "has no address"));
    CHECK(refused([](graph& g) { g.edges[0].to = 6; }, "there are only 6 vertices"));
    CHECK(refused(
        [](graph& g) {
            g.edges.push_back({0, 1, edge_kind::memory});
        },
        "edge 0 -> 1 occurs twice"));
    CHECK(refused([](graph& g) { g.edges.push_back({5, 0}); }, "a cycle: vertex "));
    CHECK(refused(
        [](graph& g) {
            g.edges.push_back({2, 2});
        },
        "a cycle: vertex 2 (offload of buffer 1 (t))"));
    CHECK(refused(
        [](graph& g) { g.edges.erase(g.edges.begin() + 3); },
        "a race on bytes [8, 16) of device 0: vertex 2 (offload of buffer 1 (t)) reads there, vertex 3 "
        "(operator 1 (b)) writes buffer 2 (u), and no path orders them"));
    CHECK(
        refused([](graph& g) { g.edges.erase(g.edges.begin() + 4); }, "a race on bytes [8, 16) of the host"));
    CHECK(refused([](graph& g) { g.vertices[4].host_address = 0; },
                  "buffer 1 (t) is not whole at bytes [0, 8) of "
                  "the host: there lies buffer 0 (x)"));
    CHECK(refused([](graph& g) { g.start.clear(); }, "buffer 0 (x) has no place"));
    CHECK(refused(
        [](graph& g) {
            g.start.push_back({1, turnip::host, 8});
        },
        "is not there before it is written"));
    CHECK(refused([](graph& g) { g.start.push_back({0, turnip::host, 4}); }, "overlaps another"));
    CHECK(refused([](graph& g) { g.start[0].memory = 1; }, "there is no device 1"));
    CHECK(refused([](graph& g) { g.final[0].address = 8; }, "buffer 3 (y) does not end there in version 1"));
    CHECK(refused([](graph& g) { g.final.clear(); }, "does not say where it ends"));
    CHECK(refused(
        [](graph& g) {
            g.edges.push_back({1, 3});
        },
        "is called data, but the second reads nothing"));
    CHECK(refused([](graph& g) { g.edges.push_back({1, 3, edge_kind::memory}); }, "is superfluous"));
    CHECK(refused([](graph& g) { g.edges.push_back({2, 5, edge_kind::memory}); }, "is called memory, but"));
    CHECK(refused([](graph& g) { g.edges.push_back({0, 5, edge_kind::control}); }, "is superfluous"));
}

TEST_CASE("limits: capacities, the host's, and superfluous edges if they may be") {
    round_trip sample;
    CHECK(check_memgraph(sample.program, sample.graph, {.capacities = {24}, .host_capacity = 16}));
    CHECK(says(check_memgraph(sample.program, sample.graph, {.capacities = {23}}), "its capacity is 23"));
    CHECK(says(check_memgraph(sample.program, sample.graph, {.capacities = {24, 24}}), "2 capacities for 1"));
    CHECK(says(check_memgraph(sample.program, sample.graph, {.host_capacity = 15}), "the arena of the host"));
    sample.graph.edges.push_back({1, 3, turnip::edge_kind::memory});
    CHECK_FALSE(sample.check());
    CHECK(check_memgraph(sample.program, sample.graph, {.superfluous_edges = true}));
}

TEST_CASE("a taskgraph's placement, memories and promise are kept") {
    round_trip sample;
    turnip::taskgraph tasks =
        turnip::make_taskgraph(sample.program, {.start = turnip::start_rule::on_device});
    CHECK(says(check_memgraph(tasks, sample.graph), "buffer 0 (x) starts on the host"));
    tasks = turnip::make_taskgraph(sample.program, {.start = turnip::start_rule::on_host});
    CHECK(says(check_memgraph(tasks, sample.graph), "buffer 3 (y) ends on device 0"));
    tasks = turnip::make_taskgraph(sample.program, {.start = turnip::start_rule::steady});
    CHECK(says(check_memgraph(tasks, sample.graph), "not repeatable"));
    sample.graph.repeatable = true;
    CHECK(check_memgraph(tasks, sample.graph).reason == "");
    tasks = turnip::make_taskgraph(sample.program, {.devices = 2, .start = turnip::start_rule::steady});
    CHECK(says(check_memgraph(tasks, sample.graph), "1 devices, the taskgraph 2"));
}

TEST_CASE("what was taken must have a place at the end; repeatable means where it began") {
    stowage::program p;
    const auto w = p.add_buffer({.bytes = 4, .kind = stowage::buffer_kind::parameter, .name = "w"});
    const auto y = p.add_buffer({.bytes = 4, .kind = stowage::buffer_kind::output, .name = "y"});
    p.add_operator({.reads = {w}, .writes = {w, y}});
    const tensor_graph program = stowage::make_tensor_graph(p);
    turnip::memgraph graph;
    graph.fingerprint = program.fingerprint();
    graph.arena_bytes = {12};
    graph.add({.op = 0}, std::vector<turnip::operand>{{0, 0, 0}},
              std::vector<turnip::operand>{{0, 0, 0}, {1, 0, 4}});
    graph.start = {{0, 0, 0}};
    graph.final = {{1, 0, 4}};
    CHECK(says(check_memgraph(program, graph), "buffer 0 (w) is written, and the memgraph does not say"));
    graph.final.push_back({0, 0, 0});
    graph.repeatable = true;
    CHECK(check_memgraph(program, graph).reason == "");
    graph.add({.kind = turnip::vertex_kind::transfer}, std::vector<turnip::operand>{{0, 0, 0}},
              std::vector<turnip::operand>{{0, 0, 8}});
    graph.edges = {{0, 1}};
    graph.final[1].address = 8;
    CHECK(check_memgraph(program, graph).reason == "");
    graph.start.push_back({0, 0, 8});
    CHECK(check_memgraph(program, graph).reason == "");
    graph.final[1].address = 0;
    graph.operands[3].address = graph.operands[4].address = 4;
    CHECK(says(check_memgraph(program, graph), "the move overlaps itself"));
}

TEST_CASE("dependencies through buffers without bytes and control edges need a path") {
    stowage::program p;
    const auto token = p.add_buffer({.name = "token"});
    const auto a = p.add_operator({.name = "a", .writes = {token}});
    p.add_operator({.name = "b", .reads = {token}});
    p.add_operator({.name = "c", .after = {a}});
    const tensor_graph program = stowage::make_tensor_graph(p);
    turnip::memgraph graph;
    graph.fingerprint = program.fingerprint();
    graph.arena_bytes = {0};
    const std::vector<turnip::operand> none;
    const std::vector<turnip::operand> it = {{0, 0, turnip::no_address}};
    graph.add({.op = 0}, none, it);
    graph.add({.op = 1}, it, none);
    graph.add({.op = 2}, none, none);
    CHECK(says(check_memgraph(program, graph),
               "operator 1 (b) must run after operator 0 (a), for buffer 0 (token)"));
    graph.edges = {{0, 1, turnip::edge_kind::data}};
    CHECK(says(check_memgraph(program, graph),
               "operator 2 (c) must run after operator 0 (a), as the program says"));
    graph.edges.push_back({0, 2, turnip::edge_kind::control});
    CHECK(check_memgraph(program, graph).reason == "");
}

TEST_CASE("generated memgraphs are accepted, and right in every order tried") {
    std::size_t moves = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const tensor_graph program = program_of(seed, 3 + seed % 12);
        const turnip::memgraph graph = memgraph_of(program, seed);
        const auto verdict = check_memgraph(program, graph);
        CHECK(verdict.reason == "");
        moves += graph.vertices.size() - program.operator_count();
        for (std::uint64_t run = 0; run < 5; ++run)
            CHECK(runs_right(program, graph, run));
    }
    CHECK(moves > 1000);
}

TEST_CASE("a memgraph with one edge removed is refused, unless a longer path says the same") {
    std::size_t refused = 0;
    std::size_t seen_by_running = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const tensor_graph program = program_of(seed);
        const turnip::memgraph graph = memgraph_of(program, seed);
        const stowage::verify::detail::vertex_order order(graph);
        std::vector<stowage::verify::detail::path_question> questions;
        for (const turnip::edge& e : graph.edges)
            questions.push_back({e.from, e.to, true});
        const auto implied = stowage::verify::detail::answer_paths(order, questions);
        for (std::size_t e = 0; e < graph.edges.size(); ++e) {
            turnip::memgraph changed = graph;
            changed.edges.erase(changed.edges.begin() + static_cast<std::ptrdiff_t>(e));
            const bool accepted = static_cast<bool>(check_memgraph(program, changed));
            CHECK(accepted == (implied[e] != 0));
            refused += accepted ? 0 : 1;
            bool right = true;
            for (std::uint64_t run = 0; run < 6; ++run)
                right = right && runs_right(program, changed, run);
            if (accepted) CHECK(right);
            seen_by_running += right ? 0 : 1;
        }
    }
    CHECK(refused > 500);
    CHECK(seen_by_running > 200);
}

TEST_CASE("a memgraph with one address moved is refused, unless no run can tell") {
    std::size_t refused = 0;
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
        CAPTURE(seed);
        const tensor_graph program = program_of(seed);
        const turnip::memgraph graph = memgraph_of(program, seed);
        stowage::detail::splitmix64 random(seed);
        const auto attempt = [&](turnip::memgraph changed, bool must_fail) {
            const bool accepted = static_cast<bool>(check_memgraph(program, changed));
            if (must_fail) CHECK_FALSE(accepted);
            refused += accepted ? 0 : 1;
            if (!accepted) return;
            for (std::uint64_t run = 0; run < 6; ++run)
                CHECK(runs_right(program, changed, run));
        };
        for (turnip::vertex_index v = 0; v < graph.vertices.size(); ++v) {
            for (std::uint32_t k = graph.first_read[v]; k < graph.first_read[v + 1]; ++k) {
                turnip::memgraph changed = graph;
                std::int64_t& address = changed.operands[k].address;
                const std::int64_t old = address;
                address = static_cast<std::int64_t>(random.below(
                    static_cast<std::uint64_t>(graph.arena_bytes[graph.operands[k].device]) + 1));
                const bool has_bytes = program.bytes(graph.operands[k].buffer) > 0;
                attempt(changed, address != old && has_bytes && k < graph.first_write[v]);
            }
            if (graph.vertices[v].host_address > 0) {
                turnip::memgraph changed = graph;
                --changed.vertices[v].host_address;
                attempt(changed, graph.vertices[v].kind == turnip::vertex_kind::reload &&
                                     program.bytes(graph.moved(v)) > 0);
            }
        }
        for (std::size_t i = 0; i < graph.final.size(); ++i) {
            turnip::memgraph changed = graph;
            ++changed.final[i].address;
            attempt(changed, program.bytes(graph.final[i].buffer) > 0);
        }
    }
    CHECK(refused > 500);
}

TEST_CASE("any change of any number is a no or still right, never a crash") {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        CAPTURE(seed);
        const tensor_graph program = program_of(seed, 4);
        turnip::memgraph graph = memgraph_of(program, seed);
        stowage::detail::splitmix64 random(seed);
        const auto any = [&] { return static_cast<std::uint32_t>(random() >> (random.below(2) * 30 + 32)); };
        for (int change = 0; change < 1 + static_cast<int>(seed % 3); ++change) {
            const std::size_t v = random.below(graph.vertices.size());
            switch (random.below(9)) {
                case 0: graph.vertices[v].op = any(); break;
                case 1: graph.vertices[v].device = any(); break;
                case 2: graph.vertices[v].kind = static_cast<turnip::vertex_kind>(random.below(4)); break;
                case 3: graph.vertices[v].host_address = static_cast<std::int64_t>(random()); break;
                case 4: graph.vertices[v].workspace_address = static_cast<std::int64_t>(random()); break;
                case 5: graph.first_read[v] = any(); break;
                case 6:
                    if (!graph.operands.empty())
                        graph.operands[random.below(graph.operands.size())] = {any(), any(), any()};
                    break;
                case 7:
                    if (!graph.edges.empty()) graph.edges[random.below(graph.edges.size())].to = any() % 8;
                    break;
                case 8:
                    if (!graph.start.empty())
                        graph.start[random.below(graph.start.size())] = {any(), any(), any()};
                    break;
            }
        }
        if (check_memgraph(program, graph)) CHECK(runs_right(program, graph, seed));
    }
}

TEST_CASE("paths between many vertices agree with a walk") {
    stowage::detail::splitmix64 random(3);
    turnip::memgraph graph;
    constexpr std::uint32_t count = 1300;
    graph.vertices.resize(count);
    std::vector<std::vector<std::uint32_t>> next(count);
    std::vector<std::uint32_t> name(count);
    for (std::uint32_t v = 0; v < count; ++v)
        name[v] = v * 7 % count;
    for (std::uint32_t v = 1; v < count; ++v) {
        for (std::uint64_t k = random.below(3); k > 0; --k) {
            const auto u = static_cast<std::uint32_t>(random.below(v));
            if (std::find(next[name[u]].begin(), next[name[u]].end(), name[v]) != next[name[u]].end())
                continue;
            next[name[u]].push_back(name[v]);
            graph.edges.push_back({name[u], name[v]});
        }
    }
    const auto walk = [&](std::uint32_t from, std::uint32_t to, bool longer) {
        std::vector<std::uint32_t> open = {from};
        std::vector<bool> seen(count, false);
        for (bool first = true; !open.empty(); first = false) {
            const std::uint32_t v = open.back();
            open.pop_back();
            for (const std::uint32_t w : next[v]) {
                if (w == to && !(first && longer)) return true;
                if (w == to || seen[w]) continue;
                seen[w] = true;
                open.push_back(w);
            }
        }
        return false;
    };
    std::vector<stowage::verify::detail::path_question> questions;
    for (int i = 0; i < 800; ++i) {
        questions.push_back({static_cast<std::uint32_t>(random.below(count)),
                             static_cast<std::uint32_t>(random.below(count)), false});
        const turnip::edge& e = graph.edges[random.below(graph.edges.size())];
        questions.push_back({e.from, e.to, i % 2 == 0});
    }
    const stowage::verify::detail::vertex_order order(graph);
    const auto answers = stowage::verify::detail::answer_paths(order, questions);
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const auto& q = questions[i];
        CHECK((answers[i] != 0) == (q.from != q.to && walk(q.from, q.to, q.longer)));
    }
}
