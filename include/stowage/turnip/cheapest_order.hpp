#pragma once
// The order too: of several legal orders the one whose residency moves the fewest bytes under the capacities,
// and operators moved to where fewer bytes move still. The order of the lowest peak is often not the cheapest
// one: on VGG it moves a third more than program order does, and depth-first order a tenth less. Source:
// docs/design.md, "How a memgraph is compiled"; papers/offload.md, "The order matters here too".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/depth_first.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/detail/price_bound.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/residency.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

/// An order and what it was chosen for.
struct chosen_order {
    std::vector<operator_index> order = {};  ///< a legal order
    /// Bytes that a quick residency of it moves; the largest number if nobody fits.
    std::int64_t bytes_moved = std::numeric_limits<std::int64_t>::max();
    std::size_t candidate = 0;  ///< the candidate that it began as
    std::size_t moves = 0;      ///< operators that were moved since, to the better
};

namespace detail {

/// How many bytes a quick residency of an order moves: a few prices and greedy insertions, no addresses.
template <class = void>
class basic_order_price {
public:
    basic_order_price(const taskgraph& task, const compile_options& asked)
        : task_(task), alignment_(asked.alignment) {
        for (const memory_limit& limit : asked.devices)
            capacities_.push_back(limit.capacity);
    }
    /// Bytes; the largest number if an operator does not fit. O((accesses + gaps) log operators).
    [[nodiscard]] std::int64_t operator()(std::span<const operator_index> order) {
        constexpr std::size_t evaluations = 24;
        const residency_model model = make_residency_model(task_, order, alignment_);
        work_ = 1 + (model.gaps.size() + model.steps.size()) / 2;
        for (memory_index d = 0; d < model.devices; ++d) {
            if (most_forced(model, d).bytes > capacities_[d]) return std::numeric_limits<std::int64_t>::max();
        }
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        const auto insert = [&](std::span<const double> values, bool larger_first) {
            residency_state made(model, capacities_);
            insert_by_value(made, values, larger_first);
            least = std::min(least, made.cost());
        };
        insert(gap_values(model, {}), false);
        if (model.devices > 1) return least;
        price_bound bound(model, capacities_[0]);
        bound.improve(least, evaluations);
        const std::vector<double> values = gap_values(model, bound.prices());
        insert(values, false);
        insert(values, true);
        return least;
    }
    /// What the last call cost, in units of about a microsecond.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }

private:
    const taskgraph& task_;
    std::int64_t alignment_;
    std::vector<std::int64_t> capacities_;
    std::uint64_t work_ = 0;
};
using order_price = basic_order_price<>;

/// Moves single operators of one order to other legal places. The program must outlive it.
template <class = void>
class basic_operator_mover {
public:
    basic_operator_mover(const tensor_graph& program, std::vector<operator_index> order)
        : program_(program), order_(std::move(order)), position_(order_.size()) {
        renumber(0, order_.size());
    }
    /// The first and the last place to which `op` may go alone. O(its dependencies).
    [[nodiscard]] std::pair<std::size_t, std::size_t> range_of(operator_index op) const {
        std::size_t first = 0;
        std::size_t last = order_.size() - 1;
        for (const operator_index before : program_.predecessors(op))
            first = std::max<std::size_t>(first, position_[before] + std::size_t{1});
        for (const operator_index after : program_.successors(op))
            last = std::min<std::size_t>(last, position_[after] - std::size_t{1});
        return {first, last};
    }
    /// Puts `op` at place `to` of its range; those in between close up. O(places passed).
    void move(operator_index op, std::size_t to) {
        const std::size_t from = position_[op];
        const auto at = [&](std::size_t place) {
            return order_.begin() + static_cast<std::ptrdiff_t>(place);
        };
        if (from < to) {
            std::rotate(at(from), at(from + 1), at(to + 1));
            renumber(from, to + 1);
        } else {
            std::rotate(at(to), at(from), at(from + 1));
            renumber(to, from + 1);
        }
    }
    [[nodiscard]] std::size_t place_of(operator_index op) const { return position_[op]; }
    [[nodiscard]] const std::vector<operator_index>& order() const noexcept { return order_; }

private:
    void renumber(std::size_t from, std::size_t to) {
        for (std::size_t place = from; place < to; ++place)
            position_[order_[place]] = static_cast<std::uint32_t>(place);
    }
    const tensor_graph& program_;
    std::vector<operator_index> order_;
    std::vector<std::uint32_t> position_;  // by operator
};
using operator_mover = basic_operator_mover<>;

}  // namespace detail

