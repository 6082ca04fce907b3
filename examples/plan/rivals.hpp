#pragma once
// What others would need for the same program: PyTorch's order and caching allocator, LESCEA with LLFB, XLA's
// list rule, MODeL in both forms, the ROAM paper's planner.

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/layout.hpp>
#include <stowage/layout/model.hpp>
#include <stowage/layout/of_timesteps.hpp>
#include <stowage/order.hpp>
#include <stowage/order/model.hpp>
#include <stowage/order/timesteps.hpp>
#include <stowage/roam.hpp>
#include <stowage/roam/paper.hpp>
#include <stowage/solver/concepts.hpp>

#include "solver.hpp"

namespace plan_program {

/// PyTorch rounds every block up to this, so comparisons are made at this alignment.
inline constexpr std::int64_t pytorch_alignment = 512;

/// One planner's answer in a comparison.
struct rival {
    std::string planner;
    std::int64_t arena = 0;
    std::int64_t peak = 0;
    double seconds = 0;
    stowage::status status = stowage::status::feasible;  // unknown: it found nothing, program order stands in
    std::vector<stowage::operator_index> order;
};

/// A plan as an answer in a comparison; "optimal" where its arena meets what is proven of all plans.
[[nodiscard]] inline rival as_rival(const std::string& name, stowage::plan made, std::int64_t proven) {
    return {.planner = name,
            .arena = made.arena.bytes,
            .peak = made.peak.bytes,
            .seconds = made.seconds.total,
            .status = made.arena.bytes <= proven ? stowage::status::optimal : stowage::status::feasible,
            .order = std::move(made.order)};
}

/// Plans with a rival's order and layout.
template <class Order, class Layout>
[[nodiscard]] rival run_rival(const std::string& name, const Order& order, const Layout& layout,
                              const stowage::tensor_graph& graph, std::int64_t alignment,
                              std::int64_t proven) {
    return as_rival(
        name, stowage::roam::planner(order, layout)(graph, stowage::roam::options{.alignment = alignment}),
        proven);
}

/// What PyTorch's allocator reserves for program order: whole segments, the last one's free end included.
[[nodiscard]] inline rival pytorch(const stowage::tensor_graph& graph, std::int64_t proven) {
    const auto start = stowage::budget::clock::now();
    rival result{.planner = "pytorch", .order = stowage::program_order(graph)};
    result.arena = stowage::layout::simulate_caching(graph, result.order).reserved;
    result.peak = stowage::peak_bytes(graph, result.order);
    result.seconds = std::chrono::duration<double>(stowage::budget::clock::now() - start).count();
    if (result.arena <= proven) result.status = stowage::status::optimal;
    return result;
}

/// What `plan` answers, a rival named `name`. One whose rounded sizes or offsets pass 2^63 - 1 has no answer:
/// unknown, and the largest integer stands for its bytes.
template <class Plan>
[[nodiscard]] rival rival_or_unknown(const std::string& name, const stowage::tensor_graph& graph, Plan plan) {
    try {
        return plan();
    } catch (const stowage::overflow_error&) {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        return {.planner = name,
                .arena = most,
                .peak = most,
                .status = stowage::status::unknown,
                .order = stowage::program_order(graph)};
    }
}

/// LESCEA's order with LLFB's skyline.
[[nodiscard]] inline rival lescea_llfb(const stowage::tensor_graph& graph, std::int64_t alignment,
                                       std::int64_t proven) {
    return run_rival("lescea+llfb", stowage::order::lescea{}, stowage::layout::llfb{}, graph, alignment,
                     proven);
}

/// LESCEA's order with LLFB as a best fit.
[[nodiscard]] inline rival lescea_llfb_fit(const stowage::tensor_graph& graph, std::int64_t alignment,
                                           std::int64_t proven) {
    return run_rival("lescea+llfb-fit", stowage::order::lescea{}, stowage::layout::llfb_fit{}, graph,
                     alignment, proven);
}

/// XLA's list order with a best fit by size.
[[nodiscard]] inline rival xla_list(const stowage::tensor_graph& graph, std::int64_t alignment,
                                    std::int64_t proven) {
    return run_rival("xla-list", stowage::order::xla_list{}, stowage::layout::best_fit{}, graph, alignment,
                     proven);
}

/// Limits of one of MODeL's integer programs.
[[nodiscard]] inline stowage::solver::program_limits model_limits(std::chrono::nanoseconds time) {
    return {.entries = 2'000'000, .time = time};
}

/// Lays out timesteps; where there are none, those of program order, one operator each. Bounds are those that
/// any plan of the program has.
template <class Layout>
[[nodiscard]] stowage::plan plan_of_timesteps(const stowage::tensor_graph& graph,
                                              stowage::order::timesteps_solution steps, const Layout& policy,
                                              std::int64_t alignment, const stowage::search_limits& limits) {
    using namespace stowage;
    plan made = roam::planner(order::in_program_order{}, layout::first_fit{})(
        graph, roam::options{.alignment = alignment, .states = 1});
    if (steps.timesteps.steps.empty()) {
        steps.timesteps = order::one_by_one(made.order);
        steps.found_by = "program";
    }
    const layout::order_layout items = layout::layout_problem_of(graph, steps.timesteps, alignment);
    const layout::solution found = layout::plan(items.problem, policy, limits);
    made.order = order::flattened(steps.timesteps);
    made.peak.bytes = order::peak_bytes(graph, steps.timesteps);
    made.timesteps = std::move(steps.timesteps.steps);
    made.offsets = items.buffer_offsets(found.offsets);
    made.workspace_offsets = items.workspace_offsets(found.offsets);
    made.arena.bytes = found.arena;
    made.status = found.arena <= made.arena.lower_bound ? status::optimal : status::feasible;
    made.order_by = std::move(steps.found_by);
    made.layout_by = found.found_by;
    made.seconds = {.order = steps.seconds, .layout = found.seconds, .total = steps.seconds + found.seconds};
    return made;
}

/// MODeL-SS with so much time for its order and as much for its layout.
template <stowage::solver::mip_solver Solver>
[[nodiscard]] rival model_ss(const Solver& solver, const stowage::tensor_graph& graph, std::int64_t alignment,
                             std::int64_t proven, std::chrono::nanoseconds time) {
    using namespace stowage;
    const auto limits = model_limits(time);
    plan made = roam::planner(order::model_ss<Solver>{.solver = solver, .options = {.limits = limits}},
                              layout::model<Solver>{.solver = solver, .options = {.limits = limits}})(
        graph, roam::options{.alignment = alignment, .budget = 5 * time});
    const bool found = made.order_by == order::model_ss<Solver>::name;
    rival result = as_rival("model-ss", std::move(made), proven);
    if (!found) result.status = status::unknown;
    return result;
}

/// MODeL-MS, the same.
template <stowage::solver::mip_solver Solver>
[[nodiscard]] rival model_ms(const Solver& solver, const stowage::tensor_graph& graph, std::int64_t alignment,
                             std::int64_t proven, std::chrono::nanoseconds time) {
    using namespace stowage;
    const auto limits = model_limits(time);
    budget account({.time = 2 * time});
    const order::model_ms<Solver> steps{.solver = solver, .options = {.limits = limits}};
    plan made = plan_of_timesteps(graph, steps(graph, account),
                                  layout::model<Solver>{.solver = solver, .options = {.limits = limits}},
                                  alignment, {.time = 2 * time});
    const bool found = made.order_by == order::model_ms<Solver>::name;
    rival result = as_rival("model-ms", std::move(made), proven);
    if (!found) result.status = status::unknown;
    return result;
}

/// The ROAM paper's planner.
[[nodiscard]] inline rival roam_paper(const stowage::tensor_graph& graph, std::int64_t alignment,
                                      std::int64_t proven) {
    return as_rival(
        "roam-paper",
        stowage::roam::paper(small_part_solver{})(graph, stowage::roam::options{.alignment = alignment}),
        proven);
}

}  // namespace plan_program
