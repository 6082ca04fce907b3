#include <stowage/solver/check.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include <stowage/solver/enumerator.hpp>

using namespace stowage;
using namespace stowage::solver;

namespace {

/// A solver that does what a test tells it to.
struct scripted {
    std::function<result(const model&, const options&)> body;
    [[nodiscard]] std::string_view name() const noexcept { return "scripted"; }
    [[nodiscard]] result operator()(const model& program, const options& how) const {
        return body(program, how);
    }
};
static_assert(mip_solver<scripted>);

/// minimise x + y, x + y >= 3, both in 0 ... 5.
model small() {
    model program;
    program.integral_objective = true;
    program.add_variable(variable_kind::integer, 0, 5, 1);
    program.add_variable(variable_kind::integer, 0, 5, 1);
    program.add_row(3, {{0, 1}, {1, 1}}, infinity);
    program.variable_name = [](variable_index i) { return i == 0 ? std::string("x") : std::string("y"); };
    program.row_name = [](row_index) { return std::string("sum"); };
    return program;
}

const std::vector<double> known = {4, 0};

bool mentions(const solver_error& error, const char* text) {
    return std::string(error.what()).find(text) != std::string::npos;
}

attempt run(const std::function<result(const model&, const options&)>& body) {
    return try_solve(scripted{body}, small(), {.start = known});
}

}  // namespace

TEST_CASE("whatever a solver does, the start is not lost") {
    const auto keeps_start = [](const attempt& done, fault kind) {
        REQUIRE(done.error);
        CHECK(done.error->kind() == kind);
        CHECK(done.answer.values == known);
        CHECK(done.answer.status == status::feasible);
        CHECK(done.answer.objective == 4);
        CHECK(done.error->best().values == known);
        CHECK(mentions(*done.error, "scripted"));
    };
    SUBCASE("it throws its own error") {
        keeps_start(run([](const model&, const options&) -> result {
                        throw solver_error(fault::aborted, "inner", "code 7");
                    }),
                    fault::aborted);
    }
    SUBCASE("it throws something else") {
        keeps_start(run([](const model&, const options&) -> result { throw std::bad_alloc(); }),
                    fault::aborted);
        keeps_start(run([](const model&, const options&) -> result { throw 3; }), fault::aborted);
    }
    SUBCASE("its values break a row") {
        const attempt done = run([](const model&, const options&) {
            return result{.status = status::optimal, .values = {1, 1}, .objective = 2, .bound = 2};
        });
        keeps_start(done, fault::wrong_answer);
        CHECK(mentions(*done.error, "row 0 (sum)"));
    }
    SUBCASE("its values break a bound, are no integers, no numbers, or too few") {
        for (const std::vector<double>& values : std::vector<std::vector<double>>{
                 {6, 0}, {1.5, 2}, {std::numeric_limits<double>::quiet_NaN(), 3}, {3}}) {
            keeps_start(run([&](const model&, const options&) {
                            return result{.status = status::feasible, .values = values};
                        }),
                        fault::wrong_answer);
        }
    }
    SUBCASE("it calls a model with known values infeasible") {
        keeps_start(run([](const model&, const options&) { return result{.status = status::infeasible}; }),
                    fault::wrong_answer);
    }
    SUBCASE("its bound is above what is known") {
        keeps_start(
            run([](const model&, const options&) { return result{.status = status::unknown, .bound = 5}; }),
            fault::wrong_answer);
    }
    SUBCASE("it finds nothing") {
        const attempt done = run([](const model&, const options&) { return result{.bound = 1}; });
        CHECK(!done.error);
        CHECK(done.answer.values == known);
        CHECK(done.answer.status == status::feasible);
        CHECK(done.answer.bound == 1);
    }
    SUBCASE("it returns something worse than the start") {
        const attempt done = run([](const model&, const options&) {
            return result{.status = status::feasible, .values = {5, 5}, .objective = 10};
        });
        CHECK(!done.error);
        CHECK(done.answer.values == known);
    }
}

