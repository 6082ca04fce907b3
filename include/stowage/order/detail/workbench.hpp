#pragma once
// What the policies of a portfolio share while they work on one program: the problem, the orders found so
// far, the least hill of each operator in them, its min cuts, and the context that is given to users'
// policies. Everything here is what each of them would otherwise compute again.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/order/detail/cut_library.hpp>
#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/policy.hpp>

namespace stowage::order::detail {

/// An order and its peak.
struct candidate {
    sequence order;
    std::int64_t peak = 0;
};

/// See above. Refers to the graph and the context, whose incumbent it keeps up to date.
template <class Tag = void>
class basic_workbench {
public:
    /// O(size) beside the problem.
    basic_workbench(const tensor_graph& graph, context& shared)
        : graph_(&graph), context_(&shared), problem_(make_order_problem(graph)),
          least_hill_(graph.operator_count(), std::numeric_limits<std::int64_t>::max()) {
        if (!shared.incumbent.empty()) offer({shared.incumbent.begin(), shared.incumbent.end()}, "incumbent");
    }
    /// For a part of a program: there is no graph to give to users' policies.
    basic_workbench(order_problem problem, context& shared)
        : graph_(nullptr), context_(&shared), problem_(std::move(problem)),
          least_hill_(problem_.operator_count(), std::numeric_limits<std::int64_t>::max()) {}
    basic_workbench(const basic_workbench&) = delete;
    basic_workbench& operator=(const basic_workbench&) = delete;
    ~basic_workbench() = default;

    /// The program; not for a bench that was made from a problem.
    [[nodiscard]] const tensor_graph& graph() const noexcept { return *graph_; }
    [[nodiscard]] const order_problem& problem() const noexcept { return problem_; }
    [[nodiscard]] context& shared() noexcept { return *context_; }
    [[nodiscard]] budget& account() noexcept { return context_->account; }
    /// Min cuts, made when first asked for.
    [[nodiscard]] cut_library& cuts() {
        if (!cuts_) cuts_.emplace(problem_, &context_->account);
        return *cuts_;
    }

    /// Distinct orders found so far, in the order of their finding; the worst fall out once there are many.
    [[nodiscard]] const std::vector<candidate>& pool() const noexcept { return pool_; }
    /// The best order so far; empty if there is none.
    [[nodiscard]] const sequence& best() const noexcept { return best_.order; }
    /// Its peak; the largest integer if there is none.
    [[nodiscard]] std::int64_t best_peak() const noexcept { return best_.peak; }
    /// The least hill of an operator in any order offered.
    [[nodiscard]] std::int64_t least_hill(operator_index op) const noexcept { return least_hill_[op]; }
    /// Proven: no legal order has a smaller peak.
    [[nodiscard]] std::int64_t lower_bound() const noexcept { return context_->lower_bound; }
    /// True if the best order is proven to be one.
    [[nodiscard]] bool proven() const noexcept { return best_.peak <= context_->lower_bound; }
    /// True if a wall-clock limit leaves time for one more min cut, which cannot be broken off.
    [[nodiscard]] bool affords_cut() const {
        constexpr std::size_t nanoseconds_an_entry = 20;
        const std::size_t size =
            problem_.operator_count() + problem_.users.values.size() + problem_.predecessors.values.size();
        return context_->account.affords(std::chrono::nanoseconds(nanoseconds_an_entry * size));
    }
    /// True if there is no reason, or no means, to go on.
    [[nodiscard]] bool finished() { return proven() || account().exhausted(); }

    /// Name of the policy that found the best order.
    [[nodiscard]] std::string_view found_by() const noexcept { return found_by_; }

    /// Takes in a legal order; true if it is the best so far, an earlier one of the same peak being better.
    /// O(size). An empty one is nothing, unless the program is.
    bool offer(sequence order, std::string_view finder) {
        if (order.size() != problem_.operator_count()) return false;
        live_state state(problem_);
        std::int64_t peak = 0;
        for (const operator_index op : order) {
            const std::int64_t hill = state.run(op);
            peak = std::max(peak, hill);
            least_hill_[op] = std::min(least_hill_[op], hill);
        }
        const bool better = best_.order.empty() || peak < best_.peak;
        if (better) {
            best_ = {order, peak};
            found_by_ = finder;
            context_->incumbent = best_.order;
            context_->incumbent_peak = peak;
        }
        keep({std::move(order), peak});
        return better;
    }
    /// Raises the lower bound if `bytes` is higher.
    void raise(std::int64_t bytes, const char* rule, operator_index at) {
        if (bytes <= context_->lower_bound) return;
        context_->lower_bound = bytes;
        context_->witness = {rule, at};
    }

private:
    static constexpr std::size_t most_kept = 16;

    void keep(candidate found) {
        for (const candidate& other : pool_) {
            if (other.peak == found.peak && other.order == found.order) return;
        }
        if (pool_.size() < most_kept) {
            pool_.push_back(std::move(found));
            return;
        }
        const auto worst = std::max_element(pool_.begin(), pool_.end(),
                                            [](const auto& a, const auto& b) { return a.peak < b.peak; });
        if (found.peak < worst->peak) *worst = std::move(found);
    }

    const tensor_graph* graph_;
    context* context_;
    order_problem problem_;
    std::optional<basic_cut_library<Tag>> cuts_;
    std::vector<candidate> pool_;
    candidate best_{{}, std::numeric_limits<std::int64_t>::max()};
    std::vector<std::int64_t> least_hill_;
    std::string found_by_;
};
using workbench = basic_workbench<>;

/// A policy that works on a workbench: it offers orders and raises the bound there.
template <class P>
concept bench_policy = std::copy_constructible<P> && requires(const P& policy, workbench& bench) {
    policy.search(bench);
};

/// Runs a bench policy by itself; an empty sequence if it found nothing better than the incumbent. The
/// context's incumbent is as before.
template <class Policy>
[[nodiscard]] sequence search_alone(const Policy& policy, const tensor_graph& graph, context& shared) {
    const auto incumbent = shared.incumbent;
    const std::int64_t peak = shared.incumbent_peak;
    sequence found;
    {
        workbench bench(graph, shared);
        policy.search(bench);
        if (incumbent.empty() || bench.best_peak() < peak) found = bench.best();
    }
    shared.incumbent = incumbent;
    shared.incumbent_peak = peak;
    return found;
}

}  // namespace stowage::order::detail
