#pragma once
// Decides a residency, lays it out and stows it, with as much slack below the capacity, at the steps
// concerned, as the layout turns out to need; of several attempts the one that moves the fewest bytes is
// kept. Source: papers/offload.md, "Addresses": plan some per cent below the capacity and lay out.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/capacity.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/later_addresses.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_search.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/detail/script.hpp>
#include <stowage/turnip/detail/stower.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// What a bound knows that helps to decide: how much a gap is worth, and how much of it a relaxation keeps.
struct residency_hints {
    std::vector<double> values;    ///< by gap
    std::vector<double> shares;    ///< by gap, 0 to 1
    std::int64_t target = 0;       ///< no decision costs less
    double split_cost = 0.01;      ///< see residency_search
    std::vector<char> start = {};  ///< by gap: 1 if a good decision keeps it; may be empty
};

/// The best of a few insertions, then a local search within the account. `withheld`: see residency_state.
template <class = void>
[[nodiscard]] residency_state decide_residency(const residency_model& model,
                                               std::span<const std::int64_t> capacities,
                                               std::span<const std::vector<std::int64_t>> withheld,
                                               const residency_hints& hints, std::uint64_t seed,
                                               budget& account) {
    residency_state best(model, capacities, withheld);
    // Split buffers make layouts hard: their inner gaps are worth more.
    std::vector<double> values(hints.values);
    for (std::size_t g = 0; g < values.size(); ++g) {
        if (model.instances[model.gaps[g].instance].tied && !model.gaps[g].wrapped)
            values[g] *= 1 + hints.split_cost;
    }
    std::vector<double> keys(values);
    // A decision that was good elsewhere comes first, where it still fits.
    for (std::size_t g = 0; g < hints.start.size(); ++g)
        keys[g] *= hints.start[g] != 0 ? 1e9 : 1;
    insert_by_value(best, keys);
    const auto objective = [&](const residency_state& state) {
        return static_cast<double>(state.cost()) +
               hints.split_cost * static_cast<double>(state.split_bytes());
    };
    const auto target = static_cast<double>(hints.target);
    const auto offer = [&](std::span<const double> offered, bool larger_first) {
        if (objective(best) <= target || !account.spend(1 + model.gaps.size() / 8)) return;
        residency_state made(model, capacities, withheld);
        insert_by_value(made, offered, larger_first);
        if (objective(made) < objective(best)) best = std::move(made);
    };
    if (!hints.start.empty()) offer(values, false);
    offer(values, true);
    offer(hints.shares, false);
    for (std::size_t g = 0; g < keys.size(); ++g)
        keys[g] = values[g] * (0.02 + hints.shares[g]);
    offer(keys, false);
    offer(gap_values(model, {}), false);
    if (objective(best) > target) {
        residency_search search(model, values, seed);
        search(best, hints.target, hints.split_cost, account);
    }
    return best;
}

/// One plan: what happens with addresses, and the decision behind it.
struct stowed_plan {
    script lines;
    std::int64_t planned = 0;  ///< bytes that the decision moves
    bool laid_out = false;     ///< the layout fits: nothing was moved to make room
};

/// Makes stowed plans of one model. Everything given must outlive it.
template <class = void>
class basic_residency_planner {
public:
    basic_residency_planner(const taskgraph& task, const residency_model& model,
                            std::span<const std::int64_t> capacities, const search_limits& limits)
        : task_(task), model_(model), capacities_(capacities.begin(), capacities.end()), limits_(limits) {}

