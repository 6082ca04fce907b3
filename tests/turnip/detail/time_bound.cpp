#include <stowage/turnip/detail/time_bound.hpp>

#include <vector>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/turnip/compile.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/simulate.hpp>

namespace turnip = stowage::turnip;

TEST_CASE("what an operator writes takes room when it starts, unless another order starts another one then") {
    // All orders begin with x. Then `large` has no room beside it, but `last use` may run first and free it.
    stowage::program step;
    const auto x = step.add_buffer({.bytes = 50});
    const auto token = step.add_buffer({.bytes = 1});
    const auto large = step.add_buffer({.bytes = 100});
    const auto small = step.add_buffer({.bytes = 1});
    const auto out = step.add_buffer({.bytes = 1, .kind = stowage::buffer_kind::output});
    step.add_operator({.writes = {x, token}, .seconds = 1.0});
    step.add_operator({.name = "large", .reads = {token}, .writes = {large}, .seconds = 1.0});
    step.add_operator({.name = "last use", .reads = {x}, .writes = {small}, .seconds = 1.0});
    step.add_operator({.reads = {large, small}, .writes = {out}, .seconds = 1.0});
    const turnip::taskgraph task = turnip::make_taskgraph(stowage::make_tensor_graph(step));
    turnip::compile_options options{.devices = {{.capacity = 120}}};
    turnip::machine& m = options.machine;
    m.host_to_device_bytes_per_second = m.device_to_host_bytes_per_second = 1;
    m.copy_seconds = 0;
    const std::vector<stowage::operator_index> order{0, 1, 2, 3};
    const auto model = turnip::detail::make_residency_model(task, order, 1);
    const auto bound = [&](bool fixed_order) {
        return turnip::detail::time_bound(task, model, order, 120, 0, m, fixed_order, 16);
    };
    const std::vector<stowage::operator_index> other{0, 2, 1, 3};
    const turnip::compiled made = turnip::compile(task, other, options);
    REQUIRE(made.ok());
    const double seconds = turnip::simulate(task.program, made.memgraph, m).makespan;
    CHECK(bound(false) <= seconds * (1 + 1e-9));
    // In order 30 bytes of x leave before `large` starts, and come back.
    CHECK(bound(true) >= 60);
    CHECK(seconds < 10);
}
