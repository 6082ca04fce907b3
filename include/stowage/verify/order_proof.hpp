#pragma once
// Replays a proof that no order of a program keeps within a bound (order/proof.hpp), step by step, with a
// flow and a depth-first search of its own. docs/proofs.md says why each step holds. A step that cannot be
// redone is refused, and with it the proof.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/proof.hpp>
#include <stowage/verify/detail/order_replay.hpp>
#include <stowage/verify/verdict.hpp>

namespace stowage::verify {

namespace detail {

/// What has been shown on the way to one place of a proof.
struct proof_place {
    order_facts facts;
    operator_marks front;  // has run at the front
    operator_marks back;   // will run at the back
    std::set<operator_index> lazy;
    std::set<operator_index> sinks;
    bool moved = false;  // something was committed: what holds only of whole orders can no longer be said
};

/// Thrown inside the checker, never out of it.
struct proof_refused {
    std::string reason;
    operator_index op = no_operator;
};

template <class = void>
class basic_order_proof_check {
public:
    basic_order_proof_check(const tensor_graph& graph, const order::order_proof& proof)
        : bound_(proof.bound) {
        start_.facts = order_facts::of(graph);
        start_.front.assign(graph.operator_count(), 0);
        start_.back = start_.front;
        for (const operator_index op : proof.left_out) {
            require(op < graph.operator_count(), "an operator that does not exist is left out");
            require(start_.facts.tensors_of[op].empty() && start_.facts.workspace[op] == 0,
                    "an operator that touches bytes is left out", op);
            start_.facts.idle[op] = 1;
        }
    }
    /// Throws proof_refused unless the steps refute the bound.
    void check(const std::vector<order::proof_step>& steps) {
        if (steps.empty() || steps.front().rule != rule::only) return follow(start_, steps, 0, 0, nullptr);
        const std::vector<operator_index>& kept = steps.front().operators;
        std::vector<operator_index> number(start_.facts.count(), no_operator);
        for (std::size_t k = 0; k < kept.size(); ++k) {
            require(number[operand(steps.front(), k)] == no_operator, "an operator is kept twice", kept[k]);
            number[kept[k]] = static_cast<operator_index>(k);
        }
        start_.facts = start_.facts.only(kept, number);
        start_.front.assign(kept.size(), 0);
        start_.back = start_.front;
        try {
            follow(start_, renamed({steps.begin() + 1, steps.end()}, number, 0), 0, 0, nullptr);
        } catch (proof_refused& refused) {
            if (refused.op < kept.size()) refused.op = kept[refused.op];
            throw;
        }
    }

private:
    using rule = order::proof_rule;
    static constexpr std::size_t deepest = 500;
    /// What a refutation from one end tells a split.
    struct ending {
        bool at_front = true;
        operator_marks set;       // what had run (or, from the back, what was to run) when nothing led on
        operator_marks other;     // the same of the other end
        operator_marks explored;  // operators that could run at some state
    };

    static void require(bool holds, const char* reason, operator_index op = no_operator) {
        if (!holds) throw proof_refused{reason, op};
    }
    [[nodiscard]] operator_index operand(const order::proof_step& step, std::size_t k) const {
        require(k < step.operators.size(), "a step names too few operators");
        const operator_index op = step.operators[k];
        require(op < start_.facts.count(), "a step names an operator that does not exist");
        require(start_.facts.idle[op] == 0, "a step names an operator that was left out", op);
        return op;
    }
    /// The steps with the numbers that operators have once others are forgotten.
    [[nodiscard]] static std::vector<order::proof_step> renamed(std::vector<order::proof_step> steps,
                                                                const std::vector<operator_index>& number,
                                                                std::size_t depth) {
        require(depth < deepest, "the proof is nested too deeply");
        const auto rename = [&](std::vector<operator_index>& operators) {
            for (operator_index& op : operators) {
                if (op == no_operator) continue;
                require(op < number.size() && number[op] != no_operator,
                        "a step names an operator that was forgotten");
                op = number[op];
            }
        };
        for (order::proof_step& step : steps) {
            rename(step.operators);
            for (std::vector<operator_index>& state : step.states)
                rename(state);
            for (std::vector<order::proof_step>& of_case : step.cases)
                of_case = renamed(std::move(of_case), number, depth + 1);
        }
        return steps;
    }
    /// Follows steps from `at` on; `told`, if given, hears how the last one refuted.
    void follow(proof_place at, const std::vector<order::proof_step>& steps, std::size_t first,
                std::size_t depth, ending* told) {
        require(depth < deepest, "the proof is nested too deeply");
        for (std::size_t k = first; k < steps.size(); ++k) {
            const order::proof_step& step = steps[k];
            switch (step.rule) {
                case rule::only: require(false, "operators are forgotten later than at the start"); break;
                case rule::lazy: follow_lazy(at, operand(step, 0), operand(step, 1)); break;
                case rule::sink: follow_sink(at, operand(step, 0), operand(step, 1)); break;
                case rule::within: follow_within(at, step); break;
                case rule::front: commit(at, step, true); break;
                case rule::back: commit(at, step, false); break;
                case rule::before:
                    if (follow_before(at, step)) return;
                    break;
                case rule::cut:
                    require(cut(at, operand(step, 0), {}, {}) > bound_, "the cut is within the bound",
                            operand(step, 0));
                    return;
                case rule::front_ends: replay(at, step, true, told); return;
                case rule::back_ends: replay(at, step, false, told); return;
                case rule::either: follow_cases(at, step, depth); return;
                case rule::split_after: split(at, step, true, depth); return;
                case rule::split_before: split(at, step, false, depth); return;
                case rule::start:
                case rule::other_side: require(false, "a start outside of a split");
            }
        }
        require(false, "the steps end without a refutation");
    }

