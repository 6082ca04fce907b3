#pragma once
// The default way to compile: decide for each buffer in which intervals of the order it is on the device, so
// that live bytes never pass the capacity and the fewest bytes move; lay the intervals out with the library's
// layout engine; derive the dependencies from shared addresses. Source: docs/design.md, "How a memgraph is
// compiled"; papers/offload.md.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/budget.hpp>
#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/capacity.hpp>
#include <stowage/status.hpp>
#include <stowage/turnip/compiled.hpp>
#include <stowage/turnip/detail/block_division.hpp>
#include <stowage/turnip/detail/bound_branching.hpp>
#include <stowage/turnip/detail/host_bound.hpp>
#include <stowage/turnip/detail/host_plan.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/detail/moment_bound.hpp>
#include <stowage/turnip/detail/parking_planner.hpp>
#include <stowage/turnip/detail/price_bound.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_planner.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/detail/script.hpp>
#include <stowage/turnip/detail/time_bound.hpp>
#include <stowage/turnip/detail/time_planner.hpp>
#include <stowage/turnip/detail/write_memgraph.hpp>
#include <stowage/turnip/options.hpp>
#include <stowage/turnip/simulate.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip {

/// Options of residency.
struct residency_options {
    std::size_t bound_evaluations =
        400;  ///< how often the bound's prices are revised; each costs O(gaps + operators)
    std::uint64_t relaxation_work =
        25'000'000;         ///< gaps and steps that the bound's relaxation may look at, rounds and all
    bool branching = true;  ///< the bound branches on large buffers; false: prices only
    /// How often in all a layout that sticks out by less than a hundredth is searched again for as long as
    /// the whole plan may be; 0: such a layout is let go of at once.
    std::size_t hard_layouts = 3;
    /// Least time: how many plans by values that chance changes are tried beside the fastest one.
    std::size_t perturbed_plans = 60;
    /// Least time: buffers may come earlier and leave later than any layout has room for; some of what is
    /// there then moves inside the device.
    bool loosened_plans = true;
    bool parking = true;  ///< several devices: what does not fit one may wait on another; false: on the host
};

namespace detail {

/// One compilation by residency. Use it once.
template <class = void>
class basic_residency_compiler {
public:
    basic_residency_compiler(const taskgraph& task, std::span<const operator_index> order,
                             const compile_options& asked, const residency_options& options)
        : task_(task), asked_(asked), options_(options), limits_(counting_states(asked.limits)),
          account_(limits_) {
        result_.order.assign(order.begin(), order.end());
        for (const memory_limit& limit : asked.devices)
            capacities_.push_back(limit.capacity);
        model_ = make_residency_model(task, order, asked.alignment);
        keep_time_to_finish();
    }

