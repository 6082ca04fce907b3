#pragma once
// What bench/paper measures of one captured program: every planner that the ROAM paper compares, the paper's
// own parts switched off one by one, and the exact order search beside its rule.

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <stowage/io/access_list.hpp>
#include <stowage/order/exact.hpp>
#include <stowage/roam.hpp>
#include <stowage/roam/paper.hpp>
#include <stowage/roam/streams.hpp>
#include <stowage/verify.hpp>

#include "../../examples/plan/rivals.hpp"
#include "model_run.hpp"

namespace stowage::bench {

/// How the measurements are made.
struct settings {
    std::size_t runs = 10;                              ///< timed runs of each planner
    double model_seconds = 60;                          ///< limit of each of MODeL's integer programs
    std::size_t model_entries = default_model_entries;  ///< larger ones of them are not posed
    std::vector<model_answer> known_models = {};        ///< answers of MODeL; what is missing is run
    std::string date = {};                              ///< today
    std::int64_t alignment = plan_program::pytorch_alignment;
};

/// Mean and standard deviation of some runs, in seconds.
struct timing {
    double mean = 0;
    double deviation = 0;
};

/// One run of the paper's planner with something switched off or set.
struct variant {
    std::string name;
    std::int64_t arena = 0;
    std::int64_t peak = 0;
    double seconds = 0;
    std::size_t leaves = 0;
    std::size_t moved = 0;
    double operators_by_program = 0;  ///< share, of integer programs
    double bytes_by_program = 0;
    double operators_proven = 0;  ///< share in segments whose order is proven best, by whatever method
    double bytes_proven = 0;      ///< share in leaves whose layout is
};

/// Everything about one program.
struct measured {
    std::string name;
    std::size_t operators = 0;
    std::int64_t program_peak = 0;
    plan_program::rival pytorch, lescea, lescea_fit;
    model_answer model_ss, model_ms;
    std::vector<model_answer> longer_models;  ///< with other limits
    plan paper, best;
    timing paper_time, best_time, lescea_time;
    roam::paper_report report;
    std::int64_t rule_peak = 0;  ///< of the paper's order, without program order to fall back on
    std::string rule_peak_at;    ///< operator at which it is met
    std::vector<variant> node_limits;
    std::vector<variant> switched_off;
    std::vector<plan> streams;  ///< the paper's plan with 2 and 4
};

/// Times `work` so many times.
template <class Work>
[[nodiscard]] timing time_runs(std::size_t runs, const Work& work) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < runs; ++i) {
        const auto start = budget::clock::now();
        work();
        seconds.push_back(std::chrono::duration<double>(budget::clock::now() - start).count());
    }
    timing result;
    for (const double s : seconds)
        result.mean += s / static_cast<double>(runs);
    for (const double s : seconds)
        result.deviation += (s - result.mean) * (s - result.mean) / static_cast<double>(runs);
    result.deviation = std::sqrt(result.deviation);
    return result;
}

/// The paper's planner with given options.
[[nodiscard]] inline variant run_variant(const std::string& name, const tensor_graph& graph,
                                         const roam::paper_options& options, const settings& how) {
    roam::paper_report report;
    const plan made =
        roam::paper(solver::enumerator{}, options)(graph, roam::options{.alignment = how.alignment}, &report);
    const roam::integer_program_share share = roam::share_of_integer_programs(report);
    const auto part = [](auto some, auto all) {
        return all == 0 ? 0.0 : static_cast<double>(some) / static_cast<double>(all);
    };
    std::size_t operators_proven = 0;
    std::int64_t bytes_proven = 0;
    for (const roam::segment_report& segment : report.segments)
        operators_proven += segment.status == status::optimal ? segment.operators : 0;
    for (const roam::leaf_report& leaf : report.leaves)
        bytes_proven += leaf.status == status::optimal ? leaf.bytes : 0;
    return {.name = name,
            .arena = made.arena.bytes,
            .peak = made.peak.bytes,
            .seconds = made.seconds.total,
            .leaves = report.leaves.size(),
            .moved = report.moved,
            .operators_by_program = part(share.operators, share.all_operators),
            .bytes_by_program = part(share.bytes, share.all_bytes),
            .operators_proven = part(operators_proven, share.all_operators),
            .bytes_proven = part(bytes_proven, share.all_bytes)};
}

