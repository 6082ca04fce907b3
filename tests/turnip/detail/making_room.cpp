#include <stowage/turnip/detail/making_room.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/detail/random.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using namespace stowage::turnip::detail;

namespace {

bool spans(const model_gap& gap, std::uint32_t lower, std::uint32_t upper) {
    if (gap.wrapped) return lower <= gap.upper || upper >= gap.lower;
    return gap.lower <= upper && gap.upper >= lower;
}

}  // namespace

TEST_CASE(
    "each rectangle that sticks out is made up for by kept gaps of its time, and no others are dropped") {
    std::size_t relieved = 0;
    std::size_t refused = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const turnip::taskgraph task = turnip::make_taskgraph(
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 20, .largest = 9})),
            {.start = static_cast<turnip::start_rule>(seed % 3)});
        const residency_model model = make_residency_model(task, stowage::program_order(task.program), 1);
        const std::int64_t capacity = most_forced(model, 0).bytes + 6;
        residency_state state(model, std::span(&capacity, 1));
        insert_by_value(state, gap_values(model, {}));
        stay_plan plan = make_rectangles(model, state.kept());
        stowage::detail::splitmix64 random(seed);
        // One rectangle is too high, the others are low enough.
        for (rectangle& stay : plan.rectangles)
            stay.address = 0;
        if (plan.rectangles.empty()) continue;
        rectangle& high = plan.rectangles[random.below(plan.rectangles.size())];
        const std::int64_t bytes = task.program.bytes(model.instances[high.instance].buffer);
        const auto over = 1 + static_cast<std::int64_t>(random.below(5));
        high.address = capacity - bytes + over;
        const std::vector<char> before = state.kept();
        std::vector<std::uint32_t> dropped;
        const gap_index index(model);
        if (!drop_where_it_sticks_out(task.program, plan, 0, capacity, index, 0, random, state, dropped)) {
            ++refused;
            continue;
        }
        ++relieved;
        std::int64_t freed = 0;
        for (const std::uint32_t g : dropped) {
            CHECK(before[g] != 0);
            CHECK_FALSE(state.is_kept(g));
            CHECK(spans(model.gaps[g], high.lower, high.upper));
            freed += model.gaps[g].bytes;
        }
        CHECK(freed >= over);
        CHECK(std::count(before.begin(), before.end(), 1) - std::ssize(dropped) ==
              std::count(state.kept().begin(), state.kept().end(), 1));
    }
    CHECK(relieved > 20);
    CHECK(refused > 0);
}

TEST_CASE("the cheapest byte goes: one large gap, or a small one where that is enough") {
    // Two parameters wait over the middle of the program; only one of them is large.
    stowage::program step;
    const auto large = step.add_buffer({.bytes = 100, .kind = stowage::buffer_kind::parameter});
    const auto small = step.add_buffer({.bytes = 10, .kind = stowage::buffer_kind::parameter});
    std::vector<stowage::buffer_id> made;
    for (int k = 0; k < 3; ++k) {
        made.push_back(step.add_buffer({.bytes = 1}));
        stowage::operator_options op;
        if (k != 1) op.reads = {large, small};
        if (k > 0) op.reads.push_back(made[made.size() - 2]);
        op.writes = {made.back()};
        step.add_operator(op);
    }
    const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(step));
    const residency_model model = make_residency_model(task, stowage::program_order(task.program), 1);
    const std::int64_t capacity = 200;
    for (const std::int64_t over : {5, 50}) {
        residency_state state(model, std::span(&capacity, 1));
        insert_by_value(state, gap_values(model, {}));
        stay_plan plan = make_rectangles(model, state.kept());
        // What the operator in the middle writes sticks out.
        for (rectangle& stay : plan.rectangles)
            stay.address = model.instances[stay.instance].buffer == 3 ? capacity - 1 + over : 0;
        std::vector<std::uint32_t> dropped;
        stowage::detail::splitmix64 random(1);
        REQUIRE(drop_where_it_sticks_out(task.program, plan, 0, capacity, gap_index(model), 0, random, state,
                                         dropped));
        const auto most = std::max_element(dropped.begin(), dropped.end(), [&](auto a, auto b) {
            return model.gaps[a].bytes < model.gaps[b].bytes;
        });
        REQUIRE(most != dropped.end());
        CHECK(model.gaps[*most].bytes == (over == 5 ? 10 : 100));
    }
}
