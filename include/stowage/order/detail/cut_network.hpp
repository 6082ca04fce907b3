#pragma once
// The min cut at an operator v (papers/order.md, rules 9 and 11). I_v are the down-sets that hold all
// ancestors of v and neither v nor any of its descendants: the sets from which v can run. The least f over
// I_v, plus the bytes born at v and its workspace, bounds the peak of every order. f is submodular, so its
// minima over I_v have a least and a greatest one, Y; both are read off the flow.
//
// The network: producer -> tensor with the tensor's bytes, tensor -> each consumer infinite (the tensor is
// dead only if all of them ran), operator -> each predecessor infinite. Ancestors of v are the source, v and
// its descendants the sink; only the operators between are nodes, and tensors with two or more consumers
// among them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/order/detail/max_flow.hpp>
#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// Where an operator stands to v.
enum class side : std::uint8_t {
    before,  ///< an ancestor of v: in every set of I_v
    free,    ///< in some sets of I_v and not in others
    after,   ///< v or a descendant: in none
};

/// Cuts at one operator after the other of one problem, which must run forwards. Refers to the problem;
/// reuses its storage. A cut takes O(size) and its flow.
template <class = void>
class basic_cut_network {
public:
    /// The nodes that stand for all ancestors, and for v and all descendants.
    static constexpr flow_network::node source = 0;
    static constexpr flow_network::node sink = 1;

    explicit basic_cut_network(const order_problem& problem)
        : problem_(&problem), side_(problem.operator_count(), side::free),
          node_(problem.operator_count(), no_node) {}

    /// The network of I_v, without flow yet. Operators in `held_before` and their ancestors, and those in
    /// `held_after` and their descendants, are held on that side too, as long as they are free.
    void build(operator_index v, std::span<const operator_index> held_before = {},
               std::span<const operator_index> held_after = {}) {
        mark_sides(v);
        hold(held_before, problem_->predecessors, side::before);
        hold(held_after, problem_->successors, side::after);
        flow_.reset(2);
        free_.clear();
        for (operator_index op = 0; op < side_.size(); ++op) {
            if (side_[op] != side::free) continue;
            node_[op] = flow_.add_node();
            free_.push_back(op);
        }
        fixed_ = 0;
        pushed_ = 0;
        for (tensor_index t = 0; t < problem_->tensor_count(); ++t)
            add_tensor(t);
        for (const operator_index op : free_) {
            for (const operator_index before : problem_->predecessors[op]) {
                if (side_[before] == side::free) {
                    flow_.add_arc(node_[op], node_[before], flow_network::infinite);
                }
            }
        }
        flow_.finish();
    }
    /// The least f over I_v; where that is at least `limit`, some value from `limit` to it.
    std::int64_t solve(std::int64_t limit = flow_network::infinite) {
        const std::int64_t room = limit - fixed_ - pushed_;
        if (room > 0) pushed_ += flow_.augment(source, sink, room);
        return fixed_ + pushed_;
    }
    /// The same without a limit, as long as goes_on(), asked now and then, is true: else some value below.
    template <class GoesOn>
    std::int64_t solve_while(GoesOn goes_on) {
        constexpr std::size_t phases = 8;
        do {
            pushed_ += flow_.augment(source, sink, flow_network::infinite, phases);
        } while (!flow_.ended() && goes_on());
        return fixed_ + pushed_;
    }
    /// build(), solve().
    std::int64_t least_live(operator_index v, std::int64_t limit = flow_network::infinite) {
        build(v);
        return solve(limit);
    }

    /// Marks the operators of the least Y. After solve() without a limit; else of some set in I_v. O(size).
    void mark_least(std::vector<std::uint8_t>& in_set) {
        flow_.mark_reached_from(source, reached_);
        mark_set(in_set, 1);
    }
    /// Marks the operators of the greatest Y. After solve() without a limit; else of some set in I_v.
    /// O(size).
    void mark_greatest(std::vector<std::uint8_t>& in_set) {
        flow_.mark_reaching(sink, reached_);
        mark_set(in_set, 0);
    }

