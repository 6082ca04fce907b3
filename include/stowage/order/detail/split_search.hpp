#pragma once
// The decision "is there an order within B?" split at an operator v that is not memory-insensitive
// (papers/order.md, rules 9 and 14).
//
// I_v are the down-sets from which v can run, F the operators free at v, Y a set of least f in I_v. Say some
// order within B runs v at Z. Joining its later sets with Y, and meeting its earlier sets with Y, raises no
// hill, as f(Y) is the least on I_v; so the rest can be run from Z + Y, and Z & Y can be reached. Hence B is
// refuted once every start X >= Y in I_v is refuted forwards. Y alone is not enough (16% of decided random
// tests needed an early set). But the free operators outside Y fall into components that share no tensor and
// no dependency, and where the search from a start ends, at a set W with explored operators E and no valley,
// only some of them can matter:
//   - those that share a tensor or a dependency with an operator in E,
//   - those that, together with E, make an operator outside E ready,
//   - those of which some part, had it run before v, would lower f at W;
//   - all of them if nothing but free operators is left.
// For the others, had any part run early: f at each later set is f of the same set without that part, plus
// what the part adds at W, which is not negative. So no valley appears that E does not have. Only the parts
// of the components that matter are enumerated.
//
// All of it holds backwards too: Y meets the sets before v instead of joining those after it. Where the rest
// can be run from Y, but Y cannot be reached, the starts X <= Y are to be refuted.
//
// A start that the rest can be run from must also be reached. If it cannot, and Y is just the ancestors of v,
// no larger start of the same parts can be (meet its sets with this one), and the start is refuted; else
// nothing is known.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <stowage/order/detail/cut_network.hpp>
#include <stowage/order/detail/frontier.hpp>
#include <stowage/order/detail/interval.hpp>
#include <stowage/order/detail/live_state.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/refutation_log.hpp>
#include <stowage/order/detail/valley_floor.hpp>
#include <stowage/order/detail/valley_solver.hpp>

namespace stowage::order::detail {

/// How far a split may go.
struct split_settings {
    std::size_t starts = 200;       ///< starts tried before it gives up
    std::uint64_t states = 20'000;  ///< states a valley
    std::size_t most_parts = 4000;  ///< parts of one component that are enumerated
    valley_settings valleys{};      ///< how valleys are sought
};

/// From which side of v the starts are refuted.
enum class split_side : std::uint8_t {
    after,   ///< starts are sets X >= Y from which the rest must be run
    before,  ///< the same backwards: sets X <= Y that must be reached
};

/// One split of one problem, which runs forwards. Refers to the problem.
template <class = void>
class basic_split_search {
public:
    /// Splits at `v`, with the least Y or, from the side before v, with the greatest. O(size) and a flow.
    basic_split_search(const order_problem& problem, operator_index v, split_side side,
                       const split_settings& settings = {})
        : problem_(&problem), forwards_(side == split_side::after), settings_(settings) {
        if (!forwards_) turned_ = reverse(problem);
        v_ = turn(v);
        cut_network network(problem);
        network.least_live(v);
        std::vector<std::uint8_t> in_least;
        if (forwards_) {
            network.mark_least(in_least);
        } else {
            network.mark_greatest(in_least);
        }
        in_base_.resize(problem.operator_count());
        free_.assign(problem.operator_count(), 0);
        for (operator_index op = 0; op < in_base_.size(); ++op)
            in_base_[turn(op)] = op != v && (in_least[op] != 0) == forwards_;
        for (const operator_index op : network.free_operators()) {
            if (in_base_[turn(op)] != 0) {
                base_is_ancestors_ = false;
            } else {
                free_[turn(op)] = 1;
            }
        }
        find_components();
    }

