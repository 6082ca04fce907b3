#pragma once
// Decides a residency, lays it out and stows it, with as much slack below the capacity as the layout turns
// out to need; of several attempts the one that moves the fewest bytes is kept. Source: papers/offload.md,
// "Addresses": plan some per cent below the capacity and lay out.

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
    std::vector<char> start = {};  ///< by gap: 1 if a good decision keeps it; may be empty
};

/// The best of a few insertions, then a local search within the account.
template <class = void>
[[nodiscard]] residency_state decide_residency(const residency_model& model,
                                               std::span<const std::int64_t> capacities,
                                               const residency_hints& hints, std::uint64_t seed,
                                               budget& account) {
    residency_state best(model, capacities);
    for (std::uint32_t g = 0; g < hints.start.size(); ++g) {
        if (hints.start[g] != 0 && best.fits(g)) best.keep(g);
    }
    insert_by_value(best, hints.values);
    const auto offer = [&](std::span<const double> keys, bool larger_first) {
        if (best.cost() <= hints.target || !account.spend(1 + model.gaps.size() / 8)) return;
        residency_state made(model, capacities);
        insert_by_value(made, keys, larger_first);
        if (made.cost() < best.cost()) best = std::move(made);
    };
    if (!hints.start.empty()) offer(hints.values, false);
    offer(hints.values, true);
    offer(hints.shares, false);
    std::vector<double> keys(hints.values);
    for (std::size_t g = 0; g < keys.size(); ++g)
        keys[g] *= 0.02 + hints.shares[g];
    offer(keys, false);
    offer(gap_values(model, {}), false);
    if (best.cost() > hints.target) {
        residency_search search(model, hints.values, seed);
        search(best, hints.target, account);
    }
    return best;
}

/// One plan: what happens with addresses, and the decision behind it.
struct stowed_plan {
    script lines;
    std::int64_t planned = 0;  ///< bytes that the decision moves
    double slack = 0;          ///< of the capacity
    bool laid_out = false;     ///< the layout fits: nothing was moved to make room
};

/// Makes stowed plans of one model. Everything given must outlive it.
template <class = void>
class basic_residency_planner {
public:
    basic_residency_planner(const taskgraph& task, const residency_model& model,
                            std::span<const std::int64_t> capacities, const search_limits& limits)
        : task_(task), model_(model), capacities_(capacities.begin(), capacities.end()), limits_(limits) {
        for (memory_index d = 0; d < model.devices; ++d)
            least_.push_back(*std::max_element(model.forced[d].begin(), model.forced[d].end()));
    }

    /// Fewest bytes. False if no plan could be stowed.
    [[nodiscard]] bool operator()(const residency_hints& hints, bool save_late, budget& account,
                                  stowed_plan& best) {
        bool found = false;
        std::vector<std::int64_t> room = capacities_;
        for (std::size_t round = 0; round < most_rounds; ++round) {
            budget part = account.slice(std::max<std::uint64_t>(account.left() / 4, 1));
            const residency_state decision =
                decide_residency(model_, room, hints, limits_.seed + round, part);
            account.settle(part);
            if (found && decision.cost() >= best.lines.bytes_moved) break;
            stay_plan plan = make_rectangles(model_, decision.kept());
            std::vector<std::int64_t> lacking(model_.devices, 0);
            bool fits = true;
            for (memory_index d = 0; d < model_.devices; ++d) {
                lacking[d] = std::max<std::int64_t>(0, lay_out(plan, d, account) - capacities_[d]);
                fits = fits && lacking[d] == 0;
            }
            stowed_plan made;
            made.planned = decision.cost();
            made.laid_out = fits;
            made.slack = 1 - static_cast<double>(room[0]) /
                                 static_cast<double>(std::max<std::int64_t>(1, capacities_[0]));
            stower sweep(task_, model_, decision, std::move(plan), capacities_, save_late);
            if (sweep(made.lines) && (!found || better(made.lines, best.lines))) {
                best = std::move(made);
                found = true;
            }
            if (fits || account.exhausted()) break;
            bool shrunk = false;
            for (memory_index d = 0; d < model_.devices; ++d) {
                if (lacking[d] == 0) continue;
                const std::int64_t margin = round == 0 ? 0 : capacities_[d] / 2000;
                const std::int64_t smaller = std::max(least_[d], room[d] - lacking[d] - margin);
                shrunk = shrunk || smaller < room[d];
                room[d] = smaller;
            }
            if (!shrunk) break;
        }
        return found;
    }

private:
    static constexpr std::size_t most_rounds = 6;
    [[nodiscard]] static bool better(const script& a, const script& b) {
        return a.bytes_moved != b.bytes_moved ? a.bytes_moved < b.bytes_moved
                                              : a.bytes_moved_within < b.bytes_moved_within;
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
    std::vector<std::int64_t> least_;  // by device
    search_limits limits_;
};
using residency_planner = basic_residency_planner<>;

}  // namespace stowage::turnip::detail
