#pragma once
// The greatest set of least f between two down-sets A and W (rule 2): a min cut on the operators of W - A.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/order/detail/frontier.hpp>
#include <stowage/order/detail/max_flow.hpp>

namespace stowage::order::detail {

/// Finds where a valley is lowest. Reuses its storage; serves frontiers of one problem.
template <class = void>
class basic_valley_floor {
public:
    explicit basic_valley_floor(const order_problem& problem)
        : node_(problem.operator_count(), none), seen_(problem.tensor_count(), 0) {}

    /// A is the first `start` operators of the trail, W all of it. Rewinds to A and runs the operators of
    /// the greatest Y of least f, A <= Y <= W, in the order of the trail, so that the trail ends at Y. By
    /// rule 2 no hill of the trail rises.
    void descend(frontier& state, std::size_t start) {
        path_.assign(state.trail().begin() + static_cast<std::ptrdiff_t>(start), state.trail().end());
        if (path_.size() == 1) {
            const operator_index op = path_[0];
            const std::int64_t after = state.live();
            state.undo();
            if (after <= state.live()) state.run(op);
            return;
        }
        state.rewind(start);
        build(state);
        flow_.augment(source, sink);
        flow_.mark_reaching(sink, reaches_sink_);
        for (const operator_index op : path_) {
            if (reaches_sink_[node_[op]] == 0) state.run(op);
        }
        for (const operator_index op : path_)
            node_[op] = none;
    }

private:
    static constexpr flow_network::node source = 0;  // in Y
    static constexpr flow_network::node sink = 1;    // not in Y
    static constexpr flow_network::node none = static_cast<flow_network::node>(-1);

    void build(const frontier& state) {
        const order_problem& problem = state.problem();
        flow_.reset(2);
        for (const operator_index op : path_)
            node_[op] = flow_.add_node();
        if (++stamp_ == 0) {
            seen_.assign(seen_.size(), 0);
            stamp_ = 1;
        }
        for (const operator_index op : path_) {
            for (const operator_index before : problem.predecessors[op]) {
                if (node_[before] != none) flow_.add_arc(node_[op], node_[before], flow_network::infinite);
            }
            for (const tensor_index t : problem.tensors[op]) {
                if (seen_[t] == stamp_) continue;
                seen_[t] = stamp_;
                add_tensor(state, t);
            }
        }
        flow_.finish();
    }
    /// A tensor costs its bytes if it is born and not dead: one arc from "born" to "all users in Y".
    void add_tensor(const frontier& state, tensor_index t) {
        const order_problem& problem = state.problem();
        inside_.clear();
        for (const operator_index user : problem.users[t]) {
            if (node_[user] != none) inside_.push_back(node_[user]);
        }
        const std::uint32_t run = state.users_run(t);
        const bool born = run > 0 || problem.starts_alive[t] != 0;
        const bool can_die = problem.stays_alive[t] == 0 && run + inside_.size() == problem.users[t].size();
        if (born && !can_die) return;
        flow_network::node from = source;
        if (!born) from = one_of(problem, t, false);
        flow_network::node to = sink;
        if (can_die) to = one_of(problem, t, true);
        flow_.add_arc(from, to, problem.bytes[t]);
    }
    /// The node that is in Y if one (`all`: if and only if all) of the users inside is.
    flow_network::node one_of(const order_problem& problem, tensor_index t, bool all) {
        if (inside_.size() == 1) return inside_[0];
        const operator_index producer = problem.producer[t];
        const bool producer_decides = producer != no_operator && problem.backwards == all;
        if (producer_decides && node_[producer] != none) return node_[producer];
        const flow_network::node node = flow_.add_node();
        for (const flow_network::node user : inside_) {
            if (all) {
                flow_.add_arc(node, user, flow_network::infinite);
            } else {
                flow_.add_arc(user, node, flow_network::infinite);
            }
        }
        return node;
    }

    std::vector<flow_network::node> node_;
    std::vector<std::uint32_t> seen_;
    std::uint32_t stamp_ = 0;
    std::vector<operator_index> path_;
    std::vector<flow_network::node> inside_;
    std::vector<std::uint8_t> reaches_sink_;
    flow_network flow_;
};
using valley_floor = basic_valley_floor<>;

}  // namespace stowage::order::detail
