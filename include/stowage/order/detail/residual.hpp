#pragma once
// What is left of a decision once valleys are committed at both ends (papers/order.md, rule 17): the
// operators between are a problem of their own, and an order of the whole within the bound exists if and only
// if one of the rest does. May be repeated, also after dependencies were added to the rest.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/order/detail/cut_network.hpp>
#include <stowage/order/detail/interval.hpp>
#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/valley_engine.hpp>
#include <stowage/order/detail/valley_solver.hpp>

namespace stowage::order::detail {

/// A decision "is there an order within the bound?" under work. A value; copies are independent.
template <class = void>
class basic_residual {
public:
    /// On `problem`, with one of its legal orders.
    basic_residual(const order_problem& problem, std::span<const operator_index> known, std::int64_t bound)
        : problem_(problem), bound_(bound), origin_(problem.operator_count()) {
        for (operator_index op = 0; op < origin_.size(); ++op)
            origin_[op] = op;
        orders_.emplace_back(known.begin(), known.end());
    }

    /// The operators at [first, last) of `part`'s problem along `order`, one of its legal orders, between the
    /// others.
    basic_residual(const basic_residual& part, std::span<const operator_index> order, std::size_t first,
                   std::size_t last)
        : bound_(part.bound_) {
        interval_cutter cutter(part.problem_, order);
        interval middle = cutter.cut(first, last);
        problem_ = std::move(middle.problem);
        origin_ = std::move(middle.origin);
        bound_ -= middle.base;
        std::vector<operator_index> number(part.origin_.size(), no_operator);
        for (operator_index k = 0; k < origin_.size(); ++k)
            number[origin_[k]] = k;
        for (const std::vector<operator_index>& known : part.orders_) {
            orders_.emplace_back();
            for (const operator_index op : known) {
                if (number[op] != no_operator) orders_.back().push_back(number[op]);
            }
        }
    }

    /// What is left; its operators are the whole's in the order of some legal order.
    [[nodiscard]] const order_problem& problem() const noexcept { return problem_; }
    /// The bound for it.
    [[nodiscard]] std::int64_t bound() const noexcept { return bound_; }
    /// Legal orders of it.
    [[nodiscard]] const std::vector<std::vector<operator_index>>& orders() const noexcept { return orders_; }
    /// Operator `op` of it, as the whole numbers it.
    [[nodiscard]] operator_index origin(operator_index op) const noexcept { return origin_[op]; }

    /// Commits valleys at both ends, `states` a valley, and keeps what is between. found: finish() was
    /// called.
    verdict commit(std::uint64_t states, const valley_settings& settings, search_effort& effort) {
        valley_solver solver(problem_, settings);
        const verdict result = solver.decide(bound_, states, effort);
        if (result == verdict::found) finish(solver.order());
        if (result == verdict::open) keep_between(solver.front(), solver.back());
        return result;
    }
    /// Keeps what is between the commits of `solver`, which has worked on this problem and bound.
    void keep(const valley_solver& solver) { keep_between(solver.front(), solver.back()); }
    /// Takes in another legal order of the rest; a few are kept.
    void offer(std::vector<operator_index> order) {
        if (orders_.size() < most_orders) orders_.push_back(std::move(order));
    }
    /// Adds dependencies (before, after) and renumbers operators; false if there is a cycle. O(n log n) for
    /// each known order, which is made to respect them.
    [[nodiscard]] bool add_dependencies(
        const std::vector<std::pair<operator_index, operator_index>>& dependencies) {
        const std::size_t count = problem_.operator_count();
        std::vector<std::vector<operator_index>> more(count);
        for (const auto& [before, after] : dependencies)
            more[after].push_back(before);
        rows predecessors;
        std::vector<operator_index> row;
        for (operator_index op = 0; op < count; ++op) {
            const auto old = problem_.predecessors[op];
            row.assign(old.begin(), old.end());
            row.insert(row.end(), more[op].begin(), more[op].end());
            std::sort(row.begin(), row.end());
            row.erase(std::unique(row.begin(), row.end()), row.end());
            predecessors.values.insert(predecessors.values.end(), row.begin(), row.end());
            predecessors.begin.push_back(static_cast<std::uint32_t>(predecessors.values.size()));
        }
        problem_.predecessors = std::move(predecessors);
        problem_.successors = transpose(problem_.predecessors, count);
        for (std::vector<operator_index>& order : orders_) {
            order = repaired(order);
            if (order.size() != count) return false;
        }
        renumber();
        return true;
    }
    /// The rest is solved: `order` is an order of it within its bound.
    void finish(std::span<const operator_index> order) {
        for (const operator_index op : order)
            front_.push_back(origin_[op]);
        front_.insert(front_.end(), back_.rbegin(), back_.rend());
        back_.clear();
    }
    /// After finish(): the order of the whole.
    [[nodiscard]] const std::vector<operator_index>& order() const noexcept { return front_; }

