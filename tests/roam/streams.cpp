#include <stowage/roam/streams.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

#include <stowage/io/plan_file.hpp>
#include <stowage/layout/skylines.hpp>
#include <stowage/order/lescea.hpp>
#include <stowage/roam/planner.hpp>
#include <stowage/verify.hpp>

#include "support/any_program.hpp"
#include "support/known_programs.hpp"

using namespace stowage;

TEST_CASE(
    "several streams need the peak of one, in fewer steps; the plan is verified and comes back from text") {
    stowage::detail::splitmix64 random(61);
    std::size_t shorter = 0;
    for (int round = 0; round < 150; ++round) {
        const tensor_graph graph = make_tensor_graph(test::any_program(random, {.operators = 12}));
        const plan one = roam::planner(order::lescea{}, layout::skylines{})(graph, {.alignment = 4});
        for (const std::size_t streams : {2U, 5U}) {
            const plan several = roam::in_streams(graph, one, streams, layout::skylines{});
            const verify::verdict verdict = verify::check_plan(graph, several);
            REQUIRE_MESSAGE(verdict.ok, verdict.reason);
            CHECK(several.peak.bytes == one.peak.bytes);
            CHECK(several.timesteps.size() <= graph.operator_count());
            shorter += several.timesteps.size() < graph.operator_count() ? 1U : 0U;
            for (const auto& step : several.timesteps)
                CHECK(step.size() <= streams);
            const std::string text = io::json_text(io::plan_json(several, {}));
            CHECK(text.find("\"timesteps\"") != std::string::npos);
            CHECK(text.find("\"order\": [") == std::string::npos);
            const plan read = io::parse_plan(text, graph).plan;
            CHECK(read.timesteps == several.timesteps);
            CHECK(read.order == several.order);
            CHECK(verify::check_plan(graph, read).ok);
        }
    }
    CHECK(shorter > 50);
}

TEST_CASE("one stream is the plan as it was, none is an error") {
    const tensor_graph graph = make_tensor_graph(test::arrows(3, {{0, 1, 5}, {1, 2, 5}}));
    const plan one = roam::best(graph);
    CHECK(roam::in_streams(graph, one, 1, layout::skylines{}).timesteps.empty());
    CHECK_THROWS_AS((void)roam::in_streams(graph, one, 0, layout::skylines{}), program_error);
}

TEST_CASE("what is wrong with timesteps is said") {
    const tensor_graph graph = make_tensor_graph(test::arrows(4, {{0, 1, 5}, {2, 3, 5}}));
    const plan good = roam::in_streams(graph, roam::best(graph), 2, layout::skylines{});
    const auto reason = [&](plan changed) { return verify::check_plan(graph, changed).reason; };
    CHECK(reason(good).empty());
    plan together = good;
    together.timesteps = {good.order};
    CHECK_FALSE(reason(together).empty());
    plan other = good;
    std::swap(other.order[0], other.order[2]);
    CHECK_FALSE(reason(other).empty());
    const auto error = [&](const std::string& steps) -> std::string {
        auto json = io::plan_json(good, {});
        json["timesteps"] = nlohmann::ordered_json::parse(steps);
        try {
            (void)io::parse_plan(json.dump(), graph);
        } catch (const parse_error& caught) {
            return caught.what();
        }
        return "read";
    };
    CHECK(error("[0, 1]") == "<input>: timesteps[0]: is to be a list of operators, it is 0");
    CHECK(error("[[0], [1, 2, 7]]").starts_with("<input>: timesteps: "));
    CHECK(error("[[0], [1, 2], 3]").starts_with("<input>: timesteps[2]: "));
    CHECK(error("[[[0]], [1, 2, 3]]").starts_with("<input>: timesteps[1]: is an array"));
}
