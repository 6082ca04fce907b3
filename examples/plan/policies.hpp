#pragma once
// The orders and layouts that the program `plan` knows by name.

#include <chrono>
#include <map>
#include <string>

#include <stowage/layout.hpp>
#include <stowage/layout/integer_program.hpp>
#include <stowage/order.hpp>
#include <stowage/order/integer_program.hpp>
#include <stowage/order/model.hpp>
#include <stowage/roam/paper.hpp>

#include "solver.hpp"

namespace plan_program {

/// Seconds that one integer program over a whole program may take, unless a budget says otherwise.
inline constexpr std::chrono::seconds program_seconds{10};

/// The same in a comparison, for the order and for the layout of each of MODeL's forms.
inline constexpr std::chrono::seconds compare_seconds{2};

/// Entries of the rows that such a program may have: beyond, solvers run out of memory before they begin.
inline constexpr std::size_t program_entries = 2'000'000;

/// The order policies by the names of docs/formats.md. `model-ms` is not among them: its steps hold several
/// operators (rivals.hpp).
[[nodiscard]] inline std::map<std::string, stowage::order::any_policy> order_policies() {
    using namespace stowage::order;
    const stowage::solver::program_limits limits{.entries = program_entries, .time = program_seconds};
    return {
        {"program", any_policy(in_program_order{})},
        {"dfs", any_policy(depth_first{})},
        {"lescea", any_policy(lescea{})},
        {"xla-list", any_policy(xla_list{})},
        {"eager-free", any_policy(eager_free{})},
        {"local-search", any_policy(local_search{})},
        {"exact", any_policy(exact{})},
        {"ilp", any_policy(integer_program<whole_program_solver>{.options = {.limits = limits}})},
        {"model-ss", any_policy(model_ss<whole_program_solver>{.options = {.limits = limits}})},
        {"roam-paper",
         any_policy(stowage::roam::paper_order(stowage::roam::paper_segment_policy(small_part_solver{})))},
        {"roam-best", any_policy(portfolio{})}};
}

/// The layout policies by the names of docs/formats.md.
[[nodiscard]] inline std::map<std::string, stowage::layout::any_policy> layout_policies() {
    using namespace stowage::layout;
    const stowage::solver::program_limits limits{.entries = program_entries, .time = program_seconds};
    return {
        {"skyline", any_policy(skylines{})},
        {"best-fit", any_policy(best_fit{})},
        {"first-fit", any_policy(first_fit{})},
        {"llfb", any_policy(llfb{})},
        {"llfb-fit", any_policy(llfb_fit{})},
        {"caching-allocator", any_policy(caching_allocator{})},
        {"exact", any_policy(exact{})},
        {"ilp",
         any_policy(integer_program<whole_program_solver>{.options = {.pairs = 100'000, .limits = limits}})},
        {"portfolio", any_policy(default_portfolio())}};
}

}  // namespace plan_program