    [[nodiscard]] operator_marks reach(const proof_place& at, operator_index op, bool backwards) const {
        operator_marks marks(at.front.size(), 0);
        at.facts.mark_needed(op, backwards, marks);
        return marks;
    }
    /// Adds a before b; true if that closes a cycle.
    [[nodiscard]] static bool add_dependency(proof_place& at, operator_index a, operator_index b) {
        operator_marks above(at.front.size(), 0);
        at.facts.mark_needed(a, true, above);
        if (above[b] != 0) return true;
        at.facts.before[b].push_back(a);
        at.facts.after[a].push_back(b);
        return false;
    }
    void follow_lazy(proof_place& at, operator_index op, operator_index v) const {
        require(!at.moved, "a lazy operator after a commit", op);
        const operator_marks below = reach(at, op, false);
        const operator_marks below_v = reach(at, v, false);
        const std::vector<operator_index> waiting = at.facts.neighbours(op, false);
        require(at.facts.workspace[op] == 0 && !waiting.empty(), "it is not lazy", op);
        for (const std::uint32_t t : at.facts.tensors_of[op]) {
            const auto& tensor = at.facts.tensors[t];
            const bool outlived =
                tensor.stays || std::any_of(tensor.users.begin(), tensor.users.end(),
                                            [&](operator_index u) { return u != op && below[u] != 0; });
            require(outlived, "a lazy operator may free a buffer", op);
        }
        for (const operator_index next : waiting) {
            require(below_v[next] != 0 && next != v, "what waits for a lazy operator may run sooner", op);
            require(at.sinks.count(next) == 0, "a sink waits for a lazy operator", op);
        }
        at.lazy.insert(op);
        require(!add_dependency(at, v, op), "a lazy operator must run sooner", op);
    }
    void follow_sink(proof_place& at, operator_index op, operator_index v) const {
        require(!at.moved, "a sink after a commit", op);
        const operator_marks above = reach(at, op, true);
        const operator_marks above_v = reach(at, v, true);
        const std::vector<operator_index> needed = at.facts.neighbours(op, true);
        require(at.facts.workspace[op] == 0 && !needed.empty(), "it is no sink", op);
        for (const std::uint32_t t : at.facts.tensors_of[op]) {
            const auto& tensor = at.facts.tensors[t];
            const bool made_before =
                tensor.starts || std::any_of(tensor.users.begin(), tensor.users.end(),
                                             [&](operator_index u) { return u != op && above[u] != 0; });
            require(made_before, "a sink may allocate a buffer", op);
        }
        for (const operator_index previous : needed) {
            require(above_v[previous] != 0 && previous != v, "what a sink waits for may run later", op);
            require(at.lazy.count(previous) == 0, "a sink waits for a lazy operator", op);
        }
        at.sinks.insert(op);
        require(!add_dependency(at, op, v), "a sink must run later", op);
    }
    void follow_within(proof_place& at, const order::proof_step& step) const {
        require(!at.moved && step.operators.size() == 2, "a segment after a commit");
        at.moved = true;
        for (const bool first : {true, false}) {
            if (step.operators[first ? 0 : 1] == no_operator) continue;
            const operator_index v = operand(step, first ? 0 : 1);
            const operator_marks above = reach(at, v, true);
            const operator_marks below = reach(at, v, false);
            for (operator_index op = 0; op < above.size(); ++op) {
                require(above[op] != 0 || below[op] != 0 || at.facts.idle[op] != 0,
                        "a segment ends at an operator that others may run before or after", v);
            }
            (first ? at.front : at.back) = close(at, first, first ? above : below);
        }
    }
    /// `marks` with the idle operators that follow.
    [[nodiscard]] static operator_marks close(const proof_place& at, bool forwards,
                                              const operator_marks& marks) {
        replay_set set(at.facts, forwards);
        require(set.run_all(marks), "a set lacks what its members need");
        return set.marks();
    }
    void commit(proof_place& at, const order::proof_step& step, bool forwards) const {
        at.moved = true;
        operator_marks& own = forwards ? at.front : at.back;
        const operator_marks& other = forwards ? at.back : at.front;
        replay_set set(at.facts, forwards);
        require(set.run_all(own), "a set lacks what its members need");
        const std::size_t count = step.operators.size();
        for (std::size_t k = 0; k < count; ++k)
            run(set, other, operand(step, forwards ? k : count - 1 - k));
        require(set.live() <= least_alive_between(at.facts, forwards, own, set.marks()),
                "a commit does not end where least is alive");
        own = set.marks();
    }
    void run(replay_set& set, const operator_marks& other, operator_index op) const {
        require(set.can_run(op) && other[op] == 0, "an operator runs before it can", op);
        require(set.hill(op) <= bound_, "an operator runs above the bound", op);
        set.run(op);
    }
    /// The least bytes alive while `v` runs from here, over sets that hold `with` and nothing of `without`.
    [[nodiscard]] std::int64_t cut(const proof_place& at, operator_index v, const operator_marks& with,
                                   const operator_marks& without) const {
        require(at.front[v] == 0 && at.back[v] == 0, "a cut at an operator that was committed", v);
        operator_marks least = reach(at, v, true);
        least[v] = 0;
        const operator_marks below = reach(at, v, false);
        operator_marks most(least.size(), 1);
        bool possible = true;
        for (operator_index op = 0; op < least.size(); ++op) {
            if (at.front[op] != 0 || (!with.empty() && with[op] != 0)) least[op] = 1;
            if (below[op] != 0 || at.back[op] != 0 || (!without.empty() && without[op] != 0)) most[op] = 0;
            if (least[op] != 0 && most[op] == 0 && at.facts.idle[op] == 0) possible = false;
        }
        if (!possible) return std::numeric_limits<std::int64_t>::max();  // v runs at no such set
        std::int64_t bytes = at.facts.workspace[v];
        for (const std::uint32_t t : at.facts.tensors_of[v]) {
            const auto& tensor = at.facts.tensors[t];
            const bool born_here =
                !tensor.starts && std::all_of(tensor.users.begin(), tensor.users.end(),
                                              [&](operator_index u) { return below[u] != 0; });
            bytes += born_here ? tensor.bytes : 0;
        }
        return bytes + least_alive_between(at.facts, true, least, most);
    }
    /// True if the dependency closes a cycle, which refutes the bound.
    [[nodiscard]] bool follow_before(proof_place& at, const order::proof_step& step) const {
        const operator_index a = operand(step, 0);
        const operator_index b = operand(step, 1);
        const operator_index v = operand(step, 2);
        require(a != b, "an operator before itself", a);
        require(v == a || v == b, "a dependency shown at a third operator", v);
        at.moved = true;
        const std::int64_t otherwise =
            v == b ? cut(at, v, {}, reach(at, a, false)) : cut(at, v, reach(at, b, true), {});
        require(otherwise > bound_, "a dependency does not follow", v);
        return add_dependency(at, a, b);
    }
    void follow_cases(const proof_place& at, const order::proof_step& step, std::size_t depth) {
        require(step.cases.size() == 2, "a choice without two cases");
        const operator_index a = operand(step, 0);
        const operator_index b = operand(step, 1);
        require(a != b, "an operator before itself", a);
        for (const bool turned : {false, true}) {
            proof_place inner = at;
            inner.moved = true;
            if (add_dependency(inner, turned ? b : a, turned ? a : b)) continue;
            follow(std::move(inner), step.cases[turned ? 1 : 0], 0, depth + 1, nullptr);
        }
    }

