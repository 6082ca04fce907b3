#pragma once
// Runs one stage of an exact search on each open part of a program, the worst part first, and brings what it
// finds back to the bench of the whole.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <stowage/budget.hpp>
#include <stowage/order/detail/order_problem.hpp>
#include <stowage/order/detail/problem_parts.hpp>
#include <stowage/order/detail/workbench.hpp>

namespace stowage::order::detail {

/// True if time is left for some passes over a problem, of about 20 ns each for each operator and access.
template <class = void>
[[nodiscard]] bool affords_passes(const budget& account, const order_problem& problem, std::size_t passes) {
    const std::size_t size = problem.operator_count() + problem.users.values.size();
    return account.affords(std::chrono::nanoseconds(20 * passes * size));
}

/// The parts of the program on `bench`, with the orders found so far, and the bound that lies between them.
template <class = void>
class basic_part_stages {
public:
    /// What making it takes, for affords_passes().
    static constexpr std::size_t passes = 15;
    basic_part_stages(workbench& bench, const parts_settings& settings, std::string_view finder)
        : bench_(&bench), finder_(finder), parts_(bench.problem(), settings) {
        for (const candidate& found : bench.pool())
            parts_.offer(found.order);
        bench.raise(parts_.between(), "min cut", parts_.between_at());
        offer();
    }

    /// stage(workbench&) for each part whose best order is above the proven bound. A stage works against the
    /// bound of the whole: a part that needs less is of no further interest.
    template <class Stage>
    void run(const Stage& stage) {
        for (const std::size_t k : parts_.parts_above(bench_->lower_bound())) {
            if (bench_->account().exhausted() || parts_.upper(k) <= bench_->lower_bound()) break;
            if (!affords_passes(bench_->account(), bench_->problem(), passes_a_stage)) break;
            part_bench& part = parts_.bench(k, bench_->account(), bench_->shared().seed);
            part.bench.raise(bench_->lower_bound() - part.base, "", no_operator);
            stage(part.bench);
            parts_.collect(k);
            const bound_witness& witness = part.shared.witness;
            const bool holds = witness.at == no_operator || parts_.is_fixed(k, witness.at);
            bench_->raise(part.shared.lower_bound + part.base, holds ? witness.rule.c_str() : "search",
                          holds ? parts_.origin(k, witness.at) : no_operator);
        }
        offer();
    }
    [[nodiscard]] const problem_parts& parts() const noexcept { return parts_; }

private:
    void offer() {
        if (parts_.upper() < bench_->best_peak()) bench_->offer(parts_.order(), finder_);
    }

    static constexpr std::size_t passes_a_stage = 10;  // before a stage can look at the clock

    workbench* bench_;
    std::string_view finder_;
    problem_parts parts_;
};
using part_stages = basic_part_stages<>;

}  // namespace stowage::order::detail
