#pragma once
// Decides a residency, lays it out and stows it, with as much slack below the capacity, at the steps
// concerned, as the layout turns out to need; of several attempts the one that moves the fewest bytes is
// kept. Source: papers/offload.md, "Addresses": plan some per cent below the capacity and lay out.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/layout/capacity.hpp>
#include <stowage/turnip/detail/gap_index.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/later_addresses.hpp>
#include <stowage/turnip/detail/making_room.hpp>
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
    if (!hints.start.empty()) {
        const double top = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
        for (std::size_t g = 0; g < keys.size(); ++g)
            keys[g] += hints.start[g] != 0 ? top : 0;
    }
    insert_by_value(best, keys);
    const auto objective = [&](const residency_state& state) {
        return static_cast<double>(state.cost()) +
               hints.split_cost * static_cast<double>(state.split_bytes());
    };
    const auto target = static_cast<double>(hints.target);
    const auto offer = [&](const auto& insert) {
        if (objective(best) <= target || !account.spend(1 + model.gaps.size() / 8)) return;
        residency_state made(model, capacities, withheld);
        insert(made);
        if (objective(made) < objective(best)) best = std::move(made);
    };
    offer([&](residency_state& made) { shared_insertion(made, values)(); });
    offer([&](residency_state& made) { insert_by_value(made, values, true); });
    offer([&](residency_state& made) { insert_by_value(made, hints.shares); });
    for (std::size_t g = 0; g < keys.size(); ++g)
        keys[g] = values[g] * (0.02 + hints.shares[g]);
    offer([&](residency_state& made) { insert_by_value(made, keys); });
    offer([&](residency_state& made) { insert_by_value(made, gap_values(model, {})); });
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
    /// `hard_layouts`: see residency_options.
    basic_residency_planner(const taskgraph& task, const residency_model& model,
                            std::span<const std::int64_t> capacities, const search_limits& limits,
                            std::size_t hard_layouts)
        : task_(task), model_(model), capacities_(capacities.begin(), capacities.end()), limits_(limits),
          most_hard_layouts_(hard_layouts) {}

    /// Fewest bytes. False if no plan could be stowed.
    [[nodiscard]] bool operator()(const residency_hints& hints, bool save_late, budget& account,
                                  stowed_plan& best) {
        save_late_ = save_late;
        found_ = false;
        hard_to_tie_ = is_long();  // with gaps in their lifetimes, layouts would take a minute
        repair_work_ = 0;
        hard_layouts_ = 0;
        residency_hints now = hints;
        slack withheld(model_.devices, std::vector<std::int64_t>(model_.steps.size(), 0));
        residency_hints first = hints;
        std::int64_t least = 0;
        std::size_t rounds = 0;
        for (std::size_t round = 0; round < most_rounds; ++round, ++rounds) {
            slack more = withheld;
            const bool last = round + 1 == most_rounds;
            const attempt made = attempt_with(now, withheld, round, last, account, best, &more);
            if (round == 0) {
                least = made.planned;
                first.start = made.kept;
            }
            if (made.pointless || made.exact || account.exhausted()) break;
            withheld.swap(more);
            // Too full at the ends to sort out who lies where: fewer should be away in between.
            if (made.fits) now.split_cost = 0.5;
            now.start = made.fits ? std::vector<char>() : made.kept;
        }
        if (!found_) return stow_least(account, best);
        if (rounds == 0 || is_long()) return true;
        search_slack(first, withheld, least, account, best);
        search_other_values(std::move(first), withheld, least, account, best);
        return found_;
    }

