#pragma once
// The laws that every solver keeps, run on each of them: right answers on random small programs against brute
// force, limits that are kept, starts that are never lost, figures that agree.

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/solver.hpp>

namespace stowage::test {

/// What a random model may have.
struct random_model_options {
    std::size_t variables = 5;
    std::size_t rows = 4;
    std::int64_t domain = 3;  ///< values 0 to this
    bool maximum = true;      ///< a continuous variable above sums of the others, to be minimised
};

/// A random model: integers in small boxes, rows of every kind, now and then without any solution.
inline solver::model random_model(detail::splitmix64& random, const random_model_options& options = {}) {
    solver::model program;
    program.integral_objective = true;
    const auto draw = [&](std::int64_t from, std::int64_t to) {
        return static_cast<double>(
            from + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(to - from + 1))));
    };
    for (std::size_t i = 0; i < options.variables; ++i) {
        const double low = draw(-1, 1);
        program.add_variable(solver::variable_kind::integer, low, low + draw(0, options.domain), draw(-3, 3));
    }
    const bool solvable = random.below(4) != 0;  // the lower ends satisfy every row
    for (std::size_t r = 0; r < options.rows; ++r) {
        std::vector<solver::term> entries;
        double sum = 0;
        for (solver::variable_index i = 0; i < options.variables; ++i) {
            if (random.below(2) != 0) continue;
            entries.push_back({i, draw(-3, 3)});
            sum += entries.back().coefficient * program.lower[i];
        }
        const double at = solvable ? sum : draw(-4, 6);
        const std::uint64_t shape = random.below(4);
        program.add_row(shape == 0 ? -solver::infinity : at, entries,
                        shape == 1 ? solver::infinity : (shape == 2 ? at : at + draw(0, 4)));
    }
    if (!options.maximum) return program;
    const auto top = program.add_variable(solver::variable_kind::continuous, 0, solver::infinity, 2);
    for (std::size_t r = 0; r < 3; ++r) {
        std::vector<solver::term> entries = {{top, 1}};
        for (solver::variable_index i = 0; i < options.variables; ++i)
            entries.push_back({i, -draw(0, 3)});
        program.add_row(0, entries, solver::infinity);
    }
    return program;
}

/// The least objective of a random_model by trying all values; nothing if there are none.
inline std::optional<double> least_objective(const solver::model& program) {
    std::size_t integers = 0;
    while (integers < program.variable_count() && program.kind[integers] == solver::variable_kind::integer)
        ++integers;
    std::vector<double> values(program.lower);
    std::optional<double> best;
    while (true) {
        if (integers < program.variable_count()) {  // the maximum
            values[integers] = 0;
            for (std::size_t r = program.row_count() - 3; r < program.row_count(); ++r) {
                double sum = 0;
                for (std::size_t k = program.begin[r] + 1; k < program.begin[r + 1]; ++k)
                    sum -= program.coefficients[k] * values[program.variables[k]];
                values[integers] = std::max(values[integers], sum);
            }
        }
        bool holds = true;
        for (std::size_t r = 0; r < program.row_count() && holds; ++r) {
            double sum = 0;
            for (std::size_t k = program.begin[r]; k < program.begin[r + 1]; ++k)
                sum += program.coefficients[k] * values[program.variables[k]];
            holds = sum >= program.row_lower[r] && sum <= program.row_upper[r];
        }
        double objective = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            objective += program.cost[i] * values[i];
        if (holds && (!best || objective < *best)) best = objective;
        std::size_t i = 0;
        while (i < integers && values[i] == program.upper[i]) {
            values[i] = program.lower[i];
            ++i;
        }
        if (i == integers) return best;
        values[i] += 1;
    }
}

/// A model that takes long: n equal boxes to be parted, with a sum that parity forbids, so that bounds help
/// little. Its start is always known: all zero but the slack.
inline solver::model hard_model(std::size_t n) {
    solver::model program;
    std::vector<solver::term> entries;
    for (std::size_t i = 0; i < n; ++i)
        entries.push_back({program.add_binary(), 2});
    const auto rest =
        program.add_variable(solver::variable_kind::continuous, 0, 2.0 * static_cast<double>(n), 1);
    entries.push_back({rest, 1});
    const double half = static_cast<double>(n % 2 == 0 ? n - 1 : n);
    program.add_row(half, entries, half);
    program.integral_objective = false;
    return program;
}

