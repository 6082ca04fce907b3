#pragma once
// The orders and layouts that the program `plan` knows by name.

#include <map>
#include <string>

#include <stowage/layout.hpp>
#include <stowage/order.hpp>

namespace plan_program {

/// The order policies by the names of docs/formats.md.
[[nodiscard]] inline std::map<std::string, stowage::order::any_policy> order_policies() {
    using namespace stowage::order;
    return {{"program", any_policy(in_program_order{})},
            {"dfs", any_policy(depth_first{})},
            {"lescea", any_policy(lescea{})},
            {"xla-list", any_policy(xla_list{})},
            {"eager-free", any_policy(eager_free{})},
            {"local-search", any_policy(local_search{})},
            {"exact", any_policy(exact{})},
            {"roam-best", any_policy(portfolio{})}};
}

/// The layout policies by the names of docs/formats.md.
[[nodiscard]] inline std::map<std::string, stowage::layout::any_policy> layout_policies() {
    using namespace stowage::layout;
    return {
        {"skyline", any_policy(skylines{})},           {"best-fit", any_policy(best_fit{})},
        {"first-fit", any_policy(first_fit{})},        {"llfb", any_policy(llfb{})},
        {"llfb-fit", any_policy(llfb_fit{})},          {"caching-allocator", any_policy(caching_allocator{})},
        {"portfolio", any_policy(default_portfolio())}};
}

}  // namespace plan_program
