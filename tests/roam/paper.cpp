// ctest-label: threads
#include <stowage/roam/paper.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/io/access_list.hpp>
#include <stowage/verify.hpp>

#include "support/any_program.hpp"
#include "support/rounds.hpp"
#include "support/training_steps.hpp"

using namespace stowage;
using namespace std::chrono_literals;

namespace {

tensor_graph captured(const std::string& name) {
    return io::read_access_list(STOWAGE_EXAMPLE_DATA "/" + name + ".json.gz").graph;
}

/// A user's own policies.
struct as_written {
    order::sequence operator()(const tensor_graph& graph) const { return program_order(graph); }
};
struct stacked {
    layout::offset_list operator()(const layout::problem& problem) const {
        return layout::first_fit{}(problem);
    }
};

}  // namespace

TEST_CASE("the paper's planner plans any program") {
    stowage::detail::splitmix64 random(29);
    for (int round = 0; round < stowage::test::rounds(120); ++round) {
        const tensor_graph graph =
            round % 2 == 0 ? make_tensor_graph(test::any_program(random, {.operators = 16, .window = 3}))
                           : test::training_graph({.layers = 2 + random.below(5),
                                                   .by = static_cast<test::optimizer>(random.below(8))});
        roam::paper_report report;
        const plan made =
            roam::paper()(graph, {.alignment = round % 3 == 0 ? 16 : 1, .states = 20'000}, &report);
        const verify::verdict verdict = verify::check_plan(graph, made);
        REQUIRE_MESSAGE(verdict.ok, "round ", round, ": ", verdict.reason);
        std::size_t in_segments = 0;
        for (const roam::segment_report& segment : report.segments)
            in_segments += segment.operators;
        std::size_t in_leaves = 0;
        for (const roam::leaf_report& leaf : report.leaves)
            in_leaves += leaf.operators;
        CHECK(in_segments == graph.operator_count());
        CHECK(in_leaves == graph.operator_count());
    }
}

TEST_CASE("on captured programs: little fragmentation, and never more than program order needs") {
    for (const std::string name : {"alexnet-b1", "vgg16-b32", "mobilenet_v2-b32", "vit_b_16-b1"}) {
        CAPTURE(name);
        const tensor_graph graph = captured(name);
        roam::paper_report report;
        const plan made = roam::paper()(graph, {.threads = 2}, &report);
        CHECK(verify::check_plan(graph, made).ok);
        CHECK(made.fragmentation() < 0.01);
        CHECK(made.peak.bytes <= peak_bytes(graph, program_order(graph)));
        CHECK(report.branches > 10);
        CHECK(report.tree.count(roam::subgraph_level::independent) > 1);
        const roam::integer_program_share share = roam::share_of_integer_programs(report);
        CHECK(share.all_operators == graph.operator_count());
        CHECK(share.operators <= share.all_operators);
    }
}

TEST_CASE("the plan does not depend on the number of threads") {
    const tensor_graph graph = captured("vit_b_16-b32");
    const plan one = roam::paper()(graph, {.threads = 1});
    for (const unsigned threads : {2U, 8U}) {
        const plan more = roam::paper()(graph, {.threads = threads});
        CHECK(more.order == one.order);
        CHECK(more.offsets == one.offsets);
    }
}

TEST_CASE("stopped at any time, the plan is complete") {
    const tensor_graph graph = captured("vgg16-b32");
    const std::int64_t whole = roam::paper()(graph).arena.bytes;
    stowage::detail::splitmix64 random(4);
    for (int round = 0; round < 12; ++round) {  // from at once to about when it would be done
        const auto wait = std::chrono::microseconds(random.below(std::uint64_t{4} << (2 * (round % 8))));
        std::stop_source source;
        std::jthread stopper([&] {
            std::this_thread::sleep_for(wait);
            source.request_stop();
        });
        const plan made = roam::paper()(graph, {.stop = source.get_token(), .threads = 2});
        const verify::verdict verdict = verify::check_plan(graph, made);
        CHECK_MESSAGE(verdict.ok, verdict.reason);
        CHECK(made.arena.bytes >= made.arena.lower_bound);
        CHECK(made.arena.lower_bound <= whole);
    }
    CHECK(verify::check_plan(graph, roam::paper()(graph, {.budget = 0ns})).ok);
    CHECK(verify::check_plan(graph, roam::paper()(graph, {.states = 0})).ok);
}

TEST_CASE("progress is told phase by phase, on the caller's thread") {
    const tensor_graph graph = captured("alexnet-b1");
    std::vector<std::string> phases;
    double done = 0;
    const auto here = std::this_thread::get_id();
    bool same_thread = true;
    const plan made = roam::paper()(graph, {.threads = 3, .on_progress = [&](const roam::progress& now) {
                                                same_thread =
                                                    same_thread && std::this_thread::get_id() == here;
                                                if (phases.empty() || phases.back() != now.phase) {
                                                    phases.emplace_back(now.phase);
                                                    done = 0;
                                                }
                                                CHECK(now.done >= done);
                                                CHECK(now.done <= 1);
                                                done = now.done;
                                            }});
    CHECK(phases == std::vector<std::string>{"order", "layout"});
    CHECK(done == 1);
    CHECK(same_thread);
    CHECK(made.arena.bytes > 0);
}

TEST_CASE("its parts can be replaced, and its rules switched off") {
    const tensor_graph graph = captured("vgg16-b1");
    const plan mine = roam::paper_planner(as_written{}, stacked{})(graph);
    CHECK(verify::check_plan(graph, mine).ok);
    CHECK(mine.peak.bytes >= roam::paper()(graph).peak.bytes);
    roam::paper_options early;
    early.order.updates.delay = false;
    early.order.keep_program_order = false;
    const plan undelayed = roam::paper(solver::enumerator{}, early)(graph);
    CHECK(verify::check_plan(graph, undelayed).ok);
    CHECK(undelayed.peak.bytes > roam::paper()(graph).peak.bytes);
    CHECK_THROWS_AS((void)roam::paper()(graph, {.alignment = 0}), layout_error);
}