/// The least objective of hard_model: what parity leaves over.
inline constexpr double hard_optimum = 1;

/// The values of hard_model that are known from the start.
inline std::vector<double> hard_start(std::size_t n) {
    std::vector<double> start(n, 0.0);
    start.push_back(static_cast<double>(n % 2 == 0 ? n - 1 : n));
    return start;
}

template <solver::mip_solver Solver>
void check_right_answers(const Solver& solver, int rounds) {
    detail::splitmix64 random(11);
    int solved = 0;
    for (int round = 0; round < rounds; ++round) {
        const solver::model program = random_model(random, {.maximum = round % 2 == 0});
        const std::optional<double> expected = least_objective(program);
        CAPTURE(round);
        const solver::result found = solver::solve(solver, program);
        if (!expected) {
            CHECK(found.status == status::infeasible);
            CHECK(found.values.empty());
            continue;
        }
        ++solved;
        REQUIRE(found.status == status::optimal);
        CHECK(found.objective == doctest::Approx(*expected).epsilon(1e-7));
        CHECK(found.bound == doctest::Approx(*expected).epsilon(1e-7));
        CHECK(!solver::violation(program, found.values));
    }
    CHECK(solved > rounds / 4);
}

template <solver::mip_solver Solver>
void check_starts(const Solver& solver) {
    detail::splitmix64 random(12);
    for (int round = 0; round < 40; ++round) {
        const solver::model program = random_model(random);
        const solver::result first = solver::solve(solver, program);
        if (!first.has_values()) continue;
        CAPTURE(round);
        const solver::result again = solver::solve(solver, program, {.start = first.values});
        CHECK(again.status == status::optimal);
        CHECK(again.objective == doctest::Approx(first.objective));
        // Limits of nothing leave the start.
        using namespace std::chrono_literals;
        const solver::result none = solver::solve(solver, program, {.time = 0ns, .start = first.values});
        CHECK(none.status == status::feasible);
        CHECK(none.values == first.values);
        CHECK(solver::solve(solver, program, {.time = 0ns}).status == status::unknown);
    }
}

template <solver::mip_solver Solver>
void check_limits(const Solver& solver) {
    using namespace std::chrono_literals;
    const solver::model program = hard_model(60);
    const std::vector<double> start = hard_start(60);
    const solver::result by_nodes = solver::solve(solver, program, {.nodes = 20, .start = start});
    CHECK(by_nodes.has_values());
    CHECK(by_nodes.bound <= by_nodes.objective);
    CHECK(by_nodes.objective <= program.objective(start));
    CHECK(by_nodes.bound <= hard_optimum + 1e-5);
    const solver::result by_time = solver::solve(solver, program, {.time = 30ms, .start = start});
    CHECK(by_time.has_values());
    CHECK(by_time.objective <= program.objective(start));
    CHECK(by_time.bound <= hard_optimum + 1e-5);
    CHECK(by_time.seconds < 20);  // no more than "it ends"
}

