#pragma once
// Least time: many plans of nearly the fewest bytes, which differ in what class of buffers leaves, in how
// much of the capacity is reserved for copies in flight, and in how far ahead copies begin; the one whose
// simulated run is shortest is kept. Source: papers/offload.md, "What mattered".

#include <algorithm>
#include <array>
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
    basic_time_planner(const taskgraph& task, const residency_model& model,
                       std::span<const std::int64_t> capacities, const machine& machine,
                       const search_limits& limits)
        : task_(task), model_(model), capacities_(capacities.begin(), capacities.end()), machine_(machine),
          limits_(limits) {}

    /// `run(plan)` gives the seconds of a plan, or infinity if it may not be used; it keeps the best itself.
    template <class Run>
    void operator()(const residency_hints& hints, double bound, double best, Run run, budget& account) {
        const bool wraps = std::any_of(model_.gaps.begin(), model_.gaps.end(),
                                       [](const model_gap& gap) { return gap.wrapped; });
        std::vector<variant> variants;
        for (const double reserve : {0.02, 0.06, 0.0, 0.12, 0.2}) {
            for (const double share : {0.0, 1.0, 0.5, 0.25, 0.75}) {
                if (!wraps && share > 0) continue;
                variants.push_back({share, reserve, 1.5});
            }
        }
        const std::uint64_t cost = 20 * (model_.steps.size() + model_.gaps.size());
        variant fastest{};
        for (const variant& v : variants) {
            if (best <= bound * 1.001 || !account.spend(cost)) return;
            const double seconds = attempt(hints, v, run, account);
            if (seconds >= best) continue;
            best = seconds;
            fastest = v;
        }
        for (const double reach : {1.0, 3.0, 8.0}) {
            for (const double factor : {1.0, 0.5, 1.7}) {
                if (best <= bound * 1.001 || !account.spend(cost)) return;
                best = std::min(
                    best, attempt(hints, {fastest.share, fastest.reserve * factor, reach}, run, account));
            }
        }
    }

private:
    struct variant {
        double share = 0;    ///< of the buffers that return to their places: those that rather leave
        double reserve = 0;  ///< of the capacity: left for copies in flight
        double reach = 1;    ///< see lengthen
    };
    template <class Run>
    [[nodiscard]] double attempt(const residency_hints& hints, const variant& v, Run& run, budget& account) {
        std::vector<double> values(hints.values);
        for (std::size_t g = 0; g < values.size(); ++g) {
            const model_gap& gap = model_.gaps[g];
            if (!gap.wrapped) continue;
            const double place = static_cast<double>((gap.instance * 2654435761U) >> 16U) / 65536.0;
            values[g] *= place < v.share ? 0.9 : 1.1;
        }
        std::vector<std::vector<std::int64_t>> withheld;
        for (memory_index d = 0; d < model_.devices; ++d) {
            withheld.emplace_back(model_.steps.size(),
                                  static_cast<std::int64_t>(v.reserve * static_cast<double>(capacities_[d])));
        }
        residency_state decision(model_, capacities_, withheld);
        insert_by_value(decision, values);
        double seconds = std::numeric_limits<double>::infinity();
        // Rectangles that are lengthened need some more slack than the decision's own.
        for (const double slack : {0.0, 0.03, 0.08}) {
            stay_plan plan = make_rectangles(model_, decision.kept());
            bool fits = true;
            for (memory_index d = 0; d < model_.devices; ++d) {
                const auto room =
                    static_cast<std::int64_t>((1 - slack) * static_cast<double>(capacities_[d]));
                lengthen(task_, decision, plan, d, room, machine_, v.reach);
                fits = lay_out(plan, d) && fits;
            }
            if (!fits && slack < 0.08 && !account.exhausted()) continue;
            for (memory_index d = 0; fits && d < model_.devices; ++d)
                choose_later_addresses(task_.program, model_, plan, d, capacities_[d]);
            // Where no layout fits, room is made by moves inside the device: worth a few trials only.
            if (!fits && ++unfit_ > most_unfit) break;
            stowed_plan made;
            made.planned = decision.cost();
            made.laid_out = fits;
            stower sweep(task_, model_, decision, std::move(plan), capacities_, false);
            if (sweep(made.lines)) seconds = std::min(seconds, run(made));
            break;
        }
        return seconds;
    }
    [[nodiscard]] bool lay_out(stay_plan& plan, memory_index device) const {
        std::vector<std::uint32_t> owner;
        const layout::problem problem = layout_problem_of(model_, task_.program, plan, device, owner);
        const search_limits limits{.states = std::max<std::uint64_t>(20'000, 2 * problem.buffers.size()),
                                   .stop = limits_.stop,
                                   .seed = limits_.seed};
        const layout::capacity_answer answer = layout::fit(problem, capacities_[device], limits);
        take_addresses(plan, owner, answer.offsets);
        return answer.least_capacity <= capacities_[device];
    }

    static constexpr std::size_t most_unfit = 4;
    const taskgraph& task_;
    const residency_model& model_;
    std::vector<std::int64_t> capacities_;
    const machine& machine_;
    search_limits limits_;
    std::size_t unfit_ = 0;
};
using time_planner = basic_time_planner<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_time_planner<>;
#endif

}  // namespace stowage::turnip::detail
