#include <stowage/order/bounds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <stowage/graph.hpp>

#include "support/any_program.hpp"
#include "support/brute_force_order.hpp"
#include "support/known_programs.hpp"

namespace {

using namespace stowage;

// Over all sets from which op can run: the fewest live bytes, and those of the buffers alive in all of them.
struct at_operator {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t surely = 0;
};

at_operator brute_force(const tensor_graph& graph, operator_index op) {
    at_operator result;
    const test::operator_set bit = test::operator_set{1} << op;
    std::vector<bool> always(graph.buffer_count(), true);
    for (test::operator_set set = 0; set < 1U << graph.operator_count(); ++set) {
        if ((set & bit) != 0 || !test::is_down_set(graph, set) || !test::is_down_set(graph, set | bit))
            continue;
        result.least = std::min(result.least, test::live_during(graph, set, op));
        for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
            if (!graph.is_planned(b)) continue;
            const test::operator_set users = test::set_of(graph.users(b));
            const bool born = graph.kind(b) == buffer_kind::donated || (users & (set | bit)) != 0;
            const bool dead = graph.kind(b) != buffer_kind::output && (users & ~set) == 0;
            if (!born || dead) always[b] = false;
        }
    }
    result.surely = graph.workspace(op);
    for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
        if (graph.is_planned(b) && always[b]) result.surely += graph.bytes(b);
    }
    return result;
}

}  // namespace

TEST_CASE("the known small answers") {
    for (const auto& known : test::known_programs()) {
        CAPTURE(known.name);
        const tensor_graph graph = make_tensor_graph(known.step);
        CHECK(order::working_set_bound(known.step).bytes == known.working_set);
        CHECK(order::working_set_bound(known.step).witness.rule == "working set");
        CHECK(order::surely_alive_bound(known.step).bytes == known.surely_alive);
        CHECK(order::min_cut_bound(graph).bytes == known.min_cut);
        CHECK(peak_bytes(graph, program_order(graph)) == known.in_program_order);
        if (graph.operator_count() < 10) CHECK(test::least_peak(graph) == known.optimum);
    }
}

TEST_CASE("each bound is what its definition says, and never above the optimum") {
    stowage::detail::splitmix64 random(31);
    for (int trial = 0; trial < 100; ++trial) {
        const tensor_graph graph =
            make_tensor_graph(test::any_program(random, {.operators = 1 + random.below(8)}));
        const std::int64_t optimum = test::least_peak(graph);
        std::int64_t cut = 0;
        std::int64_t surely = 0;
        for (operator_index op = 0; op < graph.operator_count(); ++op) {
            const at_operator expected = brute_force(graph, op);
            cut = std::max(cut, expected.least);
            surely = std::max(surely, expected.surely);
        }
        const auto found = order::min_cut_bound(graph);
        CHECK(found.bytes == cut);
        CHECK(found.bytes <= optimum);
        if (found.bytes > 0) CHECK(brute_force(graph, found.witness.at).least == found.bytes);
        const auto sure = order::surely_alive_bound(graph);
        CHECK(sure.bytes == surely);
        if (sure.bytes > 0) CHECK(brute_force(graph, sure.witness.at).surely == sure.bytes);
        CHECK(order::working_set_bound(graph).bytes <= surely);
        CHECK(order::ends_bound(graph).bytes <= optimum);
    }
}

TEST_CASE("both ends: outputs live to the end, donated buffers from the start") {
    program outputs;
    const auto temporary = outputs.add_buffer({.bytes = 5});
    for (int i = 0; i < 4; ++i) {
        const auto out = outputs.add_buffer({.bytes = 10, .kind = buffer_kind::output});
        outputs.add_operator({.writes = {out, temporary}, .workspace = 3});
    }
    CHECK(order::ends_bound(outputs).bytes == 48);
    CHECK(order::ends_bound(outputs).witness.rule == "outputs");
    program inputs;
    for (int i = 0; i < 4; ++i) {
        const auto given = inputs.add_buffer({.bytes = 10, .kind = buffer_kind::donated});
        const auto made = inputs.add_buffer({.bytes = 2 + i});
        inputs.add_operator({.reads = {given}, .writes = {made}});
    }
    CHECK(order::ends_bound(inputs).bytes == 42);
    CHECK(order::ends_bound(inputs).witness.rule == "inputs");
    CHECK(order::ends_bound(program{}).bytes == 0);
}

TEST_CASE("limits that are spent leave a bound that holds") {
    stowage::detail::splitmix64 random(32);
    for (int trial = 0; trial < 50; ++trial) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 10}));
        const std::int64_t optimum = test::least_peak(graph);
        for (const std::uint64_t states : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}}) {
            CHECK(order::min_cut_bound(graph, {.states = states}).bytes <= optimum);
            CHECK(order::surely_alive_bound(graph, {.states = states}).bytes <= optimum);
        }
    }
}

TEST_CASE("the policy raises the bound and gives no order") {
    const auto known = test::known_programs()[2];
    const tensor_graph graph = make_tensor_graph(known.step);
    budget account;
    order::context shared{.account = account};
    CHECK(order::bounds{}(graph, shared).empty() == false);  // without an incumbent, the best order it met
    CHECK(shared.lower_bound == 150);
    CHECK(shared.witness.rule == "min cut");
    const auto order = program_order(graph);
    shared.incumbent = order;
    shared.incumbent_peak = peak_bytes(graph, order);
    shared.lower_bound = 0;
    CHECK(order::bounds{}(graph, shared).empty());
    CHECK(shared.lower_bound == 150);
    CHECK(shared.incumbent.data() == order.data());
}

TEST_CASE("wide and deep programs: bounds in linear memory, without recursion") {
    program chain;
    buffer_id last = chain.add_buffer({.bytes = 8, .kind = buffer_kind::input});
    program wide;
    for (int i = 0; i < 10'000; ++i) {
        const buffer_id next = chain.add_buffer({.bytes = 64});
        chain.add_operator({.reads = {last}, .writes = {next}});
        last = next;
        const buffer_id alone = wide.add_buffer({.bytes = 1 + i % 1'000});
        wide.add_operator({.writes = {alone}});
        wide.add_operator({.reads = {alone}});
    }
    CHECK(order::min_cut_bound(chain).bytes == 128);
    CHECK(order::surely_alive_bound(chain).bytes == 128);
    CHECK(order::min_cut_bound(wide).bytes == 1'000);
    CHECK(order::surely_alive_bound(wide).bytes == 1'000);
}