    [[nodiscard]] compiled operator()() {
        if (!has_room()) return std::move(result_);
        find_bound();
        residency_planner planner(task_, model_, capacities_, limits_, options_.hard_layouts);
        // Faster plans take most of the time.
        const budget planning = asked_.goal == goal::time ? account_.share_of_time(3) : account_;
        // Where the host is short, contents go out later, and what has no copy there yet stays longer.
        for (const double dirty_stays : {1.0, 1.0, 8.0, 1e6}) {
            const bool late = asked_.host.capacity < unlimited && tries_ > 0;
            stowed_plan plan;
            ++tries_;
            budget part = planning.slice(account_.left());
            const bool made = planner(preferring(dirty_stays), late, part, plan);
            account_.settle(part);
            if (!made) continue;
            if (accept(plan)) {
                if (asked_.goal == goal::time) result_.makespan = seconds_of(result_.memgraph);
                if (options_.parking && task_.devices > 1 && !late) park();
                // Where the host is short, its plan was hard enough to find.
                if (asked_.goal == goal::time && !late) find_faster();
                if (asked_.goal == goal::bytes && !late) use_time_left();
                return std::move(result_);
            }
            if (asked_.host.capacity == unlimited) break;
        }
        if (result_.reason.empty()) say_why_unknown();
        return std::move(result_);
    }

private:
    static constexpr std::uint64_t time_factor = 25;  // plans for least time are simulated one by one
    static constexpr std::chrono::nanoseconds time_an_access{
        2'000};                                              // to stow and to write it, with a margin
    static constexpr std::uint64_t state_growth = 4;         // from one plan to the next, with a clock
    static constexpr std::uint64_t moment_work = 8'000'000;  // accesses, in all rounds of one bound
    static constexpr std::uint64_t least_moment_rounds = 40;
    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

    /// With a clock the steps of planning keep their measure too, so that each gets its turn.
    [[nodiscard]] static search_limits counting_states(search_limits limits) {
        limits.states_too = true;
        if (limits.time) limits.states = std::max<std::uint64_t>(limits.states, 1);  // they grow by factors
        return limits;
    }
    /// What cannot be broken off: a plan is stowed, written and, where time is the goal, run in simulation.
    void keep_time_to_finish() {
        if (!limits_.time) return;
        const auto finish = (asked_.goal == goal::time ? 2 : 1) * time_an_access *
                            static_cast<std::int64_t>(model_.accesses.size());
        limits_.time = std::max(std::chrono::nanoseconds(0), *account_.time_left() - finish);
        account_ = budget(limits_);
    }
    /// False, with the reason, where an operator's operands or what is alive do not fit.
    [[nodiscard]] bool has_room() {
        for (memory_index d = 0; d < task_.devices; ++d) {
            const forced_demand top = most_forced(model_, d);
            if (top.bytes <= capacities_[d]) continue;
            result_.blamed = operator_at(model_, top.step);
            refuse(d, top.bytes, capacity_that_does(d, top.bytes),
                   model_.steps[top.step].op != no_operator
                       ? task_.program.describe_operator(result_.blamed).text("operator") + " needs "
                       : "what starts or ends on device " + std::to_string(d) + " needs ");
            return false;
        }
        std::size_t host_step = 0;
        const std::int64_t least_host = least_host_bytes(task_, model_, capacities_, host_step);
        if (least_host <= asked_.host.capacity) return true;
        result_.blamed = operator_at(model_, host_step);
        compile_options roomier = asked_;
        roomier.goal = goal::bytes;
        roomier.host.capacity = least_host;
        const compiled found = basic_residency_compiler(task_, result_.order, roomier, options_)();
        refuse(host, least_host, found.ok() ? least_host : std::max(least_host, found.least_capacity),
               "what cannot be on a device needs on the host ");
        return false;
    }
    void say_why_unknown() {
        result_.reason = "the alignments of buffers leave no room for an operator";
        for (memory_index d = 0; d < task_.devices && result_.least_capacity == 0; ++d) {
            const std::int64_t does = enough(d, capacities_[d]);
            if (does <= capacities_[d]) continue;
            result_.memory = d;
            result_.least_capacity = does;
        }
    }
    /// `least` is proven, `does` is known to do.
    void refuse(memory_index memory, std::int64_t least, std::int64_t does, std::string what) {
        result_.status = status::infeasible;
        result_.memory = memory;
        result_.least_capacity = does;
        result_.reason =
            std::move(what) + (does > least ? "at least " : "") + std::to_string(least) + " bytes";
    }
    /// The `sum` of what must be on device `d` at once, if it does, else what is enough.
    [[nodiscard]] std::int64_t capacity_that_does(memory_index d, std::int64_t sum) const {
        const std::int64_t does = enough(d, sum);
        if (does == sum) return sum;
        compile_options roomier = asked_;
        roomier.goal = goal::bytes;
        roomier.host.capacity = unlimited;
        for (memory_index e = 0; e < task_.devices; ++e)
            roomier.devices[e].capacity = e == d ? sum : unlimited;
        return basic_residency_compiler(task_, result_.order, roomier, options_)().ok() ? sum : does;
    }
    /// A capacity of device `d` that does: alignments can take more than the `sum` of what is there at once.
    [[nodiscard]] std::int64_t enough(memory_index d, std::int64_t sum) const {
        const stay_plan nothing_kept = make_rectangles(model_, std::vector<char>(model_.gaps.size(), 0));
        std::vector<std::uint32_t> owner;
        const layout::problem problem = layout_problem_of(model_, task_.program, nothing_kept, d, owner);
        return layout::fit(problem, sum, account_.rest_of(limits_)).least_capacity;
    }

    void find_bound() {
        hints_.values = gap_values(model_, {});
        hints_.shares.assign(model_.gaps.size(), 0.5);
        residency_state first(model_, capacities_);
        insert_by_value(first, hints_.values);
        budget clock = account_.without_states().share_of_time(4);
        if (task_.devices > 1) {
            find_pooled_bound(first.cost(), clock);
            return;
        }
        price_bound bound(model_, capacities_[0]);
        bound.improve(first.cost(), options_.bound_evaluations, relaxed_rounds(), &clock);
        result_.bytes_moved_lower_bound = bound.proven();
        hints_.values = gap_values(model_, bound.prices());
        hints_.shares = bound.stay_shares();
        result_.prices = bound.prices();
        residency_state priced(model_, capacities_);
        shared_insertion(priced, hints_.values)();
        if (priced.cost() < first.cost()) first = std::move(priced);
        if (options_.branching && result_.bytes_moved_lower_bound < first.cost()) {
            budget part = clock.slice(limits_.states);
            bound_branching branches(model_, capacities_[0]);
            branches(result_.bytes_moved_lower_bound, bound, first, part);
        }
        hints_.target = result_.bytes_moved_lower_bound;
        hints_.start = first.kept();
        find_bound_on_time(model_, capacities_[0], clock);
    }
    /// `pool`: the model that the bound on bytes is of. Where time is the goal, it is worth the relaxation.
    void find_bound_on_time(const residency_model& pool, std::int64_t capacity, budget& clock) {
        const std::size_t rounds =
            asked_.goal == goal::time ? std::min<std::size_t>(relaxed_rounds(), 1000) : 0;
        const std::size_t evaluations = std::min<std::size_t>(options_.bound_evaluations, 120);
        bound_makespan(task_, model_, {&pool, capacity, result_.prices, rounds, evaluations, &clock},
                       result_.order, asked_, result_);
    }
    /// Rounds of the relaxation. Fewer than 200 are of no use: long programs get those, and up to five times
    /// the work; the longest none.
    [[nodiscard]] std::size_t relaxed_rounds() const {
        const std::uint64_t rounds = options_.relaxation_work / (model_.gaps.size() + model_.steps.size());
        if (rounds < 40) return 0;
        return static_cast<std::size_t>(std::clamp<std::uint64_t>(rounds, 200, 6000));
    }
    /// Several devices: bytes may wait on another device, so the proven bound takes them for one pool.
    void find_pooled_bound(std::int64_t known, budget& clock) {
        std::int64_t pool = 0;
        for (const std::int64_t capacity : capacities_)
            pool = capacity > unlimited - pool ? unlimited : pool + capacity;
        const residency_model merged = make_residency_model(task_, result_.order, asked_.alignment, true);
        price_bound bound(merged, pool);
        bound.improve(known, options_.bound_evaluations, 0, &clock);
        result_.bytes_moved_lower_bound = hints_.target = bound.proven();
        result_.prices = bound.prices();
        find_bound_on_time(merged, pool, clock);
        value_by_device(model_, known, hints_);
    }
    /// What gaps are worth by the prices of their devices' own bounds.
    void value_by_device(const residency_model& model, std::int64_t known, residency_hints& hints) const {
        budget clock = account_.without_states();
        for (memory_index d = 0; d < task_.devices; ++d) {
            price_bound own(model, capacities_[d], {}, d);
            own.improve(known, options_.bound_evaluations / 2, 0, &clock);
            const std::vector<double> values = gap_values(model, own.prices());
            const std::vector<double> shares = own.stay_shares();
            for (std::size_t g = 0; g < values.size(); ++g) {
                if (model.instances[model.gaps[g].instance].device != d) continue;
                hints.values[g] = values[g];
                hints.shares[g] = shares[g];
            }
        }
    }
    /// Replaces the answer, the model and the hints by those in which buffers wait on other devices, if that
    /// is better.
    void park() {
        if (result_.bytes_moved <= result_.bytes_moved_lower_bound) return;
        const parking_planner choose(task_, result_.order, capacities_, asked_.alignment);
        const std::vector<parking> parked = choose(model_);
        if (parked.empty()) return;
        residency_model model = make_residency_model(task_, result_.order, asked_.alignment, false, parked);
        residency_hints hints{.values = gap_values(model, {}),
                              .shares = std::vector<double>(model.gaps.size(), 0.5),
                              .target = result_.bytes_moved_lower_bound};
        residency_state quick(model, capacities_);
        insert_by_value(quick, hints.values);
        value_by_device(model, quick.cost(), hints);
        budget part = account_.beside(limits_.states);
        residency_planner planner(task_, model, capacities_, limits_, options_.hard_layouts);
        stowed_plan plan;
        if (!planner(hints, false, part, plan) || !offer(plan).taken) return;
        model_ = std::move(model);
        hints_ = std::move(hints);
    }
    [[nodiscard]] double seconds_of(const memgraph& made) const {
        return simulate(task_.program, made, asked_.machine).makespan;
    }
    /// The hints, with gaps of what has no copy on the host yet worth `factor` times as much.
    [[nodiscard]] residency_hints preferring(double factor) const {
        residency_hints hints = hints_;
        if (factor == 1.0) return hints;
        hints.start.clear();
        hints.target = unlimited;  // no search: it would look at bytes only
        for (std::size_t g = 0; g < hints.values.size(); ++g) {
            const model_version& version = model_.versions[model_.copy_of[model_.gaps[g].version]];
            if (version.bytes_out > 0 && !version.goes_out) hints.values[g] *= factor;
        }
        return hints;
    }
    /// Where there is a clock, plans again with ever more states and other seeds as long as there is time and
    /// they are used up.
    void use_time_left() {
        while (limits_.time && !account_.without_states().exhausted() &&
               result_.bytes_moved > result_.bytes_moved_lower_bound) {
            limits_.states = stowage::detail::saturating_multiply(limits_.states, state_growth);
            ++limits_.seed;
            budget part = account_.beside(limits_.states);
            residency_planner planner(task_, model_, capacities_, limits_, options_.hard_layouts);
            stowed_plan plan;
            const bool better = planner(hints_, false, part, plan) && offer(plan).taken;
            if (!better && !part.exhausted()) return;
        }
    }
    /// Replaces the answer by ever faster ones.
    void find_faster() {
        if (account_.without_states().exhausted()) return;
        const std::vector<timed_gaps> timed = bound_by_moments();
        budget account = account_.beside(stowage::detail::saturating_multiply(limits_.states, time_factor));
        time_planner planner(task_, model_, capacities_, asked_.machine, limits_, options_.perturbed_plans,
                             options_.loosened_plans);
        const auto run = [&](stowed_plan& plan) {
            const offered made = offer(plan);
            if (asked_.on_progress && made.seconds < std::numeric_limits<double>::infinity())
                asked_.on_progress({result_.makespan, result_.makespan_lower_bound});
            return made.seconds;
        };
        planner(hints_, timed, result_.makespan_lower_bound, result_.makespan, run, account);
    }
    /// Raises the bound on time for the order as it is kept, now that the seconds of some plan are known;
    /// what it says of the gaps. Nothing where there are several devices or compute lanes, or too many
    /// accesses.
    [[nodiscard]] std::vector<timed_gaps> bound_by_moments() {
        std::vector<timed_gaps> found;
        budget clock = account_.without_states().share_of_time(4);
        const std::uint64_t rounds = moment_work / (1 + model_.accesses.size());
        if (task_.devices > 1 || asked_.machine.compute_lanes > 1 || rounds < least_moment_rounds)
            return found;
        for (const std::uint32_t blocks : {24U, 10U}) {
            const block_division division = divide_order(task_, model_, asked_.machine, blocks);
            moment_bound in_order(task_, model_, capacities_[0], asked_.machine, division);
            // Rounded sums are no proof: what is claimed is a trifle less.
            const double proven =
                (1 - 1e-9) * in_order.improve(result_.makespan, std::min<std::uint64_t>(rounds, 400), &clock);
            result_.makespan_lower_bound_in_order = std::max(result_.makespan_lower_bound_in_order, proven);
            found.push_back(in_order.gaps());
        }
        if (asked_.fixed_order) result_.makespan_lower_bound = result_.makespan_lower_bound_in_order;
        return found;
    }
    [[nodiscard]] host_plan place_on_host(stowed_plan& plan) const {
        return plan_host(
            plan.lines, task_.program, asked_.alignment, asked_.host.capacity, account_.rest_of(limits_),
            [&](buffer_index b) { return stays_intact(task_, b); },
            [&](buffer_index b) {
                const buffer_kind kind = task_.program.kind(b);
                return task_.repeatable && is_persistent(kind) && kind != buffer_kind::input;
            });
    }
    /// Fills the answer if the host has room for the plan.
    [[nodiscard]] bool accept(stowed_plan& plan) {
        const host_plan on_host = place_on_host(plan);
        if (on_host.bytes > asked_.host.capacity) {
            result_.memory = host;
            result_.least_capacity =
                result_.least_capacity == 0 ? on_host.bytes : std::min(result_.least_capacity, on_host.bytes);
            result_.reason =
                "the best plan found needs " + std::to_string(result_.least_capacity) + " bytes of the host";
            return false;
        }
        take(plan, write_memgraph(task_, plan.lines, asked_));
        return true;
    }
    struct offered {
        double seconds =
            std::numeric_limits<double>::infinity();  // where time is the goal and it may be used
        bool taken = false;
    };
    /// Replaces the answer by a plan that is better by what is asked for, if the host has room for it.
    offered offer(stowed_plan& plan) {
        const bool by_time = asked_.goal == goal::time;
        if (!by_time && plan.lines.bytes_moved >= result_.bytes_moved) return {};
        if (place_on_host(plan).bytes > asked_.host.capacity) return {};
        memgraph made = write_memgraph(task_, plan.lines, asked_);
        offered result{.taken = true};
        if (by_time) {
            result.seconds = seconds_of(made);
            result.taken = result.seconds < result_.makespan;
        }
        if (!result.taken) return result;
        if (by_time) result_.makespan = result.seconds;
        take(plan, std::move(made));
        return result;
    }
    void take(const stowed_plan& plan, memgraph made) {
        result_.memgraph = std::move(made);
        result_.memory = 0;
        result_.least_capacity = 0;
        result_.reason.clear();
        result_.bytes_offloaded = result_.bytes_reloaded = result_.bytes_transferred = 0;
        for (const script_line& line : plan.lines.lines) {
            const std::int64_t bytes = line.kind == vertex_kind::op ? 0 : task_.program.bytes(line.buffer);
            if (line.kind == vertex_kind::offload) result_.bytes_offloaded += bytes;
            if (line.kind == vertex_kind::reload) result_.bytes_reloaded += bytes;
            if (line.kind == vertex_kind::transfer) result_.bytes_transferred += bytes;
        }
        result_.bytes_moved = result_.bytes_offloaded + result_.bytes_reloaded;
        result_.status =
            result_.bytes_moved <= result_.bytes_moved_lower_bound ? status::optimal : status::feasible;
        result_.found_by = plan.laid_out ? "residency, laid out" : "residency, with moves to make room";
    }

    const taskgraph& task_;
    const compile_options& asked_;
    const residency_options& options_;
    search_limits limits_;
    budget account_;
    std::vector<std::int64_t> capacities_;
    residency_model model_;
    residency_hints hints_;
    std::size_t tries_ = 0;
    compiled result_;
};
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_residency_compiler<>;
#endif

}  // namespace detail

/// The default policy. O((accesses + gaps) log operators) beside the searches, whose length `limits` bounds.
struct residency {
    residency_options options{};

    template <class = void>
    [[nodiscard]] compiled operator()(const taskgraph& task, std::span<const operator_index> order,
                                      const compile_options& asked) const {
        return detail::basic_residency_compiler<>(task, order, asked, options)();
    }
    [[nodiscard]] std::string name() const { return "residency"; }
};

static_assert(compile_policy<residency>);
static_assert(!compile_policy<residency_options>);

}  // namespace stowage::turnip
