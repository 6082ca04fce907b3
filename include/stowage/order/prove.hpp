#pragma once
// Why no order of a program keeps within a bound, as a list of steps that a checker can redo one by one with
// a maximum flow and a depth-first search of its own (verify/order_proof.hpp; docs/proofs.md has the argument
// for each step). Written after an optimum is known, by the rules of papers/order.md with every conclusion
// kept: reductions, independent groups, segments, commits, probing, splits, branching.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/detail/branching_pair.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/precedence_prober.hpp>
#include <stowage/order/detail/problem_parts.hpp>
#include <stowage/order/detail/refutation_log.hpp>
#include <stowage/order/detail/residual.hpp>
#include <stowage/order/detail/split_search.hpp>
#include <stowage/order/detail/valley_solver.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/order/proof.hpp>

namespace stowage::order {

/// How a proof is sought.
struct proof_options {
    detail::parts_settings parts{};                 ///< rules 6 to 8; contraction, which no step says, never
    std::uint64_t commit_states = 500;              ///< states a valley while the ends are committed
    std::uint64_t written_states = 50'000;          ///< states that one search without an end may have
    detail::probing_settings probing{};             ///< rule 15
    detail::split_settings split{.states = 4'000};  ///< rules 9 and 14
    std::size_t split_operators = 4;                ///< operators of least slack that are split at
    std::size_t nodes = 1'000;                      ///< branchings
};

namespace detail {

/// Seeks and writes the proof for one program. Refers to the problem.
template <class = void>
class basic_order_prover {
public:
    basic_order_prover(const order_problem& problem, const proof_options& options, budget& account)
        : problem_(&problem), options_(options), effort_{.account = &account} {
        options_.parts.reductions.contract = false;
    }

    [[nodiscard]] std::optional<order_proof> prove(std::int64_t bound,
                                                   std::span<const operator_index> known) {
        problem_parts parts(*problem_, options_.parts);
        parts.offer(known);
        order_proof proof{bound, {}, {}};
        std::vector<std::uint8_t> kept(problem_->operator_count(), 0);
        for (const operator_index op : parts.reduced().origin)
            kept[op] = 1;
        for (operator_index op = 0; op < kept.size(); ++op) {
            if (kept[op] == 0) proof.left_out.push_back(op);
        }
        if (parts.between() > bound) {
            const std::vector<operator_index>& names = parts.reduced().origin;
            const auto at = std::lower_bound(names.begin(), names.end(), parts.between_at());
            keep_group(parts, static_cast<operator_index>(at - names.begin()), proof.steps);
            add(proof.steps, proof_rule::cut, {parts.between_at()});
            return proof;
        }
        for (const std::size_t k : parts.parts_above(bound)) {
            nodes_ = 0;
            proof.steps = isolate(parts, k);
            part_bench& part = parts.bench(k, *effort_.account, 1);
            std::vector<operator_index> names(part.bench.problem().operator_count());
            for (operator_index op = 0; op < names.size(); ++op)
                names[op] = parts.origin(k, op);
            residual rest(part.bench.problem(), part.bench.best(), bound - part.base);
            if (refute(rest, names, proof.steps)) return proof;
            if (effort_.exhausted()) break;
        }
        return std::nullopt;
    }

private:
    using steps = std::vector<proof_step>;

    /// The step that leaves only the independent group of `op`, as the reduced problem numbers it; none where
    /// that is all.
    static void keep_group(const problem_parts& parts, operator_index op, steps& to) {
        const std::vector<std::uint32_t>& group = parts.segments().group;
        std::vector<operator_index> members;
        for (operator_index other = 0; other < group.size(); ++other) {
            if (group[other] == group[op]) members.push_back(parts.reduced().origin[other]);
        }
        if (members.size() < group.size()) add(to, proof_rule::only, std::move(members));
    }
    /// Steps that leave only part `k`.
    [[nodiscard]] static steps isolate(const problem_parts& parts, std::size_t k) {
        const auto [first, last] = parts.span_of(k);
        const std::vector<operator_index>& order = parts.segments().order;
        const order_problem& problem = parts.reduced().problem;
        const auto name = [&](operator_index op) { return parts.reduced().origin[op]; };
        const std::vector<std::uint32_t>& group = parts.segments().group;
        std::size_t group_first = first;  // where its group begins and ends in the order
        std::size_t group_last = last;
        while (group_first > 0 && group[order[group_first - 1]] == group[order[first]])
            --group_first;
        while (group_last < order.size() && group[order[group_last]] == group[order[first]])
            ++group_last;
        steps result;
        keep_group(parts, order[first], result);
        const auto free_from = [&](std::size_t place) {
            const operator_index v = order[place];
            const std::vector<std::uint8_t> before = reach(problem.predecessors, v);
            const std::vector<std::uint8_t> after = reach(problem.successors, v);
            for (std::size_t at = group_last; at-- > place + 1;) {
                if (after[order[at]] == 0)
                    result.push_back({proof_rule::lazy, {name(order[at]), name(v)}, {}, {}});
            }
            for (std::size_t at = group_first; at < place; ++at) {
                if (before[order[at]] == 0)
                    result.push_back({proof_rule::sink, {name(order[at]), name(v)}, {}, {}});
            }
        };
        if (first > group_first) free_from(first - 1);
        if (last < group_last) free_from(last);
        if (first > group_first || last < group_last) {
            add(result, proof_rule::within,
                {first > group_first ? name(order[first - 1]) : no_operator,
                 last < group_last ? name(order[last]) : no_operator});
        }
        return result;
    }
    [[nodiscard]] static std::vector<std::uint8_t> reach(const rows& next, operator_index v) {
        std::vector<std::uint8_t> reached(next.begin.size() - 1, 0);
        std::vector<operator_index> stack{v};
        while (!stack.empty()) {
            const operator_index op = stack.back();
            stack.pop_back();
            for (const operator_index other : next[op]) {
                if (reached[other] != 0) continue;
                reached[other] = 1;
                stack.push_back(other);
            }
        }
        return reached;
    }
    static void add(steps& to, proof_rule rule, std::vector<operator_index> operators,
                    std::vector<std::vector<operator_index>> states = {}) {
        to.push_back({rule, std::move(operators), std::move(states), {}});
    }
    static void add_commits(steps& to, const half_log& log) {
        if (!log.front.empty()) add(to, proof_rule::front, log.front);
        if (!log.back.empty()) add(to, proof_rule::back, log.back);
    }
    static void add_refutation(steps& to, const half_log& log) {
        add_commits(to, log);
        add(to, log.at_front ? proof_rule::front_ends : proof_rule::back_ends, {}, log.states);
    }
    [[nodiscard]] static std::vector<operator_index> names_of(const residual& rest,
                                                              const std::vector<operator_index>& names) {
        std::vector<operator_index> result(rest.problem().operator_count());
        for (operator_index op = 0; op < result.size(); ++op)
            result[op] = names[rest.origin(op)];
        return result;
    }

