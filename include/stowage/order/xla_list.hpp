#pragma once
// The list rule of XLA's memory scheduler (xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc, class
// ListScheduler): always the ready operator that frees most, less what it defines.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/order/detail/list_scheduler.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order {

namespace detail {

/// Ready operators by (bytes born less bytes dead, most successors, index): a heap that may hold entries of
/// the past, which are dropped when they come up.
template <class Tag = void>
class basic_xla_list_choice {
public:
    explicit basic_xla_list_choice(const order_problem& problem)
        : problem_(&problem), net_(problem.operator_count(), 0), ready_(problem.operator_count(), 0) {}
    void put(operator_index op, std::int64_t, std::int64_t net) {
        if (ready_[op] != 0 && net_[op] == net) return;
        ready_[op] = 1;
        net_[op] = net;
        heap_.push_back({net, problem_->successors[op].size(), op});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    [[nodiscard]] operator_index pick(std::int64_t, std::int64_t) {
        while (ready_[heap_.front().op] == 0 || net_[heap_.front().op] != heap_.front().net)
            drop();
        const operator_index op = heap_.front().op;
        drop();
        ready_[op] = 0;
        return op;
    }

private:
    struct entry {
        std::int64_t net;
        std::size_t successors;
        operator_index op;
    };
    static bool later(const entry& a, const entry& b) noexcept {
        return std::tie(a.net, b.successors, a.op) > std::tie(b.net, a.successors, b.op);
    }
    void drop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
    }

    const order_problem* problem_;
    std::vector<std::int64_t> net_;
    std::vector<std::uint8_t> ready_;
    std::vector<entry> heap_;
};
using xla_list_choice = basic_xla_list_choice<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_xla_list_choice<>;
#endif

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
