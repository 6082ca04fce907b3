#pragma once
// The order for least time: updates of weights and optimizer state run as soon as they can, so that what they
// need comes in, and what they make goes out, while the rest of the backward pass computes; or an order of
// low peak, in which less has to leave at all. Where that is no gain, the order stays. Source:
// papers/offload.md, "Freedom of the kernels' order"; measured on the captured training steps, whose
// optimizer runs last, and on those in the order of a compiler that has memory enough.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/graph/stages.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/depth_first.hpp>
#include <stowage/order/local_search.hpp>
#include <stowage/order/plan.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/residency.hpp>
#include <stowage/turnip/simulate.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

/// `order`, but each operator of an update that nothing but such operators waits for runs right after the
/// last of the others that it, or an operator after it, needs first. The stages are stages_of's; `order` is
/// legal, and so is the answer. O(operators log operators + dependencies).
template <class = void>
[[nodiscard]] std::vector<operator_index> early_updates(const tensor_graph& program,
                                                        std::span<const operator_index> order) {
    const std::size_t count = order.size();
    const std::vector<stage> stages = stages_of(program);
    std::vector<char> updates(count, 0);
    std::vector<std::size_t> place(count, 0);
    std::vector<std::size_t> last_need(count, 0);  // of an update: where the last other that it needs stands
    std::vector<std::size_t> after(count, 0);      // where the operator that it runs after stands
    for (std::size_t k = count; k-- > 0;) {
        const operator_index op = order[k];
        const auto readers = program.successors(op);
        place[op] = k;
        updates[op] = stages[op] == stage::update &&
                              std::all_of(readers.begin(), readers.end(),
                                          [&](operator_index later) { return updates[later] != 0; })
                          ? 1
                          : 0;
    }
    for (const operator_index op : order) {
        for (const operator_index before : program.predecessors(op)) {
            last_need[op] = std::max(last_need[op], updates[before] != 0 ? last_need[before] : place[before]);
        }
    }
    for (std::size_t k = count; k-- > 0;) {
        const operator_index op = order[k];
        const auto readers = program.successors(op);
        after[op] = updates[op] == 0 ? k : readers.empty() ? last_need[op] : count;
        if (updates[op] == 0) continue;
        for (const operator_index later : readers)
            after[op] = std::min(after[op], after[later]);
    }
    std::vector<operator_index> early(order.begin(), order.end());
    std::sort(early.begin(), early.end(), [&](operator_index a, operator_index b) {
        if (after[a] != after[b]) return after[a] < after[b];
        return updates[a] != updates[b] ? updates[a] < updates[b] : place[a] < place[b];
    });
    return early;
}

/// A way to compile for least time that takes the order as one candidate beside the same with early updates,
/// depth-first order with them, and an order of low peak without and with them; plans each for least bytes,
/// quickly, and lets `Policy` compile in the one whose plan runs fastest; a later candidate must be faster by
/// a hundredth. Bounds are those of the order that was chosen: compiled::order. Where the goal is bytes, the
/// order stays.
template <compile_policy Policy = residency>
struct fastest_order {
    Policy policy{};  ///< what compiles in the order that was chosen
    /// States of the search for an order of low peak; 0: there is no such candidate.
    std::uint64_t peak_states = 100'000;

    [[nodiscard]] compiled operator()(const taskgraph& task, std::span<const operator_index> order,
                                      const compile_options& asked) const {
        if (asked.goal != goal::time) return policy(task, order, asked);
        const budget clock(asked.limits);
        const std::vector<operator_index> found = chosen(task, order, asked, clock.share_of_time(4));
        compile_options rest = asked;
        rest.limits = clock.rest_of(asked.limits);
        return policy(task, found, rest);
    }
    [[nodiscard]] std::string name() const { return "fastest order, " + policy.name(); }

private:
    static constexpr double least_gain = 0.01;  // quick plans tell orders apart no better

    /// The orders to choose from, each once: the one that was given first.
    [[nodiscard]] std::vector<std::vector<operator_index>> candidates_of(
        const tensor_graph& program, std::span<const operator_index> order, const search_limits& limits,
        const budget& clock) const {
        std::vector<std::vector<operator_index>> candidates{{order.begin(), order.end()}};
        const auto add = [&](std::vector<operator_index> other) {
            if (std::find(candidates.begin(), candidates.end(), other) == candidates.end())
                candidates.push_back(std::move(other));
        };
        add(early_updates(program, order));
        add(early_updates(program, order::depth_first{}(program)));
        if (peak_states == 0) return candidates;
        budget account = clock.share_of_time(4).slice(std::min(limits.states, peak_states));
        const order::solution low = order::plan(program, order::local_search{}, account, limits.seed);
        add(low.order);
        add(early_updates(program, low.order));
        return candidates;
    }
    [[nodiscard]] std::vector<operator_index> chosen(const taskgraph& task,
                                                     std::span<const operator_index> order,
                                                     const compile_options& asked,
                                                     const budget& clock) const {
        std::vector<std::vector<operator_index>> candidates =
            candidates_of(task.program, order, asked.limits, clock);
        if (candidates.size() == 1) return candidates.front();
        const residency quick{{.bound_evaluations = 60, .relaxation_work = 0, .branching = false}};
        compile_options least = asked;
        least.goal = goal::bytes;
        least.limits.states = std::min<std::uint64_t>(asked.limits.states, 20'000);
        std::size_t best = 0;
        double fastest = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < candidates.size() && !clock.without_states().exhausted(); ++k) {
            least.limits = clock.share_of_time(static_cast<int>(candidates.size() - k)).rest_of(least.limits);
            const compiled made = quick(task, candidates[k], least);
            if (!made.ok()) continue;
            const double seconds = simulate(task.program, made.memgraph, asked.machine).makespan;
            if (seconds >= (1 - least_gain) * fastest) continue;
            fastest = seconds;
            best = k;
        }
        return candidates[best];
    }
};

static_assert(compile_policy<fastest_order<>>);

}  // namespace stowage::turnip