    /// Appends steps that refute the bound of `rest`, whose whole has these names; false if it cannot.
    bool refute(residual& rest, const std::vector<operator_index>& names, steps& to) {
        if (++nodes_ > options_.nodes || effort_.exhausted()) return false;
        constexpr int most_rounds = 3;
        for (int round = 0; round < most_rounds; ++round) {
            const std::vector<operator_index> now = names_of(rest, names);
            valley_solver solver(rest.problem());
            const verdict committed = solver.decide(rest.bound(), options_.commit_states, effort_);
            if (committed == verdict::found) return false;
            half_log log;
            if (committed == verdict::refuted && log_refutation(rest.problem(), solver, rest.bound(), now,
                                                                options_.written_states, effort_, log)) {
                add_refutation(to, log);
                return true;
            }
            log_commits(solver, now, log);
            add_commits(to, log);
            rest.keep(solver);
            precedence_prober prober(rest, options_.probing);
            const verdict probed = prober.run(effort_);
            for (const auto& [before, after, at] : prober.log())
                add(to, proof_rule::before, {names[before], names[after], names[at]});
            if (probed == verdict::refuted) {
                if (prober.refuted_at() != no_operator)
                    add(to, proof_rule::cut, {names[prober.refuted_at()]});
                return true;
            }
            if (prober.added() == 0) break;
        }
        return refute_further(rest, names, to);
    }
    bool refute_further(residual& rest, const std::vector<operator_index>& names, steps& to) {
        const auto tight = rest.least_slack(12, effort_);
        if (tight.empty() || effort_.exhausted()) return false;
        const std::vector<operator_index> now = names_of(rest, names);
        if (tight.front().first < 0) {
            add(to, proof_rule::cut, {now[tight.front().second]});
            return true;
        }
        for (std::size_t k = 0; k < std::min(tight.size(), options_.split_operators); ++k) {
            for (const split_side from : {split_side::after, split_side::before}) {
                if (split(rest, now, tight[k].second, from, to)) return true;
                if (effort_.exhausted()) return false;
            }
        }
        const branching_pair pair = choose_pair(rest, tight, effort_);
        proof_step step{proof_rule::either, {now[pair.first], now[pair.second]}, {}, {{}, {}}};
        for (const bool turned : {false, true}) {
            residual child = rest;
            const std::pair<operator_index, operator_index> dependency =
                turned ? std::pair(pair.second, pair.first) : std::pair(pair.first, pair.second);
            if (!child.add_dependencies({dependency})) continue;
            if (!refute(child, names, step.cases[turned ? 1 : 0])) return false;
        }
        to.push_back(std::move(step));
        return true;
    }
    bool split(const residual& rest, const std::vector<operator_index>& names, operator_index v,
               split_side from, steps& to) {
        split_search search(rest.problem(), v, from, options_.split);
        split_log log;
        log.names = names;
        log.states = options_.written_states;
        search.record(log);
        if (search.decide(rest.bound(), effort_) != verdict::refuted) return false;
        proof_step step{from == split_side::after ? proof_rule::split_after : proof_rule::split_before,
                        {names[v]},
                        {log.base},
                        {}};
        for (const start_log& start : log.starts) {
            steps& of_case = step.cases.emplace_back();
            add(of_case, proof_rule::start, start.early, {start.branched});
            if (start.by_hill) continue;
            if (start.by_other_half) add(of_case, proof_rule::other_side, {});
            add_refutation(of_case, start.refutation);
        }
        to.push_back(std::move(step));
        return true;
    }

    const order_problem* problem_;
    proof_options options_;
    search_effort effort_;
    std::size_t nodes_ = 0;
};
using order_prover = basic_order_prover<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_order_prover<>;
#endif

}  // namespace detail

/// Seeks a proof that every legal order of `graph` has a peak above `bound`. `known` is a legal order, best
/// one of least peak. Nothing if `account` runs out, if some order keeps within the bound, or if the options
/// are too tight. Time as the search that found the bound; memory as the proof.
template <class = void>
[[nodiscard]] std::optional<order_proof> prove_no_order_within(const tensor_graph& graph, std::int64_t bound,
                                                               std::span<const operator_index> known,
                                                               budget& account,
                                                               const proof_options& options = {}) {
    const detail::order_problem problem = detail::make_order_problem(graph);
    return detail::order_prover(problem, options, account).prove(bound, known);
}

}  // namespace stowage::order
