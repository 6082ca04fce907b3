#include <stowage/turnip/detail/compact_relaxation.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <stowage/graph.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include "support/random_program.hpp"

namespace turnip = stowage::turnip;
using turnip::detail::compact_relaxation;
using turnip::detail::model_gap;
using turnip::detail::relaxed_gap;
using turnip::detail::residency_model;

namespace {

/// Every gap a group of its own.
struct lone_gaps {
    std::vector<std::uint32_t> gaps;
    std::vector<std::uint32_t> first{0};
    std::vector<std::int64_t> out;
    explicit lone_gaps(const residency_model& model) : out(model.gaps.size(), 0) {
        for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
            gaps.push_back(g);
            first.push_back(g + 1);
        }
    }
};

[[nodiscard]] std::vector<std::int64_t> free_bytes(const residency_model& model, std::int64_t capacity) {
    std::vector<std::int64_t> free(model.steps.size());
    for (std::size_t s = 0; s < free.size(); ++s)
        free[s] = capacity - model.forced[0][s];
    return free;
}

[[nodiscard]] residency_model model_of(const stowage::program& program, turnip::start_rule start) {
    const turnip::taskgraph task =
        turnip::make_taskgraph(stowage::make_tensor_graph(program), {.start = start});
    return turnip::detail::make_residency_model(task, stowage::program_order(task.program), 1);
}

[[nodiscard]] bool covers(const relaxed_gap& gap, std::size_t step) {
    return gap.wrapped ? step <= gap.upper || step >= gap.lower : step >= gap.lower && step <= gap.upper;
}

}  // namespace

TEST_CASE("what leaves enough at the steps that are kept leaves enough at all") {
    std::size_t steps = 0;
    std::size_t kept = 0;
    std::size_t checked = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const residency_model model =
            model_of(stowage::test::random_program(seed, {.operators = 8, .largest = 6}),
                     static_cast<turnip::start_rule>(seed % 3));
        if (model.gaps.empty() || model.gaps.size() > 10) continue;
        const std::vector<std::int64_t> free =
            free_bytes(model, turnip::detail::most_forced(model, 0).bytes + static_cast<int>(seed % 4));
        const lone_gaps lone(model);
        const compact_relaxation compact(model, lone.gaps, lone.first, lone.out, free);
        const turnip::detail::relaxed_problem& small = compact.problem();
        std::vector<double> shares(model.gaps.size());
        // Which gap each of the small problem's is: its share is the only one that changes.
        std::vector<std::size_t> gap_of;
        for (std::size_t k = 0; k < small.gaps.size(); ++k) {
            std::vector<double> absent(small.gaps.size(), 0);
            absent[k] = 1;
            compact.read_shares(absent, std::vector<char>(model.gaps.size(), 1), shares);
            for (std::size_t g = 0; g < shares.size(); ++g) {
                if (shares[g] < 0.5) gap_of.push_back(g);
            }
        }
        REQUIRE(gap_of.size() == small.gaps.size());
        for (std::uint32_t chosen = 0; chosen < (1U << small.gaps.size()); ++chosen) {
            bool enough = true;
            for (std::size_t s = 0; enough && s < small.lacking.size(); ++s) {
                double gone = 0;
                for (std::size_t k = 0; k < small.gaps.size(); ++k)
                    gone += (chosen >> k & 1U) != 0 && covers(small.gaps[k], s) ? small.gaps[k].bytes : 0;
                enough = gone >= small.lacking[s];
            }
            std::vector<char> leaves(model.gaps.size(), 0);
            for (std::size_t k = 0; k < gap_of.size(); ++k)
                leaves[gap_of[k]] = (chosen >> k & 1U) != 0 ? 1 : 0;
            bool fits = true;
            for (std::size_t s = 0; fits && s < free.size(); ++s) {
                std::int64_t stays = 0;
                for (std::size_t g = 0; g < leaves.size(); ++g)
                    stays += leaves[g] == 0 && model.gaps[g].covers(s) ? model.gaps[g].bytes : 0;
                fits = stays <= free[s];
            }
            CHECK(enough == fits);
            ++checked;
        }
        for (std::size_t s = 0; s < free.size(); ++s) {
            std::int64_t all = 0;
            for (const model_gap& gap : model.gaps)
                all += gap.covers(s) ? gap.bytes : 0;
            steps += all > free[s] ? 1 : 0;
        }
        kept += small.lacking.size();
    }
    CHECK(checked > 1000);
    CHECK(kept * 5 < steps * 4);
}

TEST_CASE("prices of all steps go to the kept ones, and come back where they were given") {
    const residency_model model = model_of(stowage::test::random_program(3, {.operators = 30, .largest = 40}),
                                           turnip::start_rule::on_host);
    const lone_gaps lone(model);
    const std::vector<std::int64_t> free = free_bytes(model, turnip::detail::most_forced(model, 0).bytes);
    const compact_relaxation compact(model, lone.gaps, lone.first, lone.out, free);
    const std::size_t kept = compact.problem().lacking.size();
    REQUIRE(kept > 1);
    REQUIRE(kept < free.size());
    const std::vector<double> folded = compact.fold(std::vector<double>(free.size(), 1));
    double sum = 0;
    for (const double price : folded)
        sum += price;
    CHECK(sum == doctest::Approx(static_cast<double>(free.size())));
    CHECK(compact.fold(compact.unfold(folded)) == folded);
}