    /// Fewest bytes. False if no plan could be stowed.
    [[nodiscard]] bool operator()(const residency_hints& hints, bool save_late, budget& account,
                                  stowed_plan& best) {
        bool found = false;
        residency_hints now = hints;
        std::vector<std::vector<std::int64_t>> withheld(model_.devices,
                                                        std::vector<std::int64_t>(model_.steps.size(), 0));
        for (std::size_t round = 0; round < most_rounds; ++round) {
            budget part = account.slice(account.left() / 2);
            const residency_state decision =
                decide_residency(model_, capacities_, withheld, now, limits_.seed + round, part);
            account.settle(part);
            if (found && decision.cost() >= best.lines.bytes_moved) break;
            stay_plan plan = make_rectangles(model_, decision.kept());
            bool fits = true;
            for (memory_index d = 0; d < model_.devices; ++d) {
                if (lay_out(plan, d, account) <= capacities_[d]) continue;
                fits = false;
                if (round > 0 || decision.split_bytes() == 0) withhold(plan, d, round, withheld[d]);
            }
            stowed_plan made;
            made.planned = decision.cost();
            made.laid_out = fits;
            for (memory_index d = 0; fits && d < model_.devices; ++d)
                choose_later_addresses(task_.program, model_, plan, d, capacities_[d]);
            stay_plan loose = plan;
            stower sweep(task_, model_, decision, std::move(plan), capacities_, save_late);
            // Moves to make room are many in long programs; more slack comes first there.
            const bool waits =
                !fits && model_.steps.size() > 20'000 && round + 1 < most_rounds && !account.exhausted();
            bool stowed = !waits && sweep(made.lines);
            if (!waits && !stowed && !found) {
                stack_tied(model_, task_.program, loose);
                stower again(task_, model_, decision, std::move(loose), capacities_, save_late);
                stowed = again(made.lines);
            }
            if (stowed && (!found || better(made.lines, best.lines))) {
                best = std::move(made);
                found = true;
            }
            if (fits || account.exhausted()) break;
            now.split_cost = 0.5;
            if (round > 0 || decision.split_bytes() == 0) {
                now.start = decision.kept();
            } else {
                now.start.clear();
            }
        }
        return found;
    }

private:
    static constexpr std::size_t most_rounds = 8;
    [[nodiscard]] static bool better(const script& a, const script& b) {
        return a.bytes_moved != b.bytes_moved ? a.bytes_moved < b.bytes_moved
                                              : a.bytes_moved_within < b.bytes_moved_within;
    }
    /// Where rectangles stick out of the capacity, gaps may take that much less from now on.
    void withhold(const stay_plan& plan, memory_index device, std::size_t round,
                  std::vector<std::int64_t>& withheld) const {
        std::vector<std::int64_t> more(withheld.size(), 0);
        for (const rectangle& stay : plan.rectangles) {
            const model_instance& instance = model_.instances[stay.instance];
            if (instance.device != device) continue;
            const std::int64_t upper = stay.address + task_.program.bytes(instance.buffer);
            for (std::uint32_t s = stay.lower; upper > capacities_[device] && s <= stay.upper; ++s)
                more[s] = std::max(more[s], upper - capacities_[device]);
        }
        for (std::size_t s = 0; s < plan.workspace.size(); ++s) {
            const model_step& step = model_.steps[s];
            if (plan.workspace[s] < 0 || step.device != device) continue;
            more[s] =
                std::max(more[s], plan.workspace[s] + task_.program.workspace(step.op) - capacities_[device]);
        }
        const std::int64_t margin = static_cast<std::int64_t>(round) * (capacities_[device] / 4000);
        for (std::size_t s = 0; s < withheld.size(); ++s) {
            if (more[s] > 0) withheld[s] += more[s] + margin;
        }
    }
    /// Addresses for the rectangles of one device; the arena that they take.
    [[nodiscard]] std::int64_t lay_out(stay_plan& plan, memory_index device, budget& account) {
        std::vector<std::uint32_t> owner;
        const layout::problem problem = layout_problem_of(model_, task_.program, plan, device, owner);
        search_limits limits = limits_;
        limits.states = std::max<std::uint64_t>(limits_.states / 4, 2 * problem.buffers.size());
        if (const auto left = account.time_left()) limits.time = *left / 4;
        const layout::capacity_answer answer = layout::fit(problem, capacities_[device], limits);
        take_addresses(plan, owner, answer.offsets);
        return answer.least_capacity;
    }

    const taskgraph& task_;
    const residency_model& model_;
    std::vector<std::int64_t> capacities_;
    search_limits limits_;
};
using residency_planner = basic_residency_planner<>;

}  // namespace stowage::turnip::detail
