#pragma once
// The ready operators of a list rule, in the order of the bytes that each needs to run, with the best score
// of those that fit a given room: a treap whose nodes know the best of their subtree.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/order/detail/order_problem.hpp>

namespace stowage::order::detail {

/// Operators with a need and a score. Every operation takes O(log n) expected time; nodes are stored by
/// operator, and their priorities are a hash of it, so that results depend on nothing else.
template <class = void>
class basic_ready_tree {
public:
    /// For operators 0 to `operators` - 1.
    explicit basic_ready_tree(std::size_t operators) : nodes_(operators) {}

    [[nodiscard]] bool empty() const noexcept { return root_ == none; }
    [[nodiscard]] bool contains(operator_index op) const noexcept { return nodes_[op].present; }

    /// Score of an operator that is there.
    [[nodiscard]] std::int64_t score(operator_index op) const noexcept { return nodes_[op].score; }

    /// Adds an operator that is not there, or changes one that is.
    void put(operator_index op, std::int64_t need, std::int64_t score) {
        node& entry = nodes_[op];
        if (entry.present) {
            if (entry.need == need && entry.score == score) return;
            take(op);
        }
        entry = {need, score, none, none, op, true};
        // Down to the first node of lower priority, which is split into what lies left and right of the new.
        operator_index* link = &root_;
        path_.clear();
        while (*link != none && priority(*link) >= priority(op)) {
            path_.push_back(*link);
            link = before(op, *link) ? &nodes_[*link].left : &nodes_[*link].right;
        }
        const operator_index below = *link;
        *link = op;
        path_.push_back(op);
        split(below, op);
        update_path();
    }
    /// Removes an operator that is there.
    void take(operator_index op) {
        operator_index* link = &root_;
        path_.clear();
        while (*link != op) {
            path_.push_back(*link);
            link = before(op, *link) ? &nodes_[*link].left : &nodes_[*link].right;
        }
        operator_index left = nodes_[op].left;
        operator_index right = nodes_[op].right;
        while (left != none && right != none) {
            if (priority(left) >= priority(right)) {
                *link = left;
                path_.push_back(left);
                link = &nodes_[left].right;
                left = *link;
            } else {
                *link = right;
                path_.push_back(right);
                link = &nodes_[right].left;
                right = *link;
            }
        }
        *link = left != none ? left : right;
        nodes_[op].present = false;
        update_path();
    }
    /// Of those that need at most `room`, the least by (score, operator); no_operator if none fits.
    [[nodiscard]] operator_index best_within(std::int64_t room) const noexcept {
        operator_index best = none;
        for (operator_index at = root_; at != none;) {
            const node& entry = nodes_[at];
            if (entry.need > room) {
                at = entry.left;
                continue;
            }
            if (entry.left != none) best = better(best, nodes_[entry.left].best);
            best = better(best, at);
            at = entry.right;
        }
        return best;
    }
    /// The least by (need, score, operator). The tree must not be empty.
    [[nodiscard]] operator_index least_need() const noexcept {
        operator_index at = root_;
        while (nodes_[at].left != none)
            at = nodes_[at].left;
        return at;
    }

private:
    static constexpr operator_index none = no_operator;
    struct node {
        std::int64_t need = 0;
        std::int64_t score = 0;
        operator_index left = none;
        operator_index right = none;
        operator_index best = none;  // of the subtree, by (score, operator)
        bool present = false;
    };

    [[nodiscard]] static std::uint64_t priority(operator_index op) noexcept {
        return stowage::detail::splitmix64(op)();
    }
    [[nodiscard]] bool before(operator_index a, operator_index b) const noexcept {
        return std::tie(nodes_[a].need, nodes_[a].score, a) < std::tie(nodes_[b].need, nodes_[b].score, b);
    }
    [[nodiscard]] operator_index better(operator_index a, operator_index b) const noexcept {
        if (a == none) return b;
        if (b == none) return a;
        return std::tie(nodes_[a].score, a) < std::tie(nodes_[b].score, b) ? a : b;
    }
    void split(operator_index at, operator_index op) {
        operator_index* smaller = &nodes_[op].left;
        operator_index* larger = &nodes_[op].right;
        while (at != none) {
            path_.push_back(at);
            if (before(at, op)) {
                *smaller = at;
                smaller = &nodes_[at].right;
                at = *smaller;
            } else {
                *larger = at;
                larger = &nodes_[at].left;
                at = *larger;
            }
        }
        *smaller = none;
        *larger = none;
    }
    void update_path() {
        for (; !path_.empty(); path_.pop_back()) {
            node& entry = nodes_[path_.back()];
            entry.best = path_.back();
            if (entry.left != none) entry.best = better(entry.best, nodes_[entry.left].best);
            if (entry.right != none) entry.best = better(entry.best, nodes_[entry.right].best);
        }
    }

    std::vector<node> nodes_;
    std::vector<operator_index> path_;
    operator_index root_ = none;
};
using ready_tree = basic_ready_tree<>;

}  // namespace stowage::order::detail