TEST_CASE("an incumbent that was reported survives what comes after it") {
    const attempt done = run([](const model&, const options& how) -> result {
        how.on_incumbent(std::vector<double>{3, 0}, 3);
        how.on_incumbent(std::vector<double>{0, 0}, 0);  // wrong: not taken
        throw solver_error(fault::aborted, "inner", "out of memory");
    });
    REQUIRE(done.error);
    CHECK(done.answer.values == std::vector<double>{3, 0});
    CHECK(done.answer.objective == 3);
}

TEST_CASE("figures are recomputed, bounds of integral objectives rounded up") {
    const attempt done = run([](const model&, const options&) {
        return result{.status = status::feasible, .values = {1.000001, 2}, .objective = -7, .bound = 2.1};
    });
    CHECK(!done.error);
    CHECK(done.answer.values == std::vector<double>{1, 2});
    CHECK(done.answer.objective == 3);
    CHECK(done.answer.bound == 3);
    CHECK(done.answer.status == status::optimal);
}

TEST_CASE("optimal is not believed where the bound is far away") {
    const attempt done = run([](const model&, const options&) {
        return result{.status = status::optimal, .values = {3, 1}, .objective = 4, .bound = 1};
    });
    CHECK(done.answer.status == status::feasible);
}

TEST_CASE("models and options that break a rule are refused by name") {
    const auto refused = [](const model& program, const options& how, const char* text) {
        const attempt done = try_solve(enumerator{}, program, how);
        REQUIRE(done.error);
        CHECK(done.error->kind() == fault::bad_model);
        CAPTURE(std::string(done.error->what()));
        CHECK(mentions(*done.error, text));
        CHECK_THROWS_AS(static_cast<void>(solve(enumerator{}, program, how)), solver_error);
    };
    model crossed = small();
    crossed.upper[1] = -1;
    refused(crossed, {}, "variable 1 (y): its bounds are crossed");
    model nan = small();
    nan.cost[0] = std::numeric_limits<double>::quiet_NaN();
    refused(nan, {}, "variable 0 (x): its cost is not finite");
    model twice = small();
    twice.variables[1] = 0;
    refused(twice, {}, "row 0 (sum): names variable 0 (x) twice");
    model unknown_variable = small();
    unknown_variable.variables[1] = 2;
    refused(unknown_variable, {}, "names a variable that does not exist");
    model uneven = small();
    uneven.kind.pop_back();
    refused(uneven, {}, "differ in length");
    model torn = small();
    torn.begin.back() = 1;
    refused(torn, {}, "do not fit together");
    model row = small();
    row.row_upper[0] = 1;
    refused(row, {}, "row 0 (sum): its bounds are crossed");
    refused(small(), {.relative_gap = -1}, "gap");
    refused(small(), {.start = {1}}, "the start has 1 values");
    refused(small(), {.start = {1, 1}}, "the start does not satisfy it: row 0 (sum)");
}

namespace {

struct nameless {
    [[nodiscard]] result operator()(const model&, const options&) const { return {}; }
};
struct unable {
    [[nodiscard]] std::string_view name() const { return "unable"; }
};
struct unmovable : unable {
    unmovable() = default;
    unmovable(const unmovable&) = delete;
    [[nodiscard]] result operator()(const model&, const options&) const { return {}; }
};
struct vague : unable {
    [[nodiscard]] bool operator()(const model&, const options&) const { return true; }
};

}  // namespace

static_assert(mip_solver<enumerator>);
static_assert(solves_models<nameless> && !has_solver_name<nameless> && !mip_solver<nameless>);
static_assert(has_solver_name<unable> && !solves_models<unable> && !mip_solver<unable>);
static_assert(!mip_solver<unmovable> && !mip_solver<vague>);

TEST_CASE("what is called is what is reported") {
    CHECK(to_string(fault::bad_model) == "bad model");
    CHECK(to_string(fault::wrong_answer) == "wrong answer");
    CHECK(to_string(fault::aborted) == "aborted");
    CHECK(to_string(fault::callback) == "callback");
}
