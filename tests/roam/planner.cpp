#include <stowage/roam/planner.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include <stowage/verify.hpp>

#include "support/brute_force_order.hpp"
#include "support/random_program.hpp"

using namespace stowage;
using namespace std::chrono_literals;

namespace {

/// A user's own policies: the library's composes with them by their shape alone.
struct last_first {
    order::sequence operator()(const tensor_graph& graph) const { return program_order(graph); }
};
struct one_after_the_other {
    layout::offset_list operator()(const layout::problem& problem) const {
        layout::offset_list offsets;
        std::int64_t at = 0;
        for (const layout::buffer& b : problem.buffers) {
            const std::int64_t rest = at % problem.alignment;
            at += rest == 0 ? 0 : problem.alignment - rest;
            offsets.push_back(b.takes_part() ? at : 0);
            at += b.takes_part() ? b.size : 0;
        }
        return offsets;
    }
};
struct backwards {
    order::sequence operator()(const tensor_graph& graph) const {
        order::sequence order = program_order(graph);
        return {order.rbegin(), order.rend()};
    }
};

}  // namespace

TEST_CASE("best plans random programs; every plan is verified and its bounds hold against brute force") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const tensor_graph graph = make_tensor_graph(test::random_program(seed, {.operators = 7}));
        const std::int64_t alignment = seed % 3 == 0 ? 16 : 1;
        const plan made = roam::best(graph, {.alignment = alignment, .states = 20'000});
        const verify::verdict verdict = verify::check_plan(graph, made);
        REQUIRE_MESSAGE(verdict.ok, "seed ", seed, ": ", verdict.reason);
        const std::int64_t optimum = test::least_peak(graph);
        CHECK(made.peak.lower_bound <= optimum);
        CHECK(made.peak.bytes >= optimum);
        CHECK(made.arena.lower_bound <= made.arena.bytes);
        if (made.status == status::optimal) CHECK(made.arena.bytes == made.arena.lower_bound);
        CHECK(made.fingerprint == graph.fingerprint());
    }
}

TEST_CASE("the user's own policies compose") {
    const tensor_graph graph = make_tensor_graph(test::random_program(4, {.operators = 12}));
    const roam::planner planner(last_first{}, one_after_the_other{});
    const plan mine = planner(graph, {.alignment = 8});
    CHECK(verify::check_plan(graph, mine).ok);
    CHECK(mine.order == program_order(graph));
    CHECK(mine.arena.bytes >= roam::best(graph, {.alignment = 8}).arena.bytes);
    const roam::planner wrong(backwards{}, one_after_the_other{});
    CHECK_THROWS_AS((void)wrong(graph), program_error);
}

TEST_CASE("a program is read where it is, whatever models tensor_program") {
    const program step = test::random_program(9, {.operators = 10});
    const plan from_program = roam::best(step);
    const plan from_graph = roam::best(make_tensor_graph(step));
    CHECK(from_program.order == from_graph.order);
    CHECK(from_program.offsets == from_graph.offsets);
}

TEST_CASE("no budget, a request to stop: the plan is still complete") {
    const tensor_graph graph = make_tensor_graph(test::random_program(3, {.operators = 40}));
    std::stop_source stopped;
    stopped.request_stop();
    for (const roam::options& options : {roam::options{.budget = 0ns}, roam::options{.states = 0},
                                         roam::options{.stop = stopped.get_token()}}) {
        const plan made = roam::best(graph, options);
        const verify::verdict verdict = verify::check_plan(graph, made);
        CHECK_MESSAGE(verdict.ok, verdict.reason);
    }
}

TEST_CASE("the same options give the same plan; progress is told") {
    const tensor_graph graph = make_tensor_graph(test::random_program(5, {.operators = 60}));
    std::vector<std::string> phases;
    roam::options options;
    options.on_progress = [&](const roam::progress& p) { phases.emplace_back(p.phase); };
    const plan first = roam::best(graph, options);
    const plan second = roam::best(graph, {.threads = 8});
    CHECK(first.order == second.order);
    CHECK(first.offsets == second.offsets);
    REQUIRE(!phases.empty());
    CHECK(phases.front() == "order");
    CHECK(phases.back() == "layout");
}

TEST_CASE("an empty program has an empty plan") {
    const plan made = roam::best(program{});
    CHECK(made.order.empty());
    CHECK(made.arena.bytes == 0);
    CHECK(made.status == status::optimal);
}

TEST_CASE("alignments that are not positive are refused") {
    CHECK_THROWS_AS((void)roam::best(program{}, {.alignment = 0}), layout_error);
    CHECK_THROWS_AS((void)roam::best(program{}, {.alignment = -8}), layout_error);
}
