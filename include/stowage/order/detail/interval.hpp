#pragma once
// Parts of an order problem that stand alone: the operators between two places of an order, with everything
// before them run and everything after them still to run. What lies before is seen only by the tensors that
// it leaves alive, what lies after only by the tensors that it keeps alive, so the part is an order problem
// again, plus bytes that are alive all through it. It serves segments (rule 7) and what is left between
// commits from both ends (rule 17): any order of the part that keeps within B - base bytes can be put into
// the whole in its place, and no order of the whole that starts and ends alike is missed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// A part of a problem.
struct interval {
    order_problem problem;               ///< operator k is origin[k] of the whole; its hills lack `base`
    std::vector<operator_index> origin;  ///< operators of the whole, as the order had them
    std::int64_t base = 0;               ///< bytes alive all through the part that it does not touch
};

/// Cuts parts out of one problem along one legal order. Refers to the problem. Making it is O(size); a part
/// takes O(size of the part), so that cutting all segments is linear.
template <class = void>
class basic_interval_cutter {
public:
    basic_interval_cutter(const order_problem& problem, std::span<const operator_index> order)
        : problem_(&problem), order_(order.begin(), order.end()), position_(order.size()),
          last_user_(problem.tensor_count(), 0), local_(problem.tensor_count(), unseen),
          live_before_(order.size() + 1) {
        for (std::uint32_t k = 0; k < order_.size(); ++k)
            position_[order_[k]] = k;
        for (tensor_index t = 0; t < problem.tensor_count(); ++t) {
            for (const operator_index user : problem.users[t])
                last_user_[t] = std::max(last_user_[t], position_[user]);
        }
        live_state state(problem);
        for (std::size_t k = 0; k < order_.size(); ++k) {
            live_before_[k] = state.live();
            state.run(order_[k]);
        }
        live_before_.back() = state.live();
    }

    /// The order along which it cuts.
    [[nodiscard]] std::span<const operator_index> order() const noexcept { return order_; }
    /// f after the first `count` operators of the order.
    [[nodiscard]] std::int64_t live_before(std::size_t count) const noexcept { return live_before_[count]; }

    /// The operators at [first, last) of the order. O(their dependencies and accesses).
    [[nodiscard]] interval cut(std::size_t first, std::size_t last) {
        interval part;
        part.origin.assign(order_.begin() + static_cast<std::ptrdiff_t>(first),
                           order_.begin() + static_cast<std::ptrdiff_t>(last));
        part.base = live_before_[first];
        order_problem_builder builder;
        std::vector<operator_index> row;
        touched_.clear();
        for (const operator_index op : part.origin) {
            row.clear();
            for (const operator_index before : problem_->predecessors[op]) {
                if (position_[before] >= first)
                    row.push_back(static_cast<operator_index>(position_[before] - first));
            }
            builder.add_operator(problem_->workspace[op], row);
            for (const tensor_index t : problem_->tensors[op])
                note_user(t, static_cast<operator_index>(position_[op] - first));
        }
        add_tensors(part, builder, first, last);
        part.problem = builder.finish();
        return part;
    }

private:
    static constexpr std::uint32_t unseen = static_cast<std::uint32_t>(-1);

    void note_user(tensor_index t, operator_index user) {
        if (local_[t] == unseen) {
            local_[t] = static_cast<std::uint32_t>(touched_.size());
            if (users_.size() <= touched_.size()) users_.emplace_back();
            users_[touched_.size()].clear();
            touched_.push_back(t);
        }
        users_[local_[t]].push_back(user);
    }
    void add_tensors(interval& part, order_problem_builder& builder, std::size_t first, std::size_t last) {
        for (const tensor_index t : touched_) {
            const std::vector<operator_index>& users = users_[local_[t]];
            local_[t] = unseen;
            const operator_index producer = problem_->producer[t];
            const bool inside = producer != no_operator && position_[producer] >= first;
            const bool stays = problem_->stays_alive[t] != 0 || last_user_[t] >= last;
            if (!inside) {
                if (stays) continue;  // alive all through: part of the base
                part.base -= problem_->bytes[t];
            }
            builder.add_tensor(
                {problem_->bytes[t],
                 inside ? static_cast<operator_index>(position_[producer] - first) : no_operator, stays,
                 users});
        }
    }

    const order_problem* problem_;
    std::vector<operator_index> order_;
    std::vector<std::uint32_t> position_;
    std::vector<std::uint32_t> last_user_;  // position
    std::vector<std::uint32_t> local_;      // place in touched_
    std::vector<tensor_index> touched_;
    std::vector<std::vector<operator_index>> users_;  // of touched_
    std::vector<std::int64_t> live_before_;
};
using interval_cutter = basic_interval_cutter<>;

}  // namespace stowage::order::detail
