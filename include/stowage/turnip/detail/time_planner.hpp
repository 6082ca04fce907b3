#pragma once
// Least time: many plans, which differ in what leaves (by the moment bound's prices of lanes and memory, or
// by class of buffers, of nearly the fewest bytes), in how much of the capacity is reserved for copies in
// flight, and in how far ahead copies begin; the one whose simulated run is shortest is kept. Source:
// papers/offload.md, "What mattered".

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/fnv.hpp>
#include <stowage/detail/random.hpp>
#include <stowage/layout/capacity.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/later_addresses.hpp>
#include <stowage/turnip/detail/moment_bound.hpp>
#include <stowage/turnip/detail/prefetch.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_planner.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/detail/stower.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Makes plans of one model until one is as fast as the bound, or the account is exhausted. Everything given
/// must outlive it.
template <class = void>
class basic_time_planner {
public:
    /// `perturbed`, `loosens`: see residency_options.
    basic_time_planner(const taskgraph& task, const residency_model& model,
                       std::span<const std::int64_t> capacities, const machine& machine,
                       const search_limits& limits, std::size_t perturbed, bool loosens)
        : task_(task), model_(model), capacities_(capacities.begin(), capacities.end()), machine_(machine),
          limits_(limits), most_perturbed_(perturbed), loosens_(loosens), random_(limits.seed) {}

    /// `run(plan)` gives the seconds of a plan, or infinity if it may not be used; it keeps the best itself.
    /// `timed`: what the moment bound says of the gaps, by some divisions of the order.
    template <class Run>
    void operator()(const residency_hints& hints, std::span<const timed_gaps> timed, double bound,
                    double best, Run run, budget& account) {
        value_gaps(hints, timed);
        const auto over = [&] { return best <= bound * 1.001 || account.exhausted(); };
        std::array<leader, 2> leaders;  // of those by prices, and by class
        std::array<std::size_t, 2> first_shapes{};
        const auto attempt_next = [&](valuation& by) {
            const std::size_t group = by.by_class ? 1 : 0;
            const variant v{by.values, reserves[by.tried++], 1.5};
            first_shape_ = first_shapes[group];
            const double seconds = attempt(v, run, account);
            first_shapes[group] = first_shape_;
            best = std::min(best, seconds);
            ++by.idle;
            if (seconds < by.seconds) by.idle = 0;
            by.seconds = std::min(by.seconds, seconds);
            if (seconds < leaders[group].seconds) leaders[group] = {v, seconds, shape_};
        };
        // What is lengthened so far that no layout fits may be faster still: some of it then moves inside the
        // device to make room.
        const auto loosen = [&](leader& near) {
            for (std::size_t k = 1; loosens_ && !near.loosened && k < near.shape; ++k) {
                if (over()) return;
                best = std::min(best, attempt(near.at, run, account, k));
            }
            near.loosened = true;
        };
        for (valuation& by : valuations_) {
            if (by.by_class) loosen(leaders[0]);
            if (over()) return;
            attempt_next(by);
        }
        while (valuation* const next = most_promising()) {
            if (over()) return;
            attempt_next(*next);
        }
        std::stable_sort(leaders.begin(), leaders.end(),
                         [](const leader& a, const leader& b) { return a.seconds < b.seconds; });
        leader fastest = leaders.front();
        for (leader& near : leaders) {
            if (near.seconds <= 1.5 * best) loosen(near);
            first_shape_ = 0;
            for (const double reach : {1.0, 3.0, 8.0}) {
                for (const double factor : {1.0, 0.5, 1.7}) {
                    if (near.seconds > 1.03 * best) continue;
                    if (over()) return;
                    const variant v{near.at.values, near.at.reserve * factor, reach};
                    const double seconds = attempt(v, run, account);
                    best = std::min(best, seconds);
                    if (seconds < fastest.seconds) fastest = {v, seconds, shape_};
                }
            }
        }
        for (std::size_t tries = 0; tries < most_perturbed_ && !over(); ++tries)
            best = std::min(best, perturb(fastest.at, best, run, account));
    }

private:
    static constexpr double never = std::numeric_limits<double>::infinity();