    /// From now on what is refuted is written to `log`; a refutation that cannot be written leaves the
    /// decision open.
    void record(split_log& log) {
        log_ = &log;
        log.base.clear();
        log.starts.clear();
        for (operator_index op = 0; op < in_base_.size(); ++op) {
            if (turn(op) != v_ && (in_base_[turn(op)] != 0) == forwards_) log.base.push_back(log.names[op]);
        }
    }
    /// found: order() is within `bound`; refuted: no order is; open: limits ran out, or the split cannot
    /// tell.
    verdict decide(std::int64_t bound, search_effort& effort) {
        starts_.clear();
        starts_.push_back({{}, std::vector<std::uint8_t>(components_.size(), 0)});
        tried_ = 0;
        while (!starts_.empty()) {
            if (++tried_ > settings_.starts || effort.exhausted()) return verdict::open;
            const start from = std::move(starts_.back());
            starts_.pop_back();
            const verdict result = try_start(from, bound, effort);
            if (result != verdict::refuted) return result;
            if (starts_.size() > settings_.starts) return verdict::open;
        }
        return verdict::refuted;
    }
    /// Starts tried by the last decide().
    [[nodiscard]] std::size_t starts_tried() const noexcept { return tried_; }
    /// After found.
    [[nodiscard]] const std::vector<operator_index>& order() const noexcept { return order_; }

private:
    static constexpr std::uint32_t no_component = static_cast<std::uint32_t>(-1);
    /// The operators on one side of v, and the search on them.
    struct half {
        half(const interval& whole, const valley_settings& settings)
            : part(&whole), solver(whole.problem, settings) {}
        verdict decide(std::int64_t bound, std::uint64_t states, search_effort& effort) {
            search_effort own = effort;
            own.least_refused = std::numeric_limits<std::int64_t>::max();
            const verdict result = solver.decide(bound - part->base, states, own);
            effort.absorb(own, part->base);
            return result;
        }
        void append_order(std::vector<operator_index>& order) const {
            for (const operator_index op : solver.order())
                order.push_back(part->origin[op]);
        }
        const interval* part;
        valley_solver solver;
    };
    struct start {
        std::vector<operator_index> early;  // free operators that run before v
        std::vector<std::uint8_t> decided;  // components whose early part is fixed
    };

    /// The problem as the starts see it; all sets are kept in its numbering.
    [[nodiscard]] const order_problem& view() const noexcept { return forwards_ ? *problem_ : turned_; }
    /// From the numbering of the problem to that of view() and back.
    [[nodiscard]] operator_index turn(operator_index op) const noexcept {
        return forwards_ ? op : static_cast<operator_index>(problem_->operator_count() - 1 - op);
    }
    /// Components of the free operators outside Y, by tensors and dependencies.
    void find_components() {
        component_.assign(view().operator_count(), no_component);
        std::vector<operator_index> stack;
        for (operator_index seed = 0; seed < free_.size(); ++seed) {
            if (free_[seed] == 0 || component_[seed] != no_component) continue;
            const auto number = static_cast<std::uint32_t>(components_.size());
            components_.emplace_back();
            const auto reach = [&](operator_index op) {
                if (free_[op] == 0 || component_[op] != no_component) return;
                component_[op] = number;
                stack.push_back(op);
            };
            reach(seed);
            while (!stack.empty()) {
                const operator_index op = stack.back();
                stack.pop_back();
                components_.back().push_back(op);
                for (const operator_index other : view().predecessors[op])
                    reach(other);
                for (const operator_index other : view().successors[op])
                    reach(other);
                for (const tensor_index t : view().tensors[op]) {
                    for (const operator_index other : view().users[t])
                        reach(other);
                }
            }
            std::sort(components_.back().begin(), components_.back().end());
        }
    }

