#include <stowage/turnip/detail/insertion.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using namespace stowage::turnip::detail;

namespace {

residency_model model_of(stowage::tensor_graph graph, turnip::start_rule start) {
    const turnip::taskgraph task = turnip::make_taskgraph(std::move(graph), {.start = start});
    return make_residency_model(task, stowage::program_order(task.program), 1);
}

}  // namespace

TEST_CASE("an insertion that shares the ways out keeps what fits, and nothing that still fits is absent") {
    std::size_t absent = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const residency_model model = model_of(
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 20, .largest = 9})),
            static_cast<turnip::start_rule>(seed % 3));
        const std::int64_t capacity = most_forced(model, 0).bytes + 6;
        residency_state state(model, std::span(&capacity, 1));
        // A gap that is kept beforehand stays.
        const bool first_stays = !model.gaps.empty() && state.fits(0);
        if (first_stays) state.keep(0);
        shared_insertion(state, gap_values(model, {}))();
        CHECK((!first_stays || state.is_kept(0)));
        std::vector<std::int64_t> bytes(model.forced[0]);
        for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
            if (!state.is_kept(g)) {
                ++absent;
                CHECK(!state.fits(g));
                continue;
            }
            for (std::size_t s = 0; s < bytes.size(); ++s)
                bytes[s] += model.gaps[g].covers(s) ? model.gaps[g].bytes : 0;
        }
        for (const std::int64_t here : bytes)
            CHECK(here <= capacity);
    }
    CHECK(absent > 100);
}

TEST_CASE("parameters that are away twice go out once: sharing the way out finds them, values alone do not") {
    constexpr std::size_t parameters = 20;
    stowage::program step;
    std::vector<stowage::buffer_id> made;
    for (std::size_t k = 0; k < parameters; ++k) {
        made.push_back(step.add_buffer({.bytes = 10, .kind = stowage::buffer_kind::parameter}));
        step.add_operator({.reads = {made.back()}});
    }
    step.add_operator({.workspace = 80});
    for (std::size_t k = parameters; k-- > 0;)
        step.add_operator({.reads = {made[k]}});
    step.add_operator({.workspace = 50});
    for (const stowage::buffer_id parameter : made)
        step.add_operator({.reads = {parameter}, .writes = {parameter}});
    const residency_model model = model_of(stowage::make_tensor_graph(step), turnip::start_rule::steady);
    const std::int64_t capacity = 10 * parameters;
    std::vector<double> prices(model.steps.size(), 0);
    prices[1 + parameters] = 2;
    prices[2 + 2 * parameters] = 1;
    const std::vector<double> values = gap_values(model, prices);
    residency_state alone(model, std::span(&capacity, 1));
    insert_by_value(alone, values);
    CHECK(alone.cost() == (8 + 5) * 20);  // eight of the longest, and five others
    residency_state shared(model, std::span(&capacity, 1));
    shared_insertion(shared, values)();
    CHECK(shared.cost() == 8 * 20 + 5 * 10);  // five of the eight a second time
}
