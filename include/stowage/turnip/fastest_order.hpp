#pragma once
// The order for least time: updates of weights and optimizer state run as soon as they can, so that what they
// need comes in, and what they make goes out, while the rest of the backward pass computes. Where that is no
// gain, the order stays. Source: papers/offload.md, "Freedom of the kernels' order"; measured on the captured
// training steps, whose optimizer runs last.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/graph/stages.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/order/depth_first.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/detail/shared_time.hpp>
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
/// and depth-first order with them; plans each for least bytes, quickly, and lets `Policy` compile in the one
/// whose plan runs fastest; a later candidate must be faster by a hundredth. Bounds are those of the order
/// that was chosen: compiled::order. Where the goal is bytes, the order stays.
template <compile_policy Policy = residency>
struct fastest_order {
    Policy policy{};  ///< what compiles in the order that was chosen

    [[nodiscard]] compiled operator()(const taskgraph& task, std::span<const operator_index> order,
                                      const compile_options& asked) const {
        if (asked.goal != goal::time) return policy(task, order, asked);
        const detail::shared_time options = detail::share_time(asked, 4);
        return policy(task, chosen(task, order, options.choosing), options.compiling);
    }
    [[nodiscard]] std::string name() const { return "fastest order, " + policy.name(); }

private:
    static constexpr double least_gain = 0.01;  // quick plans tell orders apart no better

    [[nodiscard]] static std::vector<operator_index> chosen(const taskgraph& task,
                                                            std::span<const operator_index> order,
                                                            const compile_options& asked) {
        const auto depth_first = order::depth_first{}(task.program);
        std::vector<std::vector<operator_index>> candidates{{order.begin(), order.end()}};
        for (std::vector<operator_index> other :
             {early_updates(task.program, order), early_updates(task.program, depth_first)}) {
            if (std::find(candidates.begin(), candidates.end(), other) == candidates.end())
                candidates.push_back(std::move(other));
        }
        if (candidates.size() == 1) return candidates.front();
        const residency quick{{.bound_evaluations = 60, .relaxation_work = 0, .branching = false}};
        compile_options least = asked;
        least.goal = goal::bytes;
        least.limits.states = std::min<std::uint64_t>(asked.limits.states, 20'000);
        if (asked.limits.time)
            least.limits.time = *asked.limits.time / static_cast<std::int64_t>(candidates.size());
        std::size_t best = 0;
        double fastest = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < candidates.size() && !asked.limits.stop.stop_requested(); ++k) {
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