[[nodiscard]] inline std::vector<variant> run_node_limits(const tensor_graph& graph, const settings& how) {
    std::vector<variant> result;
    for (const std::size_t limit : {25U, 50U, 100U, 200U, 400U, 1'000'000U}) {
        roam::paper_options options;
        options.tree.node_limit = limit;
        result.push_back(run_variant(limit > 1000 ? "none" : std::to_string(limit), graph, options, how));
    }
    return result;
}

/// Only what collides is placed anew, as the paper has it, so that each rule shows what it is good for.
[[nodiscard]] inline std::vector<variant> run_switched_off(const tensor_graph& graph, const settings& how) {
    roam::paper_options all;
    all.concatenation.repair_rounds = 0;
    std::vector<variant> result = {run_variant("all rules", graph, all, how)};
    roam::paper_options options = all;
    options.concatenation.activations_low = false;
    result.push_back(run_variant("activations anywhere", graph, options, how));
    options = all;
    options.tree.assign_shared = false;
    result.push_back(run_variant("shared tensors where created", graph, options, how));
    options = all;
    options.concatenation.repair = false;
    result.push_back(run_variant("leaves lifted, no repair", graph, options, how));
    options = all;
    options.order.updates.part = roam::delayed_part::update;
    result.push_back(run_variant("gradients kept", graph, options, how));
    options.order.updates.part = roam::delayed_part::branch;
    result.push_back(run_variant("whole branches delayed", graph, options, how));
    options = all;
    options.order.updates.delay = false;
    result.push_back(run_variant("updates at once", graph, options, how));
    return result;
}

/// Measures one program; throws std::logic_error if a plan is not verified.
[[nodiscard]] inline measured measure(const std::string& path, const settings& how) {
    const io::access_list program = io::read_access_list(path);
    const tensor_graph& graph = program.graph;
    measured result;
    result.name = program.name;
    result.operators = graph.operator_count();
    result.program_peak = peak_bytes(graph, program_order(graph));
    const auto verified = [&](const plan& made) {
        const verify::verdict verdict = verify::check_plan(graph, made);
        if (!verdict) throw std::logic_error(program.name + ": " + verdict.reason);
    };
    const roam::options options{.alignment = how.alignment};
    const auto paper = roam::paper(solver::enumerator{});
    result.paper_time = time_runs(how.runs, [&] { result.paper = paper(graph, options, &result.report); });
    result.best_time = time_runs(how.runs, [&] { result.best = roam::best(graph, options); });
    verified(result.paper);
    verified(result.best);
    const std::int64_t proven = result.best.arena.lower_bound;
    result.pytorch = plan_program::pytorch(graph, proven);
    result.lescea_time =
        time_runs(how.runs, [&] { result.lescea = plan_program::lescea_llfb(graph, how.alignment, proven); });
    result.lescea_fit = plan_program::lescea_llfb_fit(graph, how.alignment, proven);
    const auto model = [&](const std::string& form) {
        const model_answer* known = find_answer(how.known_models, result.name, form, how.model_seconds);
        if (known != nullptr) return *known;
        return run_model(result.name, graph, form, how.model_seconds, how.model_entries, how.alignment,
                         how.date);
    };
    result.model_ss = model("model-ss");
    result.model_ms = model("model-ms");
    for (const model_answer& answer : how.known_models) {
        if (answer.program == result.name && answer.limit != how.model_seconds)
            result.longer_models.push_back(answer);
    }
    budget account;
    const roam::paper_ordering rule = roam::order_as_paper(
        graph, roam::paper_segment_policy(), account, {.long_segments = false, .keep_program_order = false});
    result.rule_peak = rule.ordered.peak;
    const std::vector<std::int64_t> live = live_bytes(graph, rule.ordered.order);
    const auto at = std::max_element(live.begin(), live.end());
    if (at != live.end()) {
        const operator_index op = rule.ordered.order[static_cast<std::size_t>(at - live.begin())];
        result.rule_peak_at = graph.describe_operator(op).text("operator") + ", " +
                              std::string(to_string(rule.schedule.stages[op]));
    }
    for (const std::size_t streams : {2U, 4U}) {
        result.streams.push_back(
            roam::in_streams(graph, result.paper, streams, layout::default_portfolio(), options));
        verified(result.streams.back());
    }
    result.node_limits = run_node_limits(graph, how);
    result.switched_off = run_switched_off(graph, how);
    return result;
}

}  // namespace stowage::bench
