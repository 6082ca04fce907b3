#pragma once
// What a checker of order proofs computes with: down-sets of a program seen forwards or backwards, run one
// operator at a time, and the least bytes alive over all down-sets between two. Shares nothing with the
// searches but the program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/verify/proof.hpp>

namespace stowage::verify::detail {

using operator_marks = std::vector<std::uint8_t>;  // one mark an operator

/// A program as a proof sees it: dependencies, those shown so far among them, and the buffers with bytes.
struct order_facts {
    struct tensor {
        std::int64_t bytes;
        std::vector<operator_index> users;
        bool starts;  // alive before its first user runs, and
        bool stays;   // after its last one has run
    };
    std::vector<std::vector<operator_index>> before;  // of each operator
    std::vector<std::vector<operator_index>> after;   // of each operator
    std::vector<tensor> tensors;
    std::vector<std::vector<std::uint32_t>> tensors_of;  // of each operator
    std::vector<std::int64_t> workspace;
    operator_marks idle;  // runs as soon as it can, or in reverse: touches no bytes

    template <class = void>
    [[nodiscard]] static order_facts of(const tensor_graph& graph) {
        order_facts facts;
        const std::size_t count = graph.operator_count();
        facts.before.resize(count);
        facts.after.resize(count);
        facts.tensors_of.resize(count);
        facts.idle.assign(count, 0);
        for (operator_index op = 0; op < count; ++op) {
            facts.workspace.push_back(graph.workspace(op));
            for (const operator_index p : graph.predecessors(op)) {
                facts.before[op].push_back(p);
                facts.after[p].push_back(op);
            }
        }
        std::vector<buffer_index> uses(count, static_cast<buffer_index>(-1));
        for (buffer_index b = 0; b < graph.buffer_count(); ++b) {
            if (!graph.is_planned(b) || graph.bytes(b) == 0) continue;
            tensor made{graph.bytes(b),
                        {},
                        graph.kind(b) == buffer_kind::donated,
                        graph.kind(b) == buffer_kind::output};
            for (const operator_index op : graph.users(b))
                uses[op] = b;
            for (const operator_index op : graph.users(b)) {
                // One that a later user directly waits for is never the last; an output's users never matter.
                const auto next = graph.successors(op);
                const bool waited_for = std::any_of(next.begin(), next.end(),
                                                    [&](operator_index later) { return uses[later] == b; });
                if (op != graph.producer(b) && (made.stays || waited_for)) continue;
                facts.tensors_of[op].push_back(static_cast<std::uint32_t>(facts.tensors.size()));
                made.users.push_back(op);
            }
            facts.tensors.push_back(std::move(made));
        }
        return facts;
    }
    [[nodiscard]] std::size_t count() const noexcept { return before.size(); }
    [[nodiscard]] const std::vector<operator_index>& needs(operator_index op, bool forwards) const noexcept {
        return forwards ? before[op] : after[op];
    }
    [[nodiscard]] bool starts(const tensor& t, bool forwards) const noexcept {
        return forwards ? t.starts : t.stays;
    }
    [[nodiscard]] bool stays(const tensor& t, bool forwards) const noexcept {
        return forwards ? t.stays : t.starts;
    }
    /// What `op` needs (or, backwards, what needs it) directly or through idle operators alone.
    template <class = void>
    [[nodiscard]] std::vector<operator_index> neighbours(operator_index op, bool forwards) const {
        std::vector<operator_index> result;
        std::vector<operator_index> todo = needs(op, forwards);
        while (!todo.empty()) {
            const operator_index near = todo.back();
            todo.pop_back();
            if (idle[near] == 0) {
                result.push_back(near);
            } else {
                todo.insert(todo.end(), needs(near, forwards).begin(), needs(near, forwards).end());
            }
        }
        return result;
    }
    /// The program of the operators `kept` alone, numbered in that order, `number` giving the new number of
    /// each; no operator is idle in it. In any order of the whole, leave out the others: what is alive then
    /// is alive in the whole too.
    template <class = void>
    [[nodiscard]] order_facts only(const std::vector<operator_index>& kept,
                                   const std::vector<operator_index>& number) const {
        order_facts facts;
        facts.before.resize(kept.size());
        facts.after.resize(kept.size());
        facts.tensors_of.resize(kept.size());
        facts.idle.assign(kept.size(), 0);
        constexpr auto none = static_cast<std::uint32_t>(-1);
        std::vector<std::uint32_t> tensor_number(tensors.size(), none);
        for (operator_index op = 0; op < kept.size(); ++op) {
            facts.workspace.push_back(workspace[kept[op]]);
            for (const operator_index before_it : neighbours(kept[op], true)) {
                if (number[before_it] == no_operator) continue;
                facts.before[op].push_back(number[before_it]);
                facts.after[number[before_it]].push_back(op);
            }
            for (const std::uint32_t t : tensors_of[kept[op]]) {
                if (tensor_number[t] == none) {
                    tensor_number[t] = static_cast<std::uint32_t>(facts.tensors.size());
                    facts.tensors.push_back({tensors[t].bytes, {}, tensors[t].starts, tensors[t].stays});
                }
                facts.tensors[tensor_number[t]].users.push_back(op);
                facts.tensors_of[op].push_back(tensor_number[t]);
            }
        }
        return facts;
    }
    /// Marks `op` and all that it needs (or, backwards, all that needs it).
    template <class = void>
    void mark_needed(operator_index op, bool forwards, operator_marks& marks) const {
        std::vector<operator_index> todo{op};
        marks[op] = 1;
        while (!todo.empty()) {
            const operator_index at = todo.back();
            todo.pop_back();
            for (const operator_index other : needs(at, forwards)) {
                if (marks[other] != 0) continue;
                marks[other] = 1;
                todo.push_back(other);
            }
        }
    }
};

/// A set that holds what its members need, seen forwards (what has run) or backwards (what is still to run
/// once time is turned round).
template <class = void>
class basic_replay_set {
public:
    basic_replay_set(const order_facts& facts, bool forwards)
        : facts_(&facts), forwards_(forwards), in_(facts.count(), 0), lacking_(facts.count()),
          users_in_(facts.tensors.size(), 0) {
        for (const order_facts::tensor& t : facts.tensors)
            live_ += facts.starts(t, forwards) ? t.bytes : 0;
        for (operator_index op = 0; op < in_.size(); ++op)
            lacking_[op] = facts.needs(op, forwards).size();
        for (operator_index op = 0; op < in_.size(); ++op) {
            if (lacking_[op] == 0 && facts.idle[op] != 0 && in_[op] == 0) put(op);
        }
    }

