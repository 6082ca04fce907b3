#include <stowage/turnip/detail/residency_search.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/budget.hpp>
#include <stowage/graph.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/model_builder.hpp>

namespace turnip = stowage::turnip;
using namespace stowage::turnip::detail;

TEST_CASE("many small buffers leave for a large one, where that moves fewer bytes") {
    constexpr std::int64_t large = 100;
    constexpr std::size_t small = 150;
    stowage::program program;
    std::vector<stowage::buffer_id> made;
    for (std::size_t k = 0; k <= small; ++k) {
        made.push_back(program.add_buffer({.bytes = k == 0 ? large : 1}));
        program.add_operator({.writes = {made.back()}});
    }
    program.add_operator({});
    for (std::size_t k = made.size(); k-- > 0;)
        program.add_operator({.reads = {made[k]}});
    const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(program), {});
    const residency_model model = make_residency_model(task, stowage::program_order(task.program), 1);
    const std::int64_t capacity = large + 70;  // 80 of the small ones, or the large one
    std::vector<double> values(model.gaps.size(), 1);
    for (std::size_t g = 0; g < values.size(); ++g)
        values[g] = model.gaps[g].bytes == large ? 0.5 : 1;
    residency_state state(model, std::span(&capacity, 1));
    insert_by_value(state, values);
    REQUIRE(state.cost() == 2 * large);
    residency_search search(model, gap_values(model, {}), 1);
    stowage::budget account({.states = 50'000});
    search(state, 0, 0, account);
    CHECK(state.cost() == 160);
}