    /// A way to value gaps, and how plans by it did.
    struct valuation {
        std::size_t values = 0;  ///< position in values_
        bool by_class = false;   ///< by class of buffers; false: by prices of the lanes
        std::size_t most = 0;    ///< so many of the reserves are tried
        std::size_t tried = 0;
        std::size_t idle = 0;  ///< tries since one was faster
        double seconds = never;
    };
    struct variant {
        std::size_t values = 0;  ///< position in values_: what gaps are worth
        double reserve = 0;      ///< of the capacity: left for copies in flight
        double reach = 1;        ///< see lengthen
    };
    struct leader {
        variant at{};
        double seconds = never;
        std::size_t shape = 0;  ///< the one that it was laid out in
        bool loosened = false;
    };
    /// How rectangles are laid out, from the most to the least room for copies that hide.
    struct shape {
        double slack = 0;  ///< of the capacity: what lengthened rectangles leave free; 1: none is lengthened
        bool tied = true;  ///< what starts and ends at one place stays there; else it walks home at the end
    };
    void value_gaps(const residency_hints& hints, std::span<const timed_gaps> timed) {
        const auto add = [&](std::vector<double> values, bool by_class, std::size_t most) {
            valuations_.push_back({values_.size(), by_class, most});
            values_.push_back(std::move(values));
        };
        for (std::size_t t = 0; t < timed.size(); ++t) {
            std::vector<double> both(timed[t].values);
            std::vector<double> shared(hints.values);
            for (std::size_t g = 0; g < both.size(); ++g) {
                both[g] *= least_share + timed[t].stays[g];
                shared[g] *= least_share + timed[t].stays[g];
            }
            const std::size_t most = t == 0 ? reserves.size() : 3;
            add(timed[t].values, false, most);
            add(std::move(both), false, most);
            add(std::move(shared), false, most);
        }
        const bool wraps = std::any_of(model_.gaps.begin(), model_.gaps.end(),
                                       [](const model_gap& gap) { return gap.wrapped; });
        for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
            if (!wraps && share > 0) continue;
            // Where the lanes have prices, classes of victims are second guesses.
            add(of_class(hints.values, share), true, timed.empty() || share == 0 ? reserves.size() : 3);
        }
    }
    /// Whose next reserve is tried next: one whose plans were fast, or one that waits while others do not
    /// improve; null: all are tried.
    [[nodiscard]] valuation* most_promising() {
        constexpr double patience = 0.02;
        valuation* found = nullptr;
        double least = never;
        for (valuation& by : valuations_) {
            if (by.tried == by.most) continue;
            const double seconds = by.seconds * (1 + patience * static_cast<double>(by.idle));
            if (found != nullptr && seconds >= least) continue;
            found = &by;
            least = seconds;
        }
        return found;
    }
    /// Values of `base`, the best plan so far, with some of them changed by chance; a faster one becomes the
    /// base. Its seconds.
    template <class Run>
    [[nodiscard]] double perturb(variant& base, double best, Run& run, budget& account) {
        std::vector<double> values(values_[base.values]);
        for (double& value : values) {
            if (random_.below(8) == 0) value *= std::exp2(6 * (random_.uniform() - 0.5));
        }
        values_.push_back(std::move(values));
        const variant v{values_.size() - 1, base.reserve, base.reach};
        const double seconds = attempt(v, run, account);
        if (seconds < best)
            base = v;
        else
            values_.pop_back();
        return seconds;
    }
    /// The values, with `share` of the buffers that return to their places made to leave rather than others.
    [[nodiscard]] std::vector<double> of_class(std::vector<double> values, double share) const {
        for (std::size_t g = 0; g < values.size(); ++g) {
            const model_gap& gap = model_.gaps[g];
            if (!gap.wrapped) continue;
            const double place = static_cast<double>((gap.instance * 2654435761U) >> 16U) / 65536.0;
            values[g] *= place < share ? 0.9 : 1.1;
        }
        return values;
    }
    /// `only`: the one shape that is tried, whether a layout fits or not.
    template <class Run>
    [[nodiscard]] double attempt(const variant& v, Run& run, budget& account, std::size_t only = any_shape) {
        std::vector<std::vector<std::int64_t>> withheld;
        for (memory_index d = 0; d < model_.devices; ++d) {
            withheld.emplace_back(model_.steps.size(),
                                  static_cast<std::int64_t>(v.reserve * static_cast<double>(capacities_[d])));
        }
        residency_state decision(model_, capacities_, withheld);
        insert_by_value(decision, values_[v.values]);
        if (only == any_shape && was_tried(decision, v.reach)) return never;
        if (!account.spend(20 * (model_.steps.size() + model_.gaps.size()))) return never;
        // Rectangles that are lengthened need some more slack than the decision's own.
        constexpr std::array<shape, 7> shapes{
            {{0, true}, {0.03, true}, {0.08, true}, {0.08, false}, {0.2, true}, {1, true}, {1, false}}};
        stay_plan plan;
        bool fits = false;
        // Plans of one program mostly fit in like shapes: those far from the last one that did are passed
        // over.
        for (std::size_t k = only == any_shape ? first_shape_ : only; k < shapes.size(); ++k) {
            const shape& as = shapes[k];
            stay_plan trial = make_rectangles(model_, decision.kept());
            bool parted = false;
            for (memory_index d = 0; d < model_.devices; ++d) {
                const auto room =
                    static_cast<std::int64_t>((1 - as.slack) * static_cast<double>(capacities_[d]));
                if (as.slack < 1) lengthen(task_, decision, trial, d, room, machine_, v.reach);
                if (!as.tied) parted = untie(model_, trial, d) || parted;
            }
            if (!as.tied && !parted && !plan.rectangles.empty()) continue;  // just as before
            fits = true;
            for (memory_index d = 0; d < model_.devices; ++d)
                fits = lay_out(trial, d, account) && fits;
            plan = std::move(trial);
            shape_ = k;
            if (only != any_shape) break;
            if (fits) first_shape_ = k > 0 ? k - 1 : 0;
            if (fits || account.exhausted()) break;
        }
        if (fits) choose_later_addresses(task_.program, model_, plan, capacities_);
        // Where no layout fits, room is made by moves inside the device: worth a few trials only.
        if (only == any_shape && !fits && ++unfit_ > most_unfit) return never;
        stowed_plan made;
        made.planned = decision.cost();
        made.laid_out = fits;
        stower sweep(task_, model_, decision, std::move(plan), capacities_, false);
        return sweep(made.lines) ? run(made) : never;
    }
    /// True if the decision was met before, with copies that reach as far: many ways to value gaps end in
    /// one. (Two that share a hash by chance would be taken for one.)
    [[nodiscard]] bool was_tried(const residency_state& decision, double reach) {
        stowage::detail::fnv1a_64 hash;
        hash.add(std::bit_cast<std::uint64_t>(reach));
        for (std::size_t g = 0; g < decision.kept().size(); ++g) {
            if (decision.is_kept(static_cast<std::uint32_t>(g))) hash.add(g);
        }
        if (std::find(tried_.begin(), tried_.end(), hash.value()) != tried_.end()) return true;
        tried_.push_back(hash.value());
        return false;
    }
    [[nodiscard]] bool lay_out(stay_plan& plan, memory_index device, const budget& account) const {
        std::vector<std::uint32_t> owner;
        const layout::problem problem = layout_problem_of(model_, task_.program, plan, device, owner);
        const std::uint64_t states = std::min<std::uint64_t>(20'000, limits_.states);
        const search_limits limits{.states = std::max<std::uint64_t>(states, 2 * problem.buffers.size()),
                                   .time = account.time_left(),
                                   .states_too = true,
                                   .stop = limits_.stop,
                                   .seed = limits_.seed};
        const layout::capacity_answer answer = layout::fit(problem, capacities_[device], limits);
        take_addresses(plan, owner, answer.offsets);
        return answer.least_capacity <= capacities_[device];
    }

    static constexpr std::size_t most_unfit = 4;
    static constexpr std::size_t any_shape = ~std::size_t{0};
    static constexpr double least_share = 0.02;  // a gap of which nothing stays is not worthless
    static constexpr std::array<double, 5> reserves{0.02, 0.0, 0.06, 0.12, 0.2};  // shares of the capacity
    const taskgraph& task_;
    const residency_model& model_;
    std::vector<std::int64_t> capacities_;
    const machine& machine_;
    search_limits limits_;
    std::size_t most_perturbed_;
    bool loosens_;
    stowage::detail::splitmix64 random_;
    std::vector<valuation> valuations_;
    std::vector<std::vector<double>> values_;  // by gap, for each way to value them
    std::vector<std::uint64_t> tried_;         // hashes of decisions, with how far copies reach
    std::size_t unfit_ = 0;
    std::size_t shape_ = 0;        // of the last attempt
    std::size_t first_shape_ = 0;  // the first one that is tried
};
using time_planner = basic_time_planner<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_time_planner<>;
#endif

}  // namespace stowage::turnip::detail
