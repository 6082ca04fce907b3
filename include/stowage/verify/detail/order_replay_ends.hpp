#pragma once
// The two kinds of step of an order proof that search: that nothing leads on from one end, and splits.
// Included by verify/order_proof.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <stowage/verify/order_proof.hpp>

namespace stowage::verify::detail {

/// Follows the states of a search without an end: each is expanded or committed, and none holds everything.
template <class T>
void basic_order_proof_check<T>::replay(const proof_place& at, const order::proof_step& step, bool forwards,
                                        ending* told) const {
    const operator_marks& own = forwards ? at.front : at.back;
    const operator_marks& other = forwards ? at.back : at.front;
    replay_set set(at.facts, forwards);
    require(set.run_all(own), "a set lacks what its members need");
    operator_marks explored(own.size(), 0);
    std::set<std::vector<bool>> shown;
    struct frame {
        std::vector<bool> key;
        std::size_t length;
        std::vector<std::tuple<std::int64_t, std::int64_t, operator_index>> next;  // the last one first
    };
    std::vector<frame> frames;
    std::size_t entry = 0;
    const auto key = [&] { return std::vector<bool>(set.marks().begin(), set.marks().end()); };
    const auto note_ready = [&] {
        for (operator_index op = 0; op < own.size(); ++op) {
            if (set.can_run(op) && other[op] == 0) explored[op] = 1;
        }
    };
    const auto enter = [&] {
        for (std::vector<bool> now = key(); shown.count(now) == 0; now = key()) {
            bool more = false;
            for (operator_index op = 0; op < own.size() && !more; ++op)
                more = !set.holds(op) && other[op] == 0 && at.facts.idle[op] == 0;
            require(more, "everything runs within the bound");
            require(entry < step.states.size(), "a search without an end lacks states");
            const std::vector<operator_index>& commit = step.states[entry++];
            frames.push_back({std::move(now), set.length(), {}});
            note_ready();
            if (commit.empty()) {
                for (operator_index op = 0; op < own.size(); ++op) {
                    if (!set.can_run(op) || other[op] != 0 || set.hill(op) > bound_) continue;
                    frames.back().next.emplace_back(set.net(op), set.hill(op), op);
                }
                std::sort(frames.back().next.rbegin(), frames.back().next.rend());
                return;
            }
            const operator_marks before = set.marks();
            for (const operator_index op : commit) {
                require(op < own.size(), "a state names an operator that does not exist");
                run(set, other, op);
                note_ready();
            }
            require(set.live() <= least_alive_between(at.facts, forwards, before, set.marks()),
                    "a commit does not end where least is alive");
        }
    };
    enter();
    while (!frames.empty()) {
        set.take_back(frames.back().length);
        if (frames.back().next.empty()) {
            shown.insert(std::move(frames.back().key));
            frames.pop_back();
            continue;
        }
        const operator_index op = std::get<2>(frames.back().next.back());
        frames.back().next.pop_back();
        set.run(op);
        enter();
    }
    if (told != nullptr) *told = {forwards, own, other, std::move(explored)};
}

/// Operators of `free` that hang together by dependencies or buffers.
template <class T>
std::vector<operator_marks> basic_order_proof_check<T>::components_of(const proof_place& at,
                                                                      const operator_marks& free) const {
    std::vector<operator_marks> result;
    operator_marks seen(free.size(), 0);
    std::vector<operator_index> todo;
    for (operator_index seed = 0; seed < free.size(); ++seed) {
        if (free[seed] == 0 || seen[seed] != 0) continue;
        operator_marks component(free.size(), 0);
        const auto reach_to = [&](operator_index op) {
            if (free[op] == 0 || seen[op] != 0) return;
            seen[op] = 1;
            component[op] = 1;
            todo.push_back(op);
        };
        reach_to(seed);
        while (!todo.empty()) {
            const operator_index op = todo.back();
            todo.pop_back();
            for (const bool forwards : {true, false}) {
                for (const operator_index near : at.facts.neighbours(op, forwards))
                    reach_to(near);
            }
            for (const std::uint32_t t : at.facts.tensors_of[op]) {
                for (const operator_index near : at.facts.tensors[t].users)
                    reach_to(near);
            }
        }
        result.push_back(std::move(component));
    }
    return result;
}

/// After a refutation: every component that could still matter is among those tried (or was decided before).
template <class T>
void basic_order_proof_check<T>::check_parts(const proof_place& at, const operator_marks& free,
                                             const std::vector<operator_marks>& components, const ending& end,
                                             const std::set<std::size_t>& decided,
                                             const std::set<std::size_t>& tried) const {
    const std::size_t count = free.size();
    operator_marks touched(count, 0);
    const auto touch = [&](operator_index op) { touched[op] = free[op] != 0 && end.set[op] == 0; };
    const auto for_neighbours = [&](operator_index op, bool forwards, const auto& visit) {
        for (const operator_index near : at.facts.neighbours(op, forwards))
            visit(near);
    };
    bool only_free_left = true;
    for (operator_index op = 0; op < count; ++op) {
        if (free[op] != 0 && end.other[op] != 0) require(false, "the other end took a free operator", op);
        if (free[op] != 0 || end.set[op] != 0 || at.facts.idle[op] != 0) continue;
        if (end.other[op] == 0) only_free_left = false;
        if (end.explored[op] != 0) {
            for_neighbours(op, true, touch);
            for_neighbours(op, false, touch);
            for (const std::uint32_t t : at.facts.tensors_of[op]) {
                for (const operator_index near : at.facts.tensors[t].users)
                    touch(near);
            }
            continue;
        }
        bool joined = true;
        for_neighbours(op, end.at_front, [&](operator_index near) {
            joined = joined && (end.set[near] != 0 || free[near] != 0 || end.explored[near] != 0);
        });
        if (joined) for_neighbours(op, end.at_front, touch);
    }
    if (only_free_left) {
        for (operator_index op = 0; op < count; ++op)
            touch(op);
    }
    replay_set set(at.facts, end.at_front);
    require(set.run_all(end.set), "a set lacks what its members need");
    for (std::size_t c = 0; c < components.size(); ++c) {
        if (decided.count(c) != 0 || tried.count(c) != 0) continue;
        operator_marks with = set.marks();
        for (operator_index op = 0; op < count; ++op) {
            require(components[c][op] == 0 || touched[op] == 0, "a part of a split is not tried", op);
            if (components[c][op] != 0) with[op] = 1;
        }
        require(least_alive_between(at.facts, end.at_front, set.marks(), close(at, end.at_front, with)) >=
                    set.live(),
                "a part of a split that lowers what is alive is not tried");
    }
}

template <class T>
void basic_order_proof_check<T>::split(const proof_place& at, const order::proof_step& step, bool forwards,
                                       std::size_t depth) {
    const operator_index v = operand(step, 0);
    require(at.front[v] == 0 && at.back[v] == 0 && step.states.size() == 1, "a split without its set", v);
    const std::size_t count = at.front.size();
    operator_marks least = reach(at, v, true);
    least[v] = 0;
    const operator_marks below = reach(at, v, false);
    operator_marks most(count, 1);
    operator_marks base(count, 0);
    for (operator_index op = 0; op < count; ++op) {
        if (at.front[op] != 0) least[op] = 1;
        if (below[op] != 0 || at.back[op] != 0) most[op] = 0;
    }
    for (const operator_index op : step.states[0]) {
        require(op < count, "a set names an operator that does not exist");
        base[op] = 1;
    }
    for (operator_index op = 0; op < count; ++op) {
        if (least[op] != 0) base[op] = 1;
        require(base[op] == 0 || most[op] != 0 || at.facts.idle[op] != 0, "v cannot run at the set", v);
    }
    base = close(at, true, base);
    const auto alive_after = [&](const operator_marks& marks) {
        replay_set set(at.facts, true);
        require(set.run_all(marks), "a set lacks what its members need");
        return set.live();
    };
    require(alive_after(base) <= least_alive_between(at.facts, true, least, most),
            "the set of a split is not one with least alive", v);
    const std::int64_t at_v = cut(at, v, {}, {}) - least_alive_between(at.facts, true, least, most);
    operator_marks free(count, 0);
    bool tight = true;  // the set is the least (or the greatest) at which v can run
    for (operator_index op = 0; op < count; ++op) {
        if (at.facts.idle[op] != 0 || op == v) continue;
        const bool inside = base[op] != 0;
        if (least[op] != 0 || most[op] == 0) continue;
        if (inside == forwards) tight = false;
        if (inside != forwards) free[op] = 1;
    }
    const std::vector<operator_marks> components = components_of(at, free);
    std::map<std::vector<operator_index>, std::size_t> case_of;
    for (std::size_t k = 0; k < step.cases.size(); ++k) {
        require(!step.cases[k].empty() && step.cases[k][0].rule == rule::start, "a case without a start");
        std::vector<operator_index> early = step.cases[k][0].operators;
        std::sort(early.begin(), early.end());
        case_of.emplace(std::move(early), k);
    }
    std::vector<std::pair<std::vector<operator_index>, std::set<std::size_t>>> todo{{{}, {}}};
    while (!todo.empty()) {
        auto [early, decided] = std::move(todo.back());
        todo.pop_back();
        operator_marks run_before = base;
        for (const operator_index op : early)
            run_before[op] = forwards ? 1 : 0;
        if (!forwards) {  // operators that were left out run as soon as they can
            for (operator_index op = 0; op < count; ++op)
                run_before[op] = run_before[op] != 0 && at.facts.idle[op] == 0 ? 1 : 0;
        }
        run_before = close(at, true, run_before);
        if (alive_after(run_before) + at_v > bound_) continue;  // v does not fit, nor with more parts
        const auto found = case_of.find(early);
        require(found != case_of.end(), "a start of a split is missing", v);
        const std::vector<order::proof_step>& steps = step.cases[found->second];
        const bool other_side = steps.size() > 1 && steps[1].rule == rule::other_side;
        proof_place inner = at;
        inner.moved = true;
        if (forwards != other_side) {
            operator_marks run = run_before;
            run[v] = 1;
            inner.front = close(at, true, run);
        } else {
            operator_marks rest(count, 0);
            for (operator_index op = 0; op < count; ++op)
                rest[op] = run_before[op] == 0 && at.facts.idle[op] == 0 ? 1 : 0;
            inner.back = close(at, false, rest);
        }
        ending end;
        follow(std::move(inner), steps, other_side ? 2 : 1, depth + 1, &end);
        if (other_side) {
            require(tight, "a set that is not reached says nothing of smaller ones", v);
            continue;
        }
        require(!end.set.empty() && end.at_front == forwards, "a start is refuted from the wrong end", v);
        std::set<std::size_t> tried;
        require(steps[0].states.size() <= 1, "a start has two lists of parts");
        std::vector<std::size_t> in_order;
        for (const operator_index op :
             steps[0].states.empty() ? std::vector<operator_index>{} : steps[0].states[0]) {
            for (std::size_t c = 0; c < components.size(); ++c) {
                if (op < count && components[c][op] != 0 && tried.insert(c).second) in_order.push_back(c);
            }
        }
        check_parts(at, free, components, end, decided, tried);
        for (const std::size_t c : in_order) {
            if (!decided.insert(c).second) continue;
            // All parts of the component but the empty one: an operator is in only if what it needs is.
            std::vector<operator_index> members;
            for (operator_index k = 0; k < count; ++k) {
                const operator_index op = forwards ? k : static_cast<operator_index>(count - 1 - k);
                if (components[c][op] != 0) members.push_back(op);
            }
            std::vector<operator_marks> needed;
            for (const operator_index op : members) {
                needed.emplace_back(count, 0);
                at.facts.mark_needed(op, forwards, needed.back());
            }
            // Members by how many of them they need: a legal order.
            std::vector<std::size_t> rank(members.size());
            for (std::size_t i = 0; i < members.size(); ++i)
                rank[i] = i;
            const auto needs_of = [&](std::size_t i) {
                return std::count_if(members.begin(), members.end(),
                                     [&](operator_index op) { return needed[i][op] != 0; });
            };
            std::stable_sort(rank.begin(), rank.end(),
                             [&](std::size_t a, std::size_t b) { return needs_of(a) < needs_of(b); });
            std::vector<std::vector<operator_index>> parts{{}};
            for (const std::size_t i : rank) {
                const std::size_t so_far = parts.size();
                for (std::size_t k = 0; k < so_far; ++k) {
                    const bool can = std::all_of(members.begin(), members.end(), [&](operator_index op) {
                        return op == members[i] || needed[i][op] == 0 ||
                               std::find(parts[k].begin(), parts[k].end(), op) != parts[k].end();
                    });
                    if (!can) continue;
                    parts.push_back(parts[k]);
                    parts.back().push_back(members[i]);
                }
                require(parts.size() <= 10'000, "a split with too many parts", v);
            }
            for (const std::vector<operator_index>& part : parts) {
                if (part.empty()) continue;
                std::vector<operator_index> more = early;
                more.insert(more.end(), part.begin(), part.end());
                std::sort(more.begin(), more.end());
                todo.emplace_back(std::move(more), decided);
            }
        }
    }
}

}  // namespace stowage::verify::detail