private:
    using slack = std::vector<std::vector<std::int64_t>>;  // by device, by step: bytes
    struct attempt {
        std::int64_t planned = 0;
        bool pointless = false;  // it moves no less than what there is
        bool fits = false;       // the layout does
        bool exact = false;      // it was stowed as planned
        std::vector<char> kept = {};
    };
    static constexpr std::size_t most_rounds = 8;
    static constexpr std::size_t most_tries = 6;
    static constexpr std::size_t most_other_tries = 12;
    static constexpr std::size_t most_try_work = 30'000;  // accesses, in all of these
    static constexpr std::size_t most_repairs = 8;
    static constexpr std::size_t most_repair_work = 40'000;  // rectangles laid out
    static constexpr std::uint64_t layout_part = 8;

    [[nodiscard]] bool is_long() const noexcept { return model_.steps.size() > 20'000; }
    /// One decision, its layout and its script; the better one becomes `best`. `more`, if given, receives
    /// what to withhold beside where the layout sticks out.
    attempt attempt_with(const residency_hints& hints, const slack& withheld, std::size_t round, bool last,
                         budget& account, stowed_plan& best, slack* more) {
        attempt result;
        budget part = account.slice(account.left() / 2);
        residency_state decision =
            decide_residency(model_, capacities_, withheld, hints, limits_.seed + round, part);
        account.settle(part);
        result.planned = decision.cost();
        result.pointless = found_ && result.planned >= best.lines.bytes_moved;
        if (result.pointless) return result;
        result.kept = decision.kept();
        stay_plan plan = make_rectangles(model_, result.kept);
        bool tied = true;
        std::vector<memory_index> too_full = lay_out_all(plan, account, tied);
        for (const memory_index d : too_full) {
            if (more != nullptr) withhold(plan, d, round, (*more)[d]);
        }
        const bool repaired =
            !too_full.empty() && make_room(decision, plan, too_full, round, account, tied, best);
        result.fits = too_full.empty();
        stowed_plan made;
        made.planned = result.planned;
        made.laid_out = result.fits || repaired;
        if (made.laid_out) choose_later_addresses(task_.program, model_, plan, capacities_);
        // Moves to make room are many in long programs; more slack comes first there.
        if (!made.laid_out && is_long() && !last && !account.exhausted()) return result;
        stay_plan loose = plan;
        stower sweep(task_, model_, decision, std::move(plan), capacities_, save_late_);
        bool stowed = sweep(made.lines);
        if (!stowed && !found_) {
            stack_tied(model_, task_.program, loose);
            stower again(task_, model_, decision, std::move(loose), capacities_, save_late_);
            stowed = again(made.lines);
        }
        result.exact = stowed && (made.lines.bytes_moved <= result.planned || (result.fits && tied));
        if (stowed && (!found_ || better(made.lines, best.lines))) {
            best = std::move(made);
            found_ = true;
        }
        return result;
    }
    /// The plan in which nothing stays that need not, laid out as residency's least capacity is found: where
    /// that does, so does this.
    [[nodiscard]] bool stow_least(budget& account, stowed_plan& best) {
        const residency_state decision(model_, capacities_);
        stay_plan plan = make_rectangles(model_, decision.kept());
        for (memory_index d = 0; d < model_.devices; ++d) {
            if (lay_out(plan, d, account, 1) > capacities_[d]) return false;
        }
        best = stowed_plan();
        best.planned = decision.cost();
        best.laid_out = true;
        choose_later_addresses(task_.program, model_, plan, capacities_);
        stower sweep(task_, model_, decision, std::move(plan), capacities_, save_late_);
        return sweep(best.lines);
    }
    /// Lays out all devices; those that do not fit. `tied`: see fits.
    [[nodiscard]] std::vector<memory_index> lay_out_all(stay_plan& plan, budget& account, bool& tied) {
        std::vector<memory_index> too_full;
        for (memory_index d = 0; d < model_.devices; ++d) {
            if (!fits(plan, d, account, tied)) too_full.push_back(d);
        }
        return too_full;
    }
    /// Lets go of some more gaps where the layout sticks out, until it fits; false, and nothing changed, if
    /// that would move as much as `best`, or takes too many layouts.
    [[nodiscard]] bool make_room(residency_state& decision, stay_plan& plan,
                                 const std::vector<memory_index>& too_full, std::size_t round,
                                 budget& account, bool& tied, const stowed_plan& best) {
        if (is_long()) return false;
        const gap_index index(model_);
        stowage::detail::splitmix64 random(limits_.seed + round);
        for (int noise = 0; noise < 2; ++noise) {
            residency_state state = decision;
            stay_plan trial = plan;
            std::vector<memory_index> full = too_full;
            std::vector<std::uint32_t> dropped;
            for (std::size_t k = 0; k < most_repairs; ++k) {
                if (repair_work_ > most_repair_work || account.exhausted()) return false;
                const bool enough = std::all_of(full.begin(), full.end(), [&](memory_index d) {
                    return drop_where_it_sticks_out(task_.program, trial, d, capacities_[d], index, noise,
                                                    random, state, dropped);
                });
                if (!enough || (found_ && state.cost() >= best.lines.bytes_moved)) break;
                trial = make_rectangles(model_, state.kept());
                repair_work_ += trial.rectangles.size();
                bool still_tied = true;
                full = lay_out_all(trial, account, still_tied);
                if (!full.empty()) continue;
                tied = still_tied;
                take_back(state, trial, std::move(dropped), account, tied);
                plan = std::move(trial);
                decision = std::move(state);
                return true;
            }
        }
        return false;
    }
    /// Of the gaps that were dropped, the dearest first, keeps again those with which it still fits.
    void take_back(residency_state& state, stay_plan& plan, std::vector<std::uint32_t> dropped,
                   budget& account, bool& tied) {
        if (dropped.size() < 2) return;
        std::sort(dropped.begin(), dropped.end(), [&](std::uint32_t a, std::uint32_t b) {
            const double x = state.marginal(a);
            const double y = state.marginal(b);
            return x != y ? x > y : a < b;
        });
        dropped.resize(std::min(dropped.size(), most_repairs));
        for (const std::uint32_t g : dropped) {
            if (repair_work_ > most_repair_work || account.exhausted()) return;
            if (!state.fits(g)) continue;
            state.keep(g);
            stay_plan trial = make_rectangles(model_, state.kept());
            repair_work_ += trial.rectangles.size();
            bool still_tied = true;
            if (lay_out_all(trial, account, still_tied).empty()) {
                plan = std::move(trial);
                tied = still_tied;
            } else {
                state.drop(g);
            }
        }
    }
    /// True if the rectangles of one device fit. `tied` becomes false where partners must part: those that
    /// are far from fitting are not tied again.
    [[nodiscard]] bool fits(stay_plan& plan, memory_index d, budget& account, bool& tied) {
        if (!hard_to_tie_) {
            const std::int64_t arena = lay_out_harder(plan, d, account);
            if (arena <= capacities_[d]) return true;
            if (!untie(model_, plan, d)) return false;
            hard_to_tie_ = arena - capacities_[d] > capacities_[d] / 50;
        } else {
            static_cast<void>(untie(model_, plan, d));
        }
        tied = false;
        return lay_out_harder(plan, d, account) <= capacities_[d];
    }
    /// Addresses for the rectangles of one device; where only little sticks out, a few times in all (fewer
    /// where there are many rectangles), with as much search as the whole plan was given.
    [[nodiscard]] std::int64_t lay_out_harder(stay_plan& plan, memory_index d, budget& account) {
        const std::int64_t arena = lay_out(plan, d, account, layout_part);
        const std::int64_t over = arena - capacities_[d];
        if (over <= 0 || over > capacities_[d] / 100 || is_long() || hard_layouts_ >= most_hard_layouts_)
            return arena;
        hard_layouts_ += 1 + plan.rectangles.size() / 4096;  // with many, a search gets less far
        stay_plan trial = plan;
        const std::int64_t better = lay_out(trial, d, account, 1);
        if (better >= arena) return arena;
        plan = std::move(trial);
        return better;
    }
    /// Other decisions that are as good may be easier to lay out; and between no slack and what did, there
    /// may be less that does.
    void search_slack(residency_hints hints, const slack& withheld, std::int64_t least, const budget& clock,
                      stowed_plan& best) {
        budget account = clock.beside(limits_.states);
        const std::vector<char> start = hints.start;
        double lower = 0;
        double upper = 1;
        for (std::size_t k = 0; k < most_tries && !account.exhausted(); ++k) {
            if (near(best, least)) return;
            const bool no_slack = k < most_tries / 3;
            const double middle = no_slack ? 0 : (lower + upper) / 2;
            hints.start = k % 2 == 0 ? std::vector<char>() : start;
            const slack less = part_of(withheld, middle);
            budget part = account.slice(account.left() / (most_tries - k));
            const attempt made = attempt_with(hints, less, most_rounds + k, false, part, best, nullptr);
            account.settle(part);
            if (!no_slack) (made.pointless || made.exact ? upper : lower) = middle;
        }
    }
    /// Near-optimal decisions differ in which large buffers leave, and so in how well they lay out: other
    /// values of gaps lead to others. Every other try withholds a part of the slack. The fewer accesses there
    /// are, the more tries.
    void search_other_values(residency_hints hints, const slack& withheld, std::int64_t least,
                             const budget& clock, stowed_plan& best) {
        budget account = clock.beside(limits_.states);
        stowage::detail::splitmix64 random(limits_.seed);
        const std::vector<double> values = hints.values;
        hints.start.clear();
        repair_work_ = 0;
        const std::size_t tries = std::min(most_other_tries, most_try_work / (1 + model_.accesses.size()));
        for (std::size_t k = 0; k < tries && !account.exhausted(); ++k) {
            if (near(best, least)) return;
            for (std::size_t g = 0; g < values.size(); ++g)
                hints.values[g] = values[g] * std::exp2(random.uniform() - 0.5);
            budget part = account.slice(account.left() / (tries - k));
            const slack less = part_of(withheld, k % 2 == 0 ? 0 : 0.5 * random.uniform());
            attempt_with(hints, less, most_rounds + most_tries + k, false, part, best, nullptr);
            account.settle(part);
        }
    }
    [[nodiscard]] static slack part_of(slack withheld, double part) {
        for (std::vector<std::int64_t>& steps : withheld) {
            for (std::int64_t& bytes : steps)
                bytes = static_cast<std::int64_t>(part * static_cast<double>(bytes));
        }
        return withheld;
    }
    /// True if `best` moves hardly more than the `least` that a decision did.
    [[nodiscard]] static bool near(const stowed_plan& best, std::int64_t least) {
        return static_cast<double>(best.lines.bytes_moved) <= 1.001 * static_cast<double>(least);
    }
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
    /// Addresses for the rectangles of one device, by one `part`th of the search; the arena that they take.
    [[nodiscard]] std::int64_t lay_out(stay_plan& plan, memory_index device, budget& account,
                                       std::uint64_t part) {
        std::vector<std::uint32_t> owner;
        const layout::problem problem = layout_problem_of(model_, task_.program, plan, device, owner);
        search_limits limits = limits_;
        limits.states = std::max<std::uint64_t>(limits_.states / part, 2 * problem.buffers.size());
        limits.time = account.share_of_time(4).time_left();
        const layout::capacity_answer answer = layout::fit(problem, capacities_[device], limits);
        take_addresses(plan, owner, answer.offsets);
        return answer.least_capacity;
    }

    const taskgraph& task_;
    const residency_model& model_;
    std::vector<std::int64_t> capacities_;
    search_limits limits_;
    std::size_t most_hard_layouts_;
    bool save_late_ = false;
    bool found_ = false;
    bool hard_to_tie_ = false;
    std::size_t repair_work_ = 0;
    std::size_t hard_layouts_ = 0;
};
using residency_planner = basic_residency_planner<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_residency_planner<>;
#endif

}  // namespace stowage::turnip::detail