    void replay(const proof_place& at, const order::proof_step& step, bool forwards, ending* told) const;
    void split(const proof_place& at, const order::proof_step& step, bool forwards, std::size_t depth);
    std::vector<operator_marks> components_of(const proof_place& at, const operator_marks& free) const;
    void check_parts(const proof_place& at, const operator_marks& free,
                     const std::vector<operator_marks>& components, const ending& end,
                     const std::set<std::size_t>& decided, const std::set<std::size_t>& tried) const;

    std::int64_t bound_;
    proof_place start_;
};
using order_proof_check = basic_order_proof_check<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_order_proof_check<>;
#endif

}  // namespace detail

}  // namespace stowage::verify

#include <stowage/verify/detail/order_replay_ends.hpp>

namespace stowage::verify {

/// Checks that `proof` shows that every legal order of `graph` has a peak above its bound. Time as the
/// proof's steps, a maximum flow or a small search each; memory as the program.
template <class = void>
[[nodiscard]] verdict check_order_proof(const tensor_graph& graph, const order::order_proof& proof) {
    try {
        detail::order_proof_check(graph, proof).check(proof.steps);
    } catch (const detail::proof_refused& refused) {
        if (refused.op == no_operator) return detail::refuse("the proof: " + refused.reason);
        const subject op = graph.describe_operator(refused.op);
        return detail::refuse("the proof: " + op.text("operator") + ": " + refused.reason, {op});
    }
    return {};
}

}  // namespace stowage::verify
