#pragma once
// Refutations, written down: what a valley_solver committed at both ends and the search without an end from
// there; and a split, start by start.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/order/detail/exhaustion.hpp>
#include <stowage/order/detail/frontier.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/valley_engine.hpp>
#include <stowage/order/detail/valley_solver.hpp>

namespace stowage::order::detail {

/// The log of one refuted decision, in the names of its operators.
struct half_log {
    std::vector<operator_index> front;                ///< committed at the front, in running order
    std::vector<operator_index> back;                 ///< committed at the back, in running order
    bool at_front = true;                             ///< the end from which nothing leads on
    std::vector<std::vector<operator_index>> states;  ///< see exhaustion
    std::vector<operator_index> explored;             ///< ready at some state, in the problem's own numbers
};

/// One start of a split, and why nothing leads on from it; in names.
struct start_log {
    std::vector<operator_index> early;     ///< free operators that it has beside Y (or that Y has beside it)
    bool by_hill = false;                  ///< v itself does not fit
    bool by_other_half = false;            ///< it cannot be reached, rather than be left
    half_log refutation;                   ///< if it is not by_hill
    std::vector<operator_index> branched;  ///< an operator of each component whose parts are tried then
};

/// The log of a refuted split.
struct split_log {
    std::vector<operator_index> names;  ///< of the problem's operators; to be given
    std::uint64_t states = 20'000;      ///< states that may be written for one start; to be given
    std::vector<operator_index> base;   ///< Y
    std::vector<start_log> starts;      ///< as they were tried
};

/// What `solver` has committed on `problem`, in names.
template <class = void>
void log_commits(const valley_solver& solver, std::span<const operator_index> names, half_log& log) {
    log.front.clear();
    for (const operator_index op : solver.front())
        log.front.push_back(names[op]);
    log.back.clear();
    for (const operator_index op : solver.back())
        log.back.push_back(names[op]);
}

/// Fills `log` after `solver` has refuted `bound` on `problem`. False if `states` were not enough.
template <class = void>
[[nodiscard]] bool log_refutation(const order_problem& problem, const valley_solver& solver,
                                  std::int64_t bound, std::span<const operator_index> names,
                                  std::uint64_t states, search_effort& effort, half_log& log) {
    log_commits(solver, names, log);
    log.at_front = solver.failed_forwards();
    const auto count = static_cast<operator_index>(problem.operator_count());
    const auto turn = [&](operator_index op) {
        return log.at_front ? op : static_cast<operator_index>(count - 1 - op);
    };
    const order_problem turned = log.at_front ? order_problem{} : reverse(problem);
    frontier state(log.at_front ? problem : turned);
    std::vector<operator_index> own = solver.back();
    std::vector<operator_index> other(solver.front().begin(), solver.front().end());
    if (log.at_front) {
        std::swap(own, other);
    } else {
        std::reverse(own.begin(), own.end());
    }
    for (const operator_index op : own)
        state.run(turn(op));
    for (const operator_index op : other)
        state.block(turn(op));
    std::vector<operator_index> turned_names(count);
    for (operator_index op = 0; op < count; ++op)
        turned_names[turn(op)] = names[op];
    exhaustion search(state, turned_names);
    if (!search.write(bound, count - other.size(), states, effort)) return false;
    log.states = search.log();
    log.explored = search.explored();
    for (operator_index& op : log.explored)
        op = turn(op);
    return true;
}

}  // namespace stowage::order::detail