    /// Where `op` stands to the operator of the last build().
    [[nodiscard]] side side_of(operator_index op) const noexcept { return side_[op]; }
    /// The operators on side::free, ascending.
    [[nodiscard]] const std::vector<operator_index>& free_operators() const noexcept { return free_; }
    /// Node of an operator: its own where it is free, else source or sink.
    [[nodiscard]] flow_network::node node_of(operator_index op) const noexcept {
        return side_[op] == side::before ? source : side_[op] == side::after ? sink : node_[op];
    }
    /// The network, for further flow: from source to a free node to leave its operator out, from a free node
    /// to sink to put it in.
    [[nodiscard]] flow_network& flow() noexcept { return flow_; }
    /// Size of the last network, for a caller's account.
    [[nodiscard]] std::size_t work() const noexcept {
        return side_.size() + problem_->users.values.size() + flow_.arc_count();
    }

private:
    static constexpr flow_network::node no_node = static_cast<flow_network::node>(-1);

    void mark_sides(operator_index v) {
        std::fill(side_.begin(), side_.end(), side::free);
        spread(v, problem_->successors, side::after);
        spread(v, problem_->predecessors, side::before);
        side_[v] = side::after;
    }
    void hold(std::span<const operator_index> operators, const rows& next, side value) {
        for (const operator_index op : operators) {
            if (side_[op] != side::free) continue;
            side_[op] = value;
            spread(op, next, value);
        }
    }
    void spread(operator_index v, const rows& next, side value) {
        stack_.assign(1, v);
        while (!stack_.empty()) {
            const operator_index op = stack_.back();
            stack_.pop_back();
            for (const operator_index other : next[op]) {
                if (side_[other] != side::free) continue;
                side_[other] = value;
                stack_.push_back(other);
            }
        }
    }
    void add_tensor(tensor_index t) {
        const operator_index producer = problem_->producer[t];
        const side made = producer == no_operator ? side::before : side_[producer];
        if (made == side::after) return;
        bool survives = problem_->stays_alive[t] != 0;
        std::size_t free_consumers = 0;
        operator_index one = no_operator;
        for (const operator_index user : problem_->consumers(t)) {
            if (side_[user] == side::after) survives = true;
            if (side_[user] != side::free) continue;
            ++free_consumers;
            one = user;
        }
        const std::int64_t bytes = problem_->bytes[t];
        const flow_network::node from = made == side::before ? source : node_[producer];
        if (survives) {
            if (from == source) {
                fixed_ += bytes;
            } else {
                flow_.add_arc(from, sink, bytes);
            }
        } else if (free_consumers == 1) {
            flow_.add_arc(from, node_[one], bytes);
        } else if (free_consumers > 1) {
            const flow_network::node all = flow_.add_node();
            flow_.add_arc(from, all, bytes);
            for (const operator_index user : problem_->consumers(t)) {
                if (side_[user] == side::free) flow_.add_arc(all, node_[user], flow_network::infinite);
            }
        }
    }
    void mark_set(std::vector<std::uint8_t>& in_set, std::uint8_t inside) const {
        in_set.assign(side_.size(), 0);
        for (operator_index op = 0; op < side_.size(); ++op) {
            if (side_[op] == side::before || (side_[op] == side::free && reached_[node_[op]] == inside))
                in_set[op] = 1;
        }
    }

    const order_problem* problem_;
    std::vector<side> side_;
    std::vector<flow_network::node> node_;
    std::vector<operator_index> free_;
    std::vector<operator_index> stack_;
    std::vector<std::uint8_t> reached_;
    flow_network flow_;
    std::int64_t fixed_ = 0;
    std::int64_t pushed_ = 0;
};
using cut_network = basic_cut_network<>;

}  // namespace stowage::order::detail
