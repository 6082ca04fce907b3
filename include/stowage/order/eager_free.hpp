#pragma once
// Program order, but whatever frees at least what it makes runs as soon as it can: the rule of papers/roam.md
// that loses nothing under a bound, with the peak so far as the bound.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/order/detail/list_scheduler.hpp>
#include <stowage/order/detail/ready_tree.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

namespace detail {

/// Ready operators that do not raise the peak, those that lower the live bytes before those that keep them;
/// then all others. Each group in program order.
template <class Tag = void>
class basic_eager_free_choice {
public:
    explicit basic_eager_free_choice(std::size_t operators) : ready_(operators) {}
    void put(operator_index op, std::int64_t need, std::int64_t net) {
        if (!ready_.contains(op)) {
            program_order_.push_back(op);
            std::push_heap(program_order_.begin(), program_order_.end(), later);
        }
        ready_.put(op, need, rank(net));
    }
    [[nodiscard]] operator_index pick(std::int64_t live, std::int64_t peak) {
        operator_index op = ready_.best_within(peak - live);
        if (op == no_operator || ready_.score(op) == 2) {
            while (!ready_.contains(program_order_.front())) {
                std::pop_heap(program_order_.begin(), program_order_.end(), later);
                program_order_.pop_back();
            }
            op = program_order_.front();
        }
        ready_.take(op);
        return op;
    }

private:
    static bool later(operator_index a, operator_index b) noexcept { return a > b; }
    static std::int64_t rank(std::int64_t net) noexcept { return net < 0 ? 0 : net == 0 ? 1 : 2; }
    basic_ready_tree<Tag> ready_;
    std::vector<operator_index> program_order_;  // a heap, the first one on top; may hold some that have run
};
using eager_free_choice = basic_eager_free_choice<>;

}  // namespace detail

/// Runs the first ready operator, in program order, that lowers the live bytes without raising the peak so
/// far; else the first that keeps them; else the first. O((n + m) log n), m accesses.
struct eager_free {
    static constexpr std::string_view name = "eager-free";  ///< for reports
    /// The order of a program.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph) const {
        return arrange(detail::make_order_problem(graph));
    }
    /// The order of a problem; empty if `account` is exhausted first.
    template <class = void>
    [[nodiscard]] sequence arrange(const detail::order_problem& problem, budget* account = nullptr) const {
        return detail::list_order(problem, detail::eager_free_choice(problem.operator_count()), account);
    }
};
static_assert(simple_order_policy<eager_free> && detail::list_rule<eager_free>);

}  // namespace stowage::order
