#pragma once
// The list rule of XLA's memory scheduler (xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc, class
// ListScheduler): always the ready operator that frees most, less what it defines.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <stowage/budget.hpp>
#include <stowage/order/detail/list_scheduler.hpp>
#include <stowage/order/detail/ready_tree.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

namespace detail {

/// Ready operators by (bytes born less bytes dead, most successors, index).
template <class Tag = void>
class basic_xla_list_choice {
public:
    explicit basic_xla_list_choice(const order_problem& problem)
        : problem_(&problem), ready_(problem.operator_count()) {}
    void put(operator_index op, std::int64_t, std::int64_t net) {
        ready_.put(op, net, -static_cast<std::int64_t>(problem_->successors[op].size()));
    }
    [[nodiscard]] operator_index pick(std::int64_t, std::int64_t) {
        const operator_index op = ready_.least_need();
        ready_.take(op);
        return op;
    }

private:
    const order_problem* problem_;
    basic_ready_tree<Tag> ready_;
};
using xla_list_choice = basic_xla_list_choice<>;

}  // namespace detail

/// Runs the ready operator with the most bytes freed - bytes defined, ties by most operators that wait for
/// it, then by index. O((n + m) log n), m accesses.
struct xla_list {
    static constexpr std::string_view name = "xla-list";  ///< for reports
    /// The order of a program.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph) const {
        return arrange(detail::make_order_problem(graph));
    }
    /// The order of a problem; empty if `account` is exhausted first.
    template <class = void>
    [[nodiscard]] sequence arrange(const detail::order_problem& problem, budget* account = nullptr) const {
        return detail::list_order(problem, detail::xla_list_choice(problem), account);
    }
};
static_assert(simple_order_policy<xla_list> && detail::list_rule<xla_list>);

}  // namespace stowage::order