/// The cheapest of some legal orders (at least one), improved by moves of single operators as long as
/// `asked.limits` allows: each move that raises no cost is kept. A trial costs O((accesses + gaps) log
/// operators). The answer depends on nothing but the arguments, unless a wall-clock limit is set. Reentrant.
template <class = void>
[[nodiscard]] chosen_order choose_order(const taskgraph& task,
                                        std::span<const std::vector<operator_index>> candidates,
                                        const compile_options& asked) {
    detail::order_price price(task, asked);
    budget account(asked.limits);
    chosen_order best;
    best.order = candidates[0];
    for (std::size_t k = 0; k < candidates.size() && (k == 0 || !account.exhausted()); ++k) {
        const std::int64_t bytes = price(candidates[k]);
        static_cast<void>(account.spend(price.work()));
        if (bytes >= best.bytes_moved) continue;
        best.order = candidates[k];
        best.bytes_moved = bytes;
        best.candidate = k;
    }
    if (best.order.size() < 2 || best.bytes_moved == std::numeric_limits<std::int64_t>::max()) return best;
    detail::operator_mover mover(task.program, best.order);
    stowage::detail::splitmix64 random(asked.limits.seed);
    std::size_t stuck = 0;
    while (stuck < 20 * best.order.size() && !account.exhausted()) {
        ++stuck;
        const auto op = static_cast<operator_index>(random.below(best.order.size()));
        const auto [first, last] = mover.range_of(op);
        const std::size_t from = mover.place_of(op);
        const std::uint64_t choice = random.below(4);
        const std::size_t to = choice == 0   ? last
                               : choice == 1 ? first + random.below(last - first + 1)
                                             : first;
        if (to == from) continue;
        mover.move(op, to);
        const std::int64_t bytes = price(mover.order());
        static_cast<void>(account.spend(price.work()));
        if (bytes > best.bytes_moved) {
            mover.move(op, from);
            continue;
        }
        if (bytes < best.bytes_moved) {
            stuck = 0;
            ++best.moves;
        }
        best.bytes_moved = bytes;
        best.order = mover.order();
    }
    return best;
}

/// A way to compile that takes the order as one candidate beside depth-first order, chooses the cheapest,
/// improves it, and lets `Policy` compile in it. Bounds are those of the order that was chosen:
/// compiled::order. With `fixed_order` asked for, the order is chosen all the same.
template <compile_policy Policy = residency>
struct cheapest_order {
    Policy policy{};  ///< what compiles in the order that was chosen

    [[nodiscard]] compiled operator()(const taskgraph& task, std::span<const operator_index> order,
                                      const compile_options& asked) const {
        const std::vector<std::vector<operator_index>> candidates{{order.begin(), order.end()},
                                                                  order::depth_first{}(task.program)};
        const budget clock(asked.limits);
        compile_options part = asked;
        part.limits = clock.share_of_time(3).rest_of(asked.limits);
        const chosen_order chosen = choose_order(task, candidates, part);
        part.limits = clock.rest_of(asked.limits);
        return policy(task, chosen.order, part);
    }
    [[nodiscard]] std::string name() const { return "cheapest order, " + policy.name(); }
};

static_assert(compile_policy<cheapest_order<>>);
static_assert(!compile_policy<chosen_order>);

}  // namespace stowage::turnip
