#include <stowage/solver/within_budget.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include <stowage/solver/enumerator.hpp>

#include "support/solver_contract.hpp"

using namespace stowage;
using namespace stowage::solver;
using namespace std::chrono_literals;

namespace {

/// Remembers what it was told.
struct listener {
    options* heard;
    [[nodiscard]] std::string_view name() const noexcept { return "listener"; }
    [[nodiscard]] result operator()(const model&, const options& how) const {
        *heard = how;
        return {.nodes = 5};
    }
};

}  // namespace

TEST_CASE("states become nodes, which are booked") {
    options heard;
    budget account({.states = 100'000});
    const model program = test::hard_model(20);  // one row of 21 entries: 2 units a node
    static_cast<void>(solve_within(listener{&heard}, program, {}, {}, account));
    CHECK(heard.nodes == 50'000);
    CHECK(!heard.time);
    CHECK(account.spent() == 10);
}

TEST_CASE("the shorter clock counts, and the stop token is handed on") {
    options heard;
    std::stop_source stop;
    budget account({.time = 1h, .stop = stop.get_token()});
    const model program = test::hard_model(20);
    static_cast<void>(solve_within(listener{&heard}, program, {}, {.time = 1min}, account));
    CHECK(heard.time == 1min);
    CHECK(heard.stop == stop.get_token());
    static_cast<void>(solve_within(listener{&heard}, program, {}, {.time = 2h}, account));
    CHECK(heard.time.value() <= 1h);
    CHECK(heard.nodes > 1'000'000'000'000);
}

TEST_CASE("a fault is told, and costs nothing that was known") {
    std::string told;
    budget account;
    const model program = test::hard_model(20);
    const result kept = solve_within(
        enumerator{}, program,
        {.start = test::hard_start(20), .on_incumbent = [](std::span<const double>, double) { throw 1; }},
        {.on_fault = [&](const solver_error& error) { told = error.what(); }}, account);
    CHECK(kept.has_values());
    CHECK(told.find("callback") != std::string::npos);
}
