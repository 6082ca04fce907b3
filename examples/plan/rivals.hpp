#pragma once
// What others would need for the same program: PyTorch's order and caching allocator, LESCEA with LLFB, XLA's
// list rule.

#include <cstdint>
#include <string>
#include <vector>

#include <stowage/graph.hpp>
#include <stowage/layout.hpp>
#include <stowage/order.hpp>
#include <stowage/roam.hpp>

namespace plan_program {

/// PyTorch rounds every block up to this, so comparisons are made at this alignment.
inline constexpr std::int64_t pytorch_alignment = 512;

/// One planner's answer in a comparison.
struct rival {
    std::string planner;
    std::int64_t arena = 0;
    std::int64_t peak = 0;
    double seconds = 0;
    stowage::status status = stowage::status::feasible;
    std::vector<stowage::operator_index> order;
};

/// Plans with a rival's order and layout; "optimal" where its arena meets what is proven of all plans.
template <class Order, class Layout>
[[nodiscard]] rival run_rival(const std::string& name, const Order& order, const Layout& layout,
                              const stowage::tensor_graph& graph, std::int64_t alignment,
                              std::int64_t proven) {
    stowage::plan made =
        stowage::roam::planner(order, layout)(graph, stowage::roam::options{.alignment = alignment});
    return {.planner = name,
            .arena = made.arena.bytes,
            .peak = made.peak.bytes,
            .seconds = made.seconds.total,
            .status = made.arena.bytes <= proven ? stowage::status::optimal : stowage::status::feasible,
            .order = std::move(made.order)};
}

/// What PyTorch's allocator reserves for program order: whole segments, the last one's free end included.
[[nodiscard]] inline rival pytorch(const stowage::tensor_graph& graph, std::int64_t proven) {
    rival result = run_rival("pytorch", stowage::order::in_program_order{},
                             stowage::layout::caching_allocator{}, graph, 1, proven);
    result.arena = stowage::layout::simulate_caching(graph, result.order).reserved;
    if (result.arena > proven) result.status = stowage::status::feasible;
    return result;
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

}  // namespace plan_program
