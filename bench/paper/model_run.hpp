#pragma once
// MODeL's part of bench/paper. Its integer programs run to a limit of minutes or an hour, so their answers
// are kept in a file, a line a program, form and limit (CSV with a header): bench_paper_model writes it,
// bench_paper_results reads it. MODeL runs here as it was published: without a known order, without bounds of
// ours. Only the solver differs, Cbc where the paper had a commercial one.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/spans.hpp>
#include <stowage/order/model.hpp>
#include <stowage/verify.hpp>

#include "../../examples/plan/rivals.hpp"

namespace stowage::bench {

/// One answer of MODeL.
struct model_answer {
    std::string program;
    std::string form;              ///< model-ss or model-ms
    double limit = 0;              ///< seconds, for the order's integer program and again for the layout's
    std::string solver;            ///< name
    std::string date;              ///< on which it ran
    std::size_t operators = 0;     ///< of the program
    std::size_t steps = 0;         ///< T
    std::int64_t variables = 0;    ///< C and P of the order's integer program, whether or not it was posed
    bool posed = false;            ///< false: it was too large for the limit on entries, nothing ran
    std::int64_t found_peak = 0;   ///< incumbent: bytes of the order that it found; 0: none
    std::int64_t proven_peak = 0;  ///< bound: no order of this form needs less; 0: none was proven
    std::int64_t peak = 0;         ///< of the order that was laid out; program order's where none was found
    std::int64_t arena = 0;        ///< of the layout
    double order_seconds = 0;
    double layout_seconds = 0;

    [[nodiscard]] bool solved() const noexcept { return found_peak > 0; }
    [[nodiscard]] bool optimal() const noexcept { return solved() && found_peak == proven_peak; }
    [[nodiscard]] double seconds() const noexcept { return order_seconds + layout_seconds; }
};

/// Larger integer programs are not posed, unless asked for.
inline constexpr std::size_t default_model_entries = 20'000'000;

inline constexpr const char* model_columns =
    "program,form,limit_seconds,solver,date,operators,steps,variables,posed,found_peak,proven_peak,peak,"
    "arena,order_seconds,layout_seconds";

/// A line of the file.
[[nodiscard]] inline std::string line_of(const model_answer& a) {
    std::ostringstream line;
    line << a.program << ',' << a.form << ',' << a.limit << ',' << a.solver << ',' << a.date << ','
         << a.operators << ',' << a.steps << ',' << a.variables << ',' << (a.posed ? 1 : 0) << ','
         << a.found_peak << ',' << a.proven_peak << ',' << a.peak << ',' << a.arena << ',' << a.order_seconds
         << ',' << a.layout_seconds;
    return line.str();
}

/// Reads a file of answers; an absent file holds none. Throws std::runtime_error for another kind of file.
[[nodiscard]] inline std::vector<model_answer> read_model_answers(const std::string& path) {
    std::vector<model_answer> answers;
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) return answers;
    if (line != model_columns) throw std::runtime_error(path + ": not a file of MODeL's answers");
    while (std::getline(file, line)) {
        std::vector<std::string> cells;
        std::istringstream parts(line);
        for (std::string cell; std::getline(parts, cell, ',');)
            cells.push_back(cell);
        if (cells.size() != 15) throw std::runtime_error(path + ": a line has other columns: " + line);
        answers.push_back({.program = cells[0],
                           .form = cells[1],
                           .limit = std::stod(cells[2]),
                           .solver = cells[3],
                           .date = cells[4],
                           .operators = std::stoul(cells[5]),
                           .steps = std::stoul(cells[6]),
                           .variables = std::stoll(cells[7]),
                           .posed = cells[8] == "1",
                           .found_peak = std::stoll(cells[9]),
                           .proven_peak = std::stoll(cells[10]),
                           .peak = std::stoll(cells[11]),
                           .arena = std::stoll(cells[12]),
                           .order_seconds = std::stod(cells[13]),
                           .layout_seconds = std::stod(cells[14])});
    }
    return answers;
}