    [[nodiscard]] bool forwards() const noexcept { return forwards_; }
    [[nodiscard]] const operator_marks& marks() const noexcept { return in_; }
    [[nodiscard]] bool holds(operator_index op) const noexcept { return in_[op] != 0; }
    [[nodiscard]] std::int64_t live() const noexcept { return live_; }
    /// Length of the record, for take_back().
    [[nodiscard]] std::size_t length() const noexcept { return record_.size(); }
    [[nodiscard]] bool can_run(operator_index op) const noexcept {
        return in_[op] == 0 && lacking_[op] == 0 && facts_->idle[op] == 0;
    }
    [[nodiscard]] std::int64_t born_at(operator_index op) const noexcept {
        std::int64_t bytes = 0;
        for (const std::uint32_t t : facts_->tensors_of[op]) {
            const order_facts::tensor& tensor = facts_->tensors[t];
            if (users_in_[t] == 0 && !facts_->starts(tensor, forwards_)) bytes += tensor.bytes;
        }
        return bytes;
    }
    [[nodiscard]] std::int64_t hill(operator_index op) const noexcept {
        return live_ + born_at(op) + facts_->workspace[op];
    }
    /// What `op` adds to the live bytes.
    [[nodiscard]] std::int64_t net(operator_index op) const noexcept {
        std::int64_t bytes = born_at(op);
        for (const std::uint32_t t : facts_->tensors_of[op]) {
            const order_facts::tensor& tensor = facts_->tensors[t];
            if (users_in_[t] + 1 == tensor.users.size() && !facts_->stays(tensor, forwards_))
                bytes -= tensor.bytes;
        }
        return bytes;
    }
    /// Adds `op`, which can run, and idle operators that can run then.
    void run(operator_index op) { put(op); }
    void take_back(std::size_t length) {
        while (record_.size() > length) {
            const operator_index op = record_.back();
            record_.pop_back();
            in_[op] = 0;
            for (const operator_index next : facts_->needs(op, !forwards_))
                ++lacking_[next];
            for (const std::uint32_t t : facts_->tensors_of[op]) {
                const order_facts::tensor& tensor = facts_->tensors[t];
                if (users_in_[t]-- == tensor.users.size() && !facts_->stays(tensor, forwards_))
                    live_ += tensor.bytes;
                if (users_in_[t] == 0 && !facts_->starts(tensor, forwards_)) live_ -= tensor.bytes;
            }
        }
    }
    /// Adds all marked operators that are not idle; false if they need others.
    [[nodiscard]] bool run_all(const operator_marks& marks) {
        std::vector<operator_index> todo;
        for (operator_index op = 0; op < marks.size(); ++op) {
            if (marks[op] != 0 && can_run(op)) todo.push_back(op);
        }
        std::size_t seen = length();
        while (!todo.empty()) {
            const operator_index op = todo.back();
            todo.pop_back();
            if (!can_run(op)) continue;
            run(op);
            for (; seen < record_.size(); ++seen) {
                for (const operator_index next : facts_->needs(record_[seen], !forwards_)) {
                    if (marks[next] != 0 && can_run(next)) todo.push_back(next);
                }
            }
        }
        for (operator_index op = 0; op < marks.size(); ++op) {
            if (marks[op] != 0 && facts_->idle[op] == 0 && in_[op] == 0) return false;
        }
        return true;
    }

private:
    void put(operator_index first) {
        std::vector<operator_index> todo{first};
        while (!todo.empty()) {
            const operator_index op = todo.back();
            todo.pop_back();
            in_[op] = 1;
            record_.push_back(op);
            for (const std::uint32_t t : facts_->tensors_of[op]) {
                const order_facts::tensor& tensor = facts_->tensors[t];
                if (users_in_[t]++ == 0 && !facts_->starts(tensor, forwards_)) live_ += tensor.bytes;
                if (users_in_[t] == tensor.users.size() && !facts_->stays(tensor, forwards_))
                    live_ -= tensor.bytes;
            }
            for (const operator_index next : facts_->needs(op, !forwards_)) {
                if (--lacking_[next] == 0 && facts_->idle[next] != 0) todo.push_back(next);
            }
        }
    }