    verdict try_start(const start& from, std::int64_t bound, search_effort& effort) {
        std::vector<std::uint8_t> before = in_base_;
        for (const operator_index op : from.early)
            before[op] = 1;
        // An order of the problem that runs v at this set.
        std::vector<operator_index> sequence;
        const auto append = [&](bool first) {
            for (operator_index op = 0; op < before.size(); ++op) {
                if (turn(op) != v_ && ((before[turn(op)] != 0) == forwards_) == first) sequence.push_back(op);
            }
        };
        append(true);
        const std::size_t place = sequence.size();
        sequence.push_back(turn(v_));
        append(false);
        interval_cutter cutter(*problem_, sequence);
        // Further components only add to f here: Y is least, and they are apart from those decided.
        const std::int64_t hill =
            cutter.live_before(place) + problem_->born_bytes[turn(v_)] + problem_->workspace[turn(v_)];
        if (hill > bound) {
            effort.least_refused = std::min(effort.least_refused, hill);
            if (log_ != nullptr) note_start(from).by_hill = true;
            return verdict::refuted;
        }
        const interval first = cutter.cut(0, place);
        const interval last = cutter.cut(place + 1, sequence.size());
        half rest(forwards_ ? last : first, settings_.valleys);
        const verdict runs = rest.decide(bound, settings_.states, effort);
        if (runs == verdict::open) return runs;
        if (runs == verdict::refuted) {
            if (log_ != nullptr && !write(note_start(from), rest, bound, effort)) return verdict::open;
            return branch(from, before, rest);
        }
        half head(forwards_ ? first : last, settings_.valleys);
        const verdict reached = head.decide(bound, settings_.states, effort);
        if (reached == verdict::refuted) {
            if (!base_is_ancestors_) return verdict::open;
            if (log_ == nullptr) return reached;
            start_log& note = note_start(from);
            note.by_other_half = true;
            return write(note, head, bound, effort) ? reached : verdict::open;
        }
        if (reached == verdict::open) return reached;
        order_.clear();
        (forwards_ ? head : rest).append_order(order_);
        order_.push_back(turn(v_));
        (forwards_ ? rest : head).append_order(order_);
        return verdict::found;
    }

    start_log& note_start(const start& from) {
        log_->starts.emplace_back();
        for (const operator_index op : from.early)
            log_->starts.back().early.push_back(log_->names[turn(op)]);
        return log_->starts.back();
    }
    bool write(start_log& note, const half& refuted, std::int64_t bound, search_effort& effort) const {
        std::vector<operator_index> names;
        names.reserve(refuted.part->origin.size());
        for (const operator_index op : refuted.part->origin)
            names.push_back(log_->names[op]);
        return log_refutation(refuted.part->problem, refuted.solver, bound - refuted.part->base, names,
                              log_->states, effort, note.refutation);
    }