    /// The operators v whose cuts leave least room below the bound, with that room, least first; at most
    /// `count`, and just one where its cut is above the bound. The hill of v in a known order is at least its
    /// cut, so operators are tried by falling hill.
    [[nodiscard]] std::vector<std::pair<std::int64_t, operator_index>> least_slack(
        std::size_t count, search_effort& effort) const {
        std::vector<std::pair<std::int64_t, operator_index>> by_hill = least_room();
        std::vector<std::pair<std::int64_t, operator_index>> result;
        cut_network network(problem_);
        for (const auto& [room, op] : by_hill) {
            if (result.size() == count && room >= result.back().first) break;
            const std::int64_t least =
                network.least_live(op) + problem_.born_bytes[op] + problem_.workspace[op];
            if (effort.account != nullptr) effort.account->spend(1 + network.work() / 256);
            const std::int64_t slack = bound_ - least;
            if (slack < 0) return {{slack, op}};
            if (network.free_operators().empty()) continue;
            result.insert(std::upper_bound(result.begin(), result.end(), std::pair(slack, op)), {slack, op});
            if (result.size() > count) result.pop_back();
            if (effort.exhausted()) break;
        }
        return result;
    }

private:
    static constexpr std::size_t most_orders = 24;

    /// A legal order that is as `order` where it can be; shorter if there is a cycle.
    [[nodiscard]] std::vector<operator_index> repaired(std::span<const operator_index> order) const {
        std::vector<std::uint32_t> place(order.size());
        for (std::uint32_t k = 0; k < order.size(); ++k)
            place[order[k]] = k;
        std::vector<std::uint32_t> waiting(order.size());
        std::vector<std::uint32_t> ready;  // places, a heap
        for (operator_index op = 0; op < order.size(); ++op) {
            waiting[op] = static_cast<std::uint32_t>(problem_.predecessors[op].size());
            if (waiting[op] == 0) ready.push_back(place[op]);
        }
        std::make_heap(ready.begin(), ready.end(), std::greater<>());
        std::vector<operator_index> result;
        while (!ready.empty()) {
            std::pop_heap(ready.begin(), ready.end(), std::greater<>());
            const operator_index op = order[ready.back()];
            ready.pop_back();
            result.push_back(op);
            for (const operator_index next : problem_.successors[op]) {
                if (--waiting[next] != 0) continue;
                ready.push_back(place[next]);
                std::push_heap(ready.begin(), ready.end(), std::greater<>());
            }
        }
        return result;
    }
    /// Operators get the numbers of their places in the first known order.
    void renumber() {
        interval_cutter cutter(problem_, orders_.front());
        interval all = cutter.cut(0, orders_.front().size());
        std::vector<operator_index> number(all.origin.size());
        for (operator_index k = 0; k < all.origin.size(); ++k)
            number[all.origin[k]] = k;
        for (std::vector<operator_index>& order : orders_) {
            for (operator_index& op : order)
                op = number[op];
        }
        for (operator_index& op : all.origin)
            op = origin_[op];
        origin_ = std::move(all.origin);
        problem_ = std::move(all.problem);
        bound_ -= all.base;
    }
    /// Of each operator, the bound less its least hill in a known order; ascending.
    [[nodiscard]] std::vector<std::pair<std::int64_t, operator_index>> least_room() const {
        std::vector<std::int64_t> least(problem_.operator_count(), std::numeric_limits<std::int64_t>::max());
        for (const std::vector<operator_index>& order : orders_) {
            const std::vector<std::int64_t> hills = hills_of(problem_, order);
            for (std::size_t k = 0; k < order.size(); ++k)
                least[order[k]] = std::min(least[order[k]], hills[k]);
        }
        std::vector<std::pair<std::int64_t, operator_index>> result;
        for (operator_index op = 0; op < least.size(); ++op)
            result.emplace_back(bound_ - least[op], op);
        std::sort(result.begin(), result.end());
        return result;
    }
    void keep_between(std::span<const operator_index> front, const std::vector<operator_index>& back) {
        if (front.empty() && back.empty()) return;
        std::vector<std::uint8_t> placed(problem_.operator_count(), 0);
        std::vector<operator_index> sequence(front.begin(), front.end());
        for (const operator_index op : front)
            placed[op] = 1;
        for (const operator_index op : back)
            placed[op] = 1;
        for (const operator_index op : orders_.front()) {
            if (placed[op] == 0) sequence.push_back(op);
        }
        const std::size_t last = sequence.size();
        sequence.insert(sequence.end(), back.begin(), back.end());
        interval_cutter cutter(problem_, sequence);
        interval part = cutter.cut(front.size(), last);
        std::vector<operator_index> number(problem_.operator_count(), no_operator);
        for (operator_index k = 0; k < part.origin.size(); ++k)
            number[part.origin[k]] = k;
        for (std::vector<operator_index>& order : orders_) {
            std::erase_if(order, [&](operator_index op) { return placed[op] != 0; });
            for (operator_index& op : order)
                op = number[op];
        }
        for (const operator_index op : front)
            front_.push_back(origin_[op]);
        for (auto op = back.rbegin(); op != back.rend(); ++op)
            back_.push_back(origin_[*op]);
        for (operator_index& op : part.origin)
            op = origin_[op];
        origin_ = std::move(part.origin);
        problem_ = std::move(part.problem);
        bound_ -= part.base;
    }

    order_problem problem_;
    std::int64_t bound_;
    std::vector<operator_index> origin_;
    std::vector<operator_index> front_;  // committed, in order
    std::vector<operator_index> back_;   // committed from the end: the last operator first
    std::vector<std::vector<operator_index>> orders_;
};
using residual = basic_residual<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_residual<>;
#endif

}  // namespace stowage::order::detail
