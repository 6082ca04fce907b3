#pragma once
// Runs one stage of an exact search on each open part of a program, the worst part first, and brings what it
// finds back to the bench of the whole.

#include <cstdint>
#include <string_view>

#include <stowage/order/detail/problem_parts.hpp>
#include <stowage/order/detail/workbench.hpp>

namespace stowage::order::detail {

/// The parts of the program on `bench`, with the orders found so far, and the bound that lies between them.
class part_stages {
public:
    part_stages(workbench& bench, const parts_settings& settings, std::string_view finder)
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
            part_bench& part = parts_.bench(k, bench_->account(), bench_->shared().seed);
            part.bench.raise(bench_->lower_bound() - part.base, "", no_operator);
            stage(part.bench);
            parts_.collect(k);
            const bound_witness& witness = part.shared.witness;
            bench_->raise(part.shared.lower_bound + part.base, witness.rule.c_str(),
                          parts_.origin(k, witness.at));
        }
        offer();
    }
    [[nodiscard]] const problem_parts& parts() const noexcept { return parts_; }

private:
    void offer() {
        if (parts_.upper() < bench_->best_peak()) bench_->offer(parts_.order(), finder_);
    }

    workbench* bench_;
    std::string_view finder_;
    problem_parts parts_;
};

}  // namespace stowage::order::detail