    const order_facts* facts_;
    bool forwards_;
    operator_marks in_;
    std::vector<std::size_t> lacking_;   // needed operators that are not in the set
    std::vector<std::size_t> users_in_;  // of each tensor
    std::vector<operator_index> record_;
    std::int64_t live_ = 0;
};
using replay_set = basic_replay_set<>;

/// The least bytes alive after any set between `least` and `most`, both of which hold what they need. One
/// maximum flow.
template <class = void>
[[nodiscard]] std::int64_t least_alive_between(const order_facts& facts, bool forwards,
                                               const operator_marks& least, const operator_marks& most) {
    constexpr std::size_t source = 0;
    constexpr std::size_t sink = 1;
    const std::size_t count = facts.count();
    flow_check network(2 + count + 2 * facts.tensors.size());
    const auto node = [](operator_index op) { return 2 + static_cast<std::size_t>(op); };
    for (operator_index op = 0; op < count; ++op) {
        if (most[op] == 0 || least[op] != 0) continue;
        for (const operator_index needed : facts.needs(op, forwards)) {
            if (most[needed] == 0)
                network.arc(node(op), sink, flow_check::unlimited);
            else if (least[needed] == 0)
                network.arc(node(op), node(needed), flow_check::unlimited);
        }
    }
    std::int64_t fixed = 0;
    for (std::size_t t = 0; t < facts.tensors.size(); ++t) {
        const order_facts::tensor& tensor = facts.tensors[t];
        bool born = facts.starts(tensor, forwards);
        bool survives = facts.stays(tensor, forwards);
        bool open = false;
        for (const operator_index user : tensor.users) {
            born = born || least[user] != 0;
            survives = survives || most[user] == 0;
            open = open || (most[user] != 0 && least[user] == 0);
        }
        if (born && survives) fixed += tensor.bytes;
        if ((born && survives) || !open) continue;
        const std::size_t born_node = born ? source : 2 + count + 2 * t;
        const std::size_t dead_node = survives ? sink : 2 + count + 2 * t + 1;
        network.arc(born_node, dead_node, tensor.bytes);
        for (const operator_index user : tensor.users) {
            if (most[user] == 0 || least[user] != 0) continue;
            if (!born) network.arc(node(user), born_node, flow_check::unlimited);
            if (!survives) network.arc(dead_node, node(user), flow_check::unlimited);
        }
    }
    return fixed + network.flow(source, sink);
}

}  // namespace stowage::verify::detail
