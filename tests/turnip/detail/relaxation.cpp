#include <stowage/turnip/detail/relaxation.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/detail/price_bound.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using turnip::detail::relaxation;
using turnip::detail::relaxed_problem;

TEST_CASE("the cheaper gap leaves whole, of the other what still lacks, and the price is the other's") {
    relaxed_problem problem;
    problem.gaps = {{.lower = 0, .upper = 2, .bytes = 4, .bytes_in = 4},
                    {.lower = 1, .upper = 1, .bytes = 4, .bytes_in = 4},
                    {.lower = 2, .upper = 2, .bytes = 4, .bytes_in = 4}};
    problem.first = {0, 1, 2, 3};
    problem.out = {0, 4, 0};
    problem.lacking = {-3, 6, 0};
    relaxation solver(problem, std::vector<double>(3, 0));
    for (int stretch = 0; stretch < 20; ++stretch) {
        solver.run(40);
        solver.restart_from_mean();
    }
    solver.run(40);
    const std::vector<double> absent = solver.mean_absent();
    CHECK(absent[0] == doctest::Approx(1).epsilon(0.01));
    CHECK(absent[1] == doctest::Approx(0.5).epsilon(0.01));  // 2 bytes of 4
    CHECK(absent[2] == doctest::Approx(0).epsilon(0.01));
    CHECK(solver.mean_prices()[1] == doctest::Approx(2).epsilon(0.01));  // in and out
}

TEST_CASE("gaps of one version pay its way out once") {
    relaxed_problem problem;
    problem.gaps = {{.lower = 0, .upper = 0, .bytes = 4, .bytes_in = 4},
                    {.lower = 2, .upper = 2, .bytes = 4, .bytes_in = 4}};
    problem.first = {0, 2};
    problem.out = {4};
    problem.lacking = {4, 0, 4};
    relaxation solver(problem, std::vector<double>(3, 0));
    for (int stretch = 0; stretch < 20; ++stretch) {
        solver.run(40);
        solver.restart_from_mean();
    }
    solver.run(40);
    const std::vector<double> prices = solver.mean_prices();
    CHECK(prices[0] + prices[2] == doctest::Approx(3).epsilon(0.01));  // 4 + 4 in, 4 out, for 8 bytes less
    CHECK(solver.mean_absent()[0] == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("what its prices prove is no more than the best decision moves, and often all of it") {
    std::size_t tight = 0;
    std::size_t asked = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        CAPTURE(seed);
        const turnip::taskgraph task = turnip::make_taskgraph(
            stowage::make_tensor_graph(stowage::test::random_program(seed, {.operators = 8, .largest = 6})),
            {.start = static_cast<turnip::start_rule>(seed % 3)});
        const auto model =
            turnip::detail::make_residency_model(task, stowage::program_order(task.program), 1);
        if (model.gaps.empty() || model.gaps.size() > 10) continue;
        const std::int64_t capacity =
            turnip::detail::most_forced(model, 0).bytes + static_cast<int>(seed % 4);
        std::int64_t best = -1;
        for (std::uint32_t chosen = 0; chosen < (1U << model.gaps.size()); ++chosen) {
            turnip::detail::residency_state state(model, std::span(&capacity, 1));
            bool fits = true;
            for (std::uint32_t g = 0; fits && g < model.gaps.size(); ++g) {
                if ((chosen >> g & 1U) == 0) continue;
                fits = state.fits(g);
                if (fits) state.keep(g);
            }
            if (fits && (best < 0 || state.cost() < best)) best = state.cost();
        }
        turnip::detail::price_bound plain(model, capacity);
        plain.improve(best, 40);
        turnip::detail::price_bound relaxed(model, capacity);
        relaxed.improve(best, 40, 400);
        CHECK(relaxed.proven() <= best);
        CHECK(relaxed.proven() * 100 >= plain.proven() * 99);
        ++asked;
        tight += relaxed.proven() == best ? 1 : 0;
    }
    CHECK(asked > 40);
    CHECK(tight * 4 > asked);
}
