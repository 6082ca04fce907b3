#pragma once
// LESCEA (Han et al., "Buffer memory optimization for video codec application modeled in Simulink", DAC
// 2006), the list rule that ROAM is compared with: always the ready operator that raises the peak least, then
// the one that leaves least behind.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <stowage/budget.hpp>
#include <stowage/order/detail/list_scheduler.hpp>
#include <stowage/order/detail/ready_tree.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

namespace detail {

/// Ready operators by (growth of the peak so far, bytes born less bytes dead, index).
template <class Tag = void>
class basic_lescea_choice {
public:
    explicit basic_lescea_choice(std::size_t operators) : ready_(operators) {}
    void put(operator_index op, std::int64_t need, std::int64_t net) { ready_.put(op, need, net); }
    [[nodiscard]] operator_index pick(std::int64_t live, std::int64_t peak) {
        operator_index op = ready_.best_within(peak - live);
        if (op == no_operator) op = ready_.least_need();
        ready_.take(op);
        return op;
    }

private:
    basic_ready_tree<Tag> ready_;
};
using lescea_choice = basic_lescea_choice<>;

}  // namespace detail

/// Runs the ready operator with the least (growth of the peak so far, bytes allocated - bytes freed, index);
/// workspace counts towards the growth. O((n + m) log n), m accesses.
struct lescea {
    static constexpr std::string_view name = "lescea";  ///< for reports
    /// The order of a program.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph) const {
        return arrange(detail::make_order_problem(graph));
    }
    /// The order of a problem; empty if `account` is exhausted first.
    template <class = void>
    [[nodiscard]] sequence arrange(const detail::order_problem& problem, budget* account = nullptr) const {
        return detail::list_order(problem, detail::lescea_choice(problem.operator_count()), account);
    }
};
static_assert(simple_order_policy<lescea> && detail::list_rule<lescea>);

}  // namespace stowage::order