template <solver::mip_solver Solver>
void check_stops(const Solver& solver) {
    detail::splitmix64 random(13);
    const solver::model program = hard_model(60);
    const std::vector<double> start = hard_start(60);
    for (int round = 0; round < 12; ++round) {
        std::stop_source stop;
        const auto pause = std::chrono::microseconds(random.below(12'000));
        std::jthread killer([&] {
            std::this_thread::sleep_for(pause);
            stop.request_stop();
        });
        const solver::attempt found =
            solver::try_solve(solver, program, {.stop = stop.get_token(), .start = start});
        CHECK(!found.error);
        CHECK(found.answer.has_values());
        CHECK(!solver::violation(program, found.answer.values));
        CHECK(found.answer.objective <= program.objective(start));
        CHECK(found.answer.bound <= hard_optimum + 1e-5);
    }
}

template <solver::mip_solver Solver>
void check_incumbents(const Solver& solver) {
    detail::splitmix64 random(14);
    bool called = false;
    for (int round = 0; round < 30; ++round) {
        const solver::model program = random_model(random, {.variables = 7});
        double last = solver::infinity;
        bool falls = true;
        const solver::result found = solver::solve(
            solver, program, {.on_incumbent = [&](std::span<const double> values, double objective) {
                called = true;
                falls = falls && objective < last && !solver::violation(program, values);
                last = objective;
            }});
        CHECK(falls);
        if (found.has_values() && last < solver::infinity) CHECK(found.objective <= last + 1e-9);
    }
    CHECK(called);
    // What the caller's function throws ends the search; the values it was told of are kept.
    const solver::model program = random_model(random, {.variables = 7, .rows = 1});
    const solver::attempt broken = solver::try_solve(
        solver, program,
        {.on_incumbent = [](std::span<const double>, double) { throw std::runtime_error("enough"); }});
    if (broken.error) {
        CHECK(broken.error->kind() == solver::fault::callback);
        CHECK(std::string(broken.error->what()).find("enough") != std::string::npos);
        CHECK(broken.error->best().has_values());
    } else {
        CHECK(broken.answer.has_values());
    }
}

/// Special shapes: no variables, no rows, fixed variables, fractional bounds, empty rows.
template <solver::mip_solver Solver>
void check_edges(const Solver& solver) {
    solver::model empty;
    empty.constant = 3;
    CHECK(solver::solve(solver, empty).status == status::optimal);
    CHECK(solver::solve(solver, empty).objective == 3);

    solver::model impossible;
    impossible.add_row(1, {}, 2);  // 0 is not in [1, 2]
    CHECK(solver::solve(solver, impossible).status == status::infeasible);

    solver::model free;
    free.add_variable(solver::variable_kind::integer, 0.5, 1.5, 1);
    free.add_variable(solver::variable_kind::continuous, 2, 2, 1);
    free.add_row(0, {{0, 0.0}}, 1);
    const solver::result found = solver::solve(solver, free);
    CHECK(found.status == status::optimal);
    CHECK(found.values == std::vector<double>{1, 2});

    solver::model hole;
    hole.add_variable(solver::variable_kind::integer, 0.2, 0.8, 1);
    CHECK(solver::solve(solver, hole).status == status::infeasible);
}

/// Threads that solve at once get the answers of one.
template <solver::mip_solver Solver>
void check_threads(const Solver& solver) {
    detail::splitmix64 random(5);
    std::vector<solver::model> programs;
    std::vector<solver::result> expected;
    for (int i = 0; i < 20; ++i) {
        programs.push_back(random_model(random));
        expected.push_back(solver::solve(solver, programs.back()));
    }
    std::vector<std::vector<solver::result>> found(2);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : found) {
            threads.emplace_back([&] {
                for (const solver::model& program : programs)
                    mine.push_back(solver::solve(solver, program));
            });
        }
    }
    for (const auto& mine : found) {
        for (std::size_t i = 0; i < programs.size(); ++i) {
            CHECK(mine[i].status == expected[i].status);
            CHECK(mine[i].values == expected[i].values);
        }
    }
}

/// A dense relaxation that takes far longer than the limit is left, and the start is the answer.
template <solver::mip_solver Solver>
void check_long_linear_program(const Solver& solver) {
    using namespace std::chrono_literals;
    detail::splitmix64 random(9);
    solver::model program;
    for (int i = 0; i < 1500; ++i)
        program.add_variable(solver::variable_kind::continuous, 0, 1e6, -1.0 - random.uniform());
    for (int r = 0; r < 1500; ++r) {
        std::vector<solver::term> entries;
        for (solver::variable_index i = 0; i < 1500; ++i) {
            if (random.below(3) == 0) entries.push_back({i, 1.0 + 9 * random.uniform()});
        }
        program.add_row(-solver::infinity, entries, 1000.0 + 1000 * random.uniform());
    }
    const solver::result found =
        solver::solve(solver, program, {.time = 20ms, .start = std::vector<double>(1500, 0.0)});
    CHECK(found.status == status::feasible);
    CHECK(found.objective == 0);
    CHECK(found.seconds < 5);  // no more than "it ends"
}

/// All laws.
template <solver::mip_solver Solver>
void check_contract(const Solver& solver, int rounds = 200) {
    check_right_answers(solver, rounds);
    check_starts(solver);
    check_limits(solver);
    check_stops(solver);
    check_incumbents(solver);
    check_edges(solver);
}

}  // namespace stowage::test