/// The answer for a program, form and limit, or null.
[[nodiscard]] inline const model_answer* find_answer(const std::vector<model_answer>& known,
                                                     const std::string& program, const std::string& form,
                                                     double limit) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const model_answer& answer) {
        return answer.program == program && answer.form == form && answer.limit == limit;
    });
    return found == known.end() ? nullptr : &*found;
}

/// C and P of the integer program over `steps` steps, as the paper counts them.
[[nodiscard]] inline std::int64_t count_model_variables(const order::detail::order_problem& problem,
                                                        std::size_t steps) {
    const order::detail::step_spans spans = order::detail::spans_by_path(problem, steps);
    std::int64_t count = 0;
    for (operator_index op = 0; op < problem.operator_count(); ++op)
        count += std::int64_t{spans.last[op]} - spans.first[op] + 1;
    for (order::detail::tensor_index e = 0; e < problem.tensor_count(); ++e) {
        const operator_index producer = problem.producer[e];
        const std::int64_t from = producer == no_operator ? 0 : std::int64_t{spans.first[producer]} + 1;
        std::int64_t to = problem.stays_alive[e] != 0 ? static_cast<std::int64_t>(steps) - 1 : from - 1;
        for (const operator_index user : problem.consumers(e))
            to = std::max(to, std::int64_t{spans.last[user]});
        count += to - from + 1;
    }
    return count;
}

/// Runs MODeL in one form on one program, with so much time for its order and as much for its layout. Throws
/// std::logic_error if its plan is not verified.
[[nodiscard]] inline model_answer run_model(const std::string& program, const tensor_graph& graph,
                                            const std::string& form, double limit, std::size_t entries,
                                            std::int64_t alignment, const std::string& date) {
    const plan_program::whole_program_solver solver;
    const auto time =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(limit));
    const order::model_options how{.operators = graph.operator_count(),
                                   .limits = {.entries = entries, .time = time}};
    const order::detail::order_problem problem = order::detail::make_order_problem(graph);
    model_answer answer{.program = program,
                        .form = form,
                        .limit = limit,
                        .solver = std::string(solver.name()),
                        .date = date,
                        .operators = graph.operator_count()};
    const bool single = form == "model-ss";
    answer.steps = single ? graph.operator_count() : order::detail::default_steps(problem);
    answer.variables = count_model_variables(problem, answer.steps);
    budget account({.time = 2 * time});
    order::timesteps_solution steps;
    if (single) {
        const auto start = budget::clock::now();
        order::context alone{.account = account};
        const order::sequence order = order::model_ss<plan_program::whole_program_solver>{
            .solver = solver, .options = how}(graph, alone);
        steps.timesteps = order::one_by_one(order);
        steps.lower_bound = alone.lower_bound;
        steps.found_by = form;
        steps.seconds = std::chrono::duration<double>(budget::clock::now() - start).count();
    } else {
        steps = order::model_ms<plan_program::whole_program_solver>{.solver = solver, .options = how}(
            graph, account);
    }
    answer.posed = account.spent() > 0;
    answer.proven_peak = steps.lower_bound;
    if (!steps.timesteps.steps.empty()) answer.found_peak = order::peak_bytes(graph, steps.timesteps);
    const plan made = plan_program::plan_of_timesteps(
        graph, std::move(steps),
        layout::model<plan_program::whole_program_solver>{
            .solver = solver, .options = {.limits = {.entries = entries, .time = time}}},
        alignment, {.time = 2 * time});
    const verify::verdict verdict = verify::check_plan(graph, made);
    if (!verdict) throw std::logic_error(program + ", " + form + ": " + verdict.reason);
    answer.peak = made.peak.bytes;
    answer.arena = made.arena.bytes;
    answer.order_seconds = made.seconds.order;
    answer.layout_seconds = made.seconds.layout;
    return answer;
}

}  // namespace stowage::bench
