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
          limits_(limits), most_perturbed_(perturbed), loosens_(loosens) {}

    /// `run(plan)` gives the seconds of a plan, or infinity if it may not be used; it keeps the best itself.
    /// `timed`: what the moment bound says of the gaps, by some divisions of the order.
    template <class Run>
    void operator()(const residency_hints& hints, std::span<const timed_gaps> timed, double bound,
                    double best, Run run, budget& account) {
        const bool wraps = std::any_of(model_.gaps.begin(), model_.gaps.end(),
                                       [](const model_gap& gap) { return gap.wrapped; });
        std::vector<variant> variants;
        // `tried`: the first of the reserves
        const auto add = [&](std::vector<double> values, std::size_t tried) {
            constexpr std::array<double, 5> reserves{0.02, 0.06, 0.0, 0.12, 0.2};
            for (std::size_t k = 0; k < tried; ++k)
                variants.push_back({values_.size(), reserves[k], 1.5});
            values_.push_back(std::move(values));
        };
        for (std::size_t t = 0; t < timed.size(); ++t) {
            std::vector<double> both(timed[t].values);
            std::vector<double> shared(hints.values);
            for (std::size_t g = 0; g < both.size(); ++g) {
                both[g] *= least_share + timed[t].stays[g];
                shared[g] *= least_share + timed[t].stays[g];
            }
            const std::size_t tried = t == 0 ? 5 : 3;
            add(timed[t].values, tried);
            add(std::move(both), tried);
            add(std::move(shared), tried);
        }
        const std::size_t by_class = variants.size();  // those before it know the prices of the lanes
        for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
            if (!wraps && share > 0) continue;
            // Where the lanes have prices, classes of victims are second guesses.
            add(of_class(hints.values, share), timed.empty() || share == 0 ? 5 : 2);
        }
        const std::uint64_t cost = 20 * (model_.steps.size() + model_.gaps.size());
        std::array<leader, 2> leaders;  // of those by prices, and by class
        // What is lengthened so far that no layout fits may be faster still: some of it then moves inside the
        // device to make room.
        const auto loosen = [&](leader& near) {
            for (std::size_t k = 1; loosens_ && !near.loosened && k < near.shape; ++k) {
                if (best <= bound * 1.001 || !account.spend(cost)) return;
                best = std::min(best, attempt(near.at, run, account, k));
            }
            near.loosened = true;
        };
        for (std::size_t k = 0; k < variants.size(); ++k) {
            if (best <= bound * 1.001 || !account.spend(cost)) return;
            if (k == by_class) first_shape_ = 0;
            if (k == std::min(by_class, first_variants)) loosen(leaders[0]);
            const double seconds = attempt(variants[k], run, account);
            best = std::min(best, seconds);
            leader& first = leaders[k < by_class ? 0 : 1];
            if (seconds < first.seconds) first = {variants[k], seconds, shape_};
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
                    if (best <= bound * 1.001 || !account.spend(cost)) return;
                    const variant v{near.at.values, near.at.reserve * factor, reach};
                    const double seconds = attempt(v, run, account);
                    best = std::min(best, seconds);
                    if (seconds < fastest.seconds) fastest = {v, seconds, shape_};
                }
            }
        }
        perturb(fastest.at, bound, best, cost, run, account);
    }

private:
    struct variant {
        std::size_t values = 0;  ///< position in values_: what gaps are worth
        double reserve = 0;      ///< of the capacity: left for copies in flight
        double reach = 1;        ///< see lengthen
    };
    struct leader {
        variant at{};
        double seconds = std::numeric_limits<double>::infinity();
        std::size_t shape = 0;  ///< the one that it was laid out in
        bool loosened = false;
    };
    /// How rectangles are laid out, from the most to the least room for copies that hide.
    struct shape {
        double slack = 0;  ///< of the capacity: what lengthened rectangles leave free; 1: none is lengthened
        bool tied = true;  ///< what starts and ends at one place stays there; else it walks home at the end
    };
    /// Values of the best plan so far with some of them changed by chance, as often as the account allows.
    template <class Run>
    void perturb(variant base, double bound, double best, std::uint64_t cost, Run& run, budget& account) {
        stowage::detail::splitmix64 random(limits_.seed);
        for (std::size_t tries = 0; tries < most_perturbed_ && best > bound * 1.001; ++tries) {
            if (!account.spend(cost)) return;
            std::vector<double> values(values_[base.values]);
            for (double& value : values) {
                if (random.below(8) == 0) value *= std::exp2(6 * (random.uniform() - 0.5));
            }
            values_.push_back(std::move(values));
            const variant v{values_.size() - 1, base.reserve, base.reach};
            const double seconds = attempt(v, run, account);
            if (seconds < best) {
                best = seconds;
                base = v;
            } else {
                values_.pop_back();
            }
        }
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
        if (only == any_shape && was_tried(decision, v.reach)) return std::numeric_limits<double>::infinity();
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
        for (memory_index d = 0; fits && d < model_.devices; ++d)
            choose_later_addresses(task_.program, model_, plan, d, capacities_[d]);
        // Where no layout fits, room is made by moves inside the device: worth a few trials only.
        if (only == any_shape && !fits && ++unfit_ > most_unfit)
            return std::numeric_limits<double>::infinity();
        stowed_plan made;
        made.planned = decision.cost();
        made.laid_out = fits;
        stower sweep(task_, model_, decision, std::move(plan), capacities_, false);
        return sweep(made.lines) ? run(made) : std::numeric_limits<double>::infinity();
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
        const search_limits limits{.states = std::max<std::uint64_t>(20'000, 2 * problem.buffers.size()),
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
    static constexpr std::size_t first_variants = 5;  // the best of these is loosened before the others' turn
    static constexpr double least_share = 0.02;       // a gap of which nothing stays is not worthless
    const taskgraph& task_;
    const residency_model& model_;
    std::vector<std::int64_t> capacities_;
    const machine& machine_;
    search_limits limits_;
    std::size_t most_perturbed_;
    bool loosens_;
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