    /// The search from a start is refuted: adds the starts that could still do.
    verdict branch(const start& from, const std::vector<std::uint8_t>& before, const half& rest) {
        if (rest.solver.failed_forwards() != forwards_) return verdict::open;
        std::vector<std::uint8_t> settled = before;  // in W, or committed from the other end
        settled[v_] = 1;
        const std::vector<operator_index> front(rest.solver.front().begin(), rest.solver.front().end());
        const std::vector<operator_index> back = rest.solver.back();
        for (const operator_index op : forwards_ ? front : back)
            settled[turn(rest.part->origin[op])] = 1;
        const std::vector<std::uint8_t> in_w = settled;
        for (const operator_index op : forwards_ ? back : front) {
            const operator_index original = turn(rest.part->origin[op]);
            if (free_[original] != 0) return verdict::open;
            settled[original] = 1;
        }
        std::vector<std::uint8_t> explored(before.size(), 0);
        const std::vector<operator_index> seen =
            log_ != nullptr ? log_->starts.back().refutation.explored : rest.solver.explored();
        for (const operator_index op : seen)
            explored[turn(rest.part->origin[op])] = 1;
        std::vector<std::uint8_t> matters(components_.size(), 0);
        mark_by_contact(in_w, settled, explored, matters);
        mark_by_descent(from, in_w, matters);
        start next = from;
        for (std::size_t c = 0; c < components_.size(); ++c) {
            if (matters[c] == 0 || next.decided[c] != 0) continue;
            next.decided[c] = 1;
            if (log_ != nullptr)
                log_->starts.back().branched.push_back(log_->names[turn(components_[c].front())]);
            if (!add_starts(next, components_[c])) return verdict::open;
        }
        return verdict::refuted;
    }
    void mark_by_contact(const std::vector<std::uint8_t>& in_w, const std::vector<std::uint8_t>& settled,
                         const std::vector<std::uint8_t>& explored,
                         std::vector<std::uint8_t>& matters) const {
        const auto touch = [&](operator_index op) {
            if (free_[op] != 0 && in_w[op] == 0) matters[component_[op]] = 1;
        };
        bool only_free_left = true;
        for (operator_index op = 0; op < in_w.size(); ++op) {
            if (free_[op] != 0 || in_w[op] != 0) continue;
            if (settled[op] == 0) only_free_left = false;
            const auto predecessors = view().predecessors[op];
            if (explored[op] != 0) {
                for (const operator_index other : predecessors)
                    touch(other);
                for (const operator_index other : view().successors[op])
                    touch(other);
                for (const tensor_index t : view().tensors[op]) {
                    for (const operator_index other : view().users[t])
                        touch(other);
                }
                continue;
            }
            const bool joined =
                std::all_of(predecessors.begin(), predecessors.end(), [&](operator_index other) {
                    return in_w[other] != 0 || free_[other] != 0 || explored[other] != 0;
                });
            if (!joined) continue;
            for (const operator_index other : predecessors)
                touch(other);
        }
        if (!only_free_left) return;
        for (operator_index op = 0; op < in_w.size(); ++op)
            touch(op);
    }
    void mark_by_descent(const start& from, const std::vector<std::uint8_t>& in_w,
                         std::vector<std::uint8_t>& matters) {
        frontier state(view());
        valley_floor floor(view());
        for (operator_index op = 0; op < in_w.size(); ++op) {
            if (in_w[op] != 0) state.run(op);
        }
        const std::size_t length = state.trail().size();
        const std::int64_t live = state.live();
        for (std::size_t c = 0; c < components_.size(); ++c) {
            if (from.decided[c] != 0 || matters[c] != 0) continue;
            for (const operator_index op : components_[c]) {
                if (in_w[op] == 0) state.run(op);
            }
            if (state.trail().size() > length) floor.descend(state, length);
            if (state.live() < live) matters[c] = 1;
            state.rewind(length);
        }
    }
    /// Adds a start for each part of `component` but the empty one; false if there are too many.
    bool add_starts(const start& next, const std::vector<operator_index>& component) {
        // Parts by their operators in program order: one is in or out, in only if its predecessors are.
        std::vector<std::uint8_t> in(free_.size(), 0);
        std::vector<std::vector<operator_index>> parts = {{}};
        for (const operator_index op : component) {
            const std::size_t count = parts.size();
            for (std::size_t k = 0; k < count; ++k) {
                for (const operator_index other : parts[k])
                    in[other] = 1;
                const auto predecessors = view().predecessors[op];
                const bool can =
                    std::all_of(predecessors.begin(), predecessors.end(),
                                [&](operator_index other) { return free_[other] == 0 || in[other] != 0; });
                for (const operator_index other : parts[k])
                    in[other] = 0;
                if (!can) continue;
                parts.push_back(parts[k]);
                parts.back().push_back(op);
            }
            if (parts.size() > settings_.most_parts || parts.size() + starts_.size() > settings_.starts + 1)
                return false;
        }
        std::stable_sort(parts.begin(), parts.end(),
                         [](const auto& a, const auto& b) { return a.size() > b.size(); });
        for (const std::vector<operator_index>& part : parts) {
            if (part.empty()) continue;
            starts_.push_back(next);
            starts_.back().early.insert(starts_.back().early.end(), part.begin(), part.end());
        }
        return true;
    }

    const order_problem* problem_;
    bool forwards_;
    order_problem turned_;
    split_settings settings_;
    operator_index v_ = 0;
    std::vector<std::uint8_t> in_base_;     // Y
    bool base_is_ancestors_ = true;         // Y holds the ancestors of v and nothing else
    std::vector<std::uint8_t> free_;        // free at v and not in Y
    std::vector<std::uint32_t> component_;  // of each operator in free_
    std::vector<std::vector<operator_index>> components_;
    std::vector<start> starts_;
    std::size_t tried_ = 0;
    std::vector<operator_index> order_;
    split_log* log_ = nullptr;
};
using split_search = basic_split_search<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_split_search<>;
#endif

}  // namespace stowage::order::detail
