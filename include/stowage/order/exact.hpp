#pragma once
// All exact methods in the order in which they pay (papers/order.md, pipeline), each only while the proven
// bound is below the best order: one cut; list rules; on each segment, cuts by falling hill, cut moves,
// valley search, splits one byte below the best, local search, probing and branching, then all of it again
// with larger limits. Most programs end with the first cut, almost all within a second.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <stowage/budget.hpp>
#include <stowage/order/bounds.hpp>
#include <stowage/order/branching.hpp>
#include <stowage/order/cut_move.hpp>
#include <stowage/order/detail/mixed_search.hpp>
#include <stowage/order/detail/part_stages.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/local_search.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/order/program.hpp>
#include <stowage/order/valley_search.hpp>

namespace stowage::order {

/// Finds the least peak and proves it. What it finds depends on the graph, the seed and the states that the
/// budget allows, never on a clock, unless a wall-clock budget is set. Linear memory, but for probing, which
/// is left out above some thousand operators in one segment.
struct exact {
    static constexpr std::string_view name = "exact";  ///< for reports
    /// Units of the budget (about 1 us each) that it takes at most.
    std::uint64_t state_limit = std::numeric_limits<std::uint64_t>::max();
    detail::parts_settings parts{};                      ///< rules 6 to 8
    detail::valley_settings valleys{};                   ///< rule 10
    detail::branch_settings branches{.nodes = 100'000};  ///< rules 9 and 14 to 17
    bool moves = true;                                   ///< rules 12 and 13: cut moves and local search
    bool search_first = true;  ///< local search before the first decision, where the best order is far off
    bool narrow = true;        ///< bisection towards the bound, while the last byte stays open
    std::size_t rounds = 12;   ///< of more local search and more branching, while the program stays open

    /// A better order; empty if there is none.
    template <class = void>
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    template <class = void>
    void search(detail::workbench& bench) const {
        if (state_limit >= bench.account().left()) {
            search_all(bench);
            return;
        }
        budget part = bench.account().slice(state_limit);
        context own{.account = part,
                    .lower_bound = bench.lower_bound(),
                    .witness = bench.shared().witness,
                    .seed = bench.shared().seed};
        detail::workbench apart(bench.problem(), own);
        for (const detail::candidate& found : bench.pool())
            apart.offer(found.order, bench.found_by());
        search_all(apart);
        bench.account().settle(part);
        if (apart.best_peak() < bench.best_peak()) bench.offer(apart.best(), apart.found_by());
        bench.raise(own.lower_bound, own.witness.rule.c_str(), own.witness.at);
    }

private:
    static constexpr std::uint64_t units_for_cuts = 50'000;

    template <class = void>
    void search_all(detail::workbench& bench) const {
        begin(bench);
        if (bench.finished()) return;
        if (!detail::affords_passes(bench.account(), bench.problem(), detail::part_stages::passes)) return;
        detail::part_stages stages(bench, parts, name);
        const auto run = [&](const auto& stage) {
            if (!bench.finished()) stages.run(stage);
        };
        const auto cut = [](detail::workbench& part) { detail::raise_by_min_cuts(part, units_for_cuts); };
        const auto search = [&](detail::workbench& part) {
            if (moves) local_search{.moves_a_start = 3'000, .rounds = 1}.search(part);
            if (!part.finished()) cut(part);
        };
        detail::branch_settings plain = branches;  // without probing, which can hinder (rule 18)
        plain.probe = false;
        plain.nodes = 1;
        detail::branch_settings full = branches;
        full.nodes = std::min<std::size_t>(branches.nodes, 12);
        plain.split.states = full.split.states = std::min<std::uint64_t>(branches.split.states, 1'000);
        const auto below_best = [&](const detail::branch_settings& settings) {
            return [&](detail::workbench& part) { detail::search_below_best(part, settings, name); };
        };
        const auto narrow_down = [&](detail::workbench& part) {
            if (narrow) detail::narrow_gap(part, full, name);
        };
        run(cut);
        run([&](detail::workbench& part) {
            if (moves) cut_moves{}.search(part);
            if (!part.finished()) cut(part);
        });
        run([&](detail::workbench& part) { detail::search_valleys(part, 300, valleys); });
        if (search_first && gap_exceeds(bench, 100)) run(search);  // one byte below a bad order says nothing
        run(below_best(plain));
        run(search);
        run(below_best(plain));
        run(below_best(full));
        if (gap_exceeds(bench, 5)) run(narrow_down);
        for (std::size_t round = 0; round < rounds && !bench.finished(); ++round) {
            plain.split.states = full.split.states = std::min(branches.split.states, 4 * full.split.states);
            plain.nodes = std::min(branches.nodes, 6 * plain.nodes);
            full.nodes = std::min(branches.nodes, 4 * full.nodes);
            full.one_sided += branches.one_sided;
            run(below_best(plain));
            run(search);
            run([&](detail::workbench& part) { detail::search_valleys(part, 3'000, valleys); });
            run(below_best(full));
            run(narrow_down);
        }
    }
    /// True if the best order is more than so many thousandths above what is proven.
    template <class = void>
    [[nodiscard]] static bool gap_exceeds(const detail::workbench& bench, std::int64_t thousandths) {
        return bench.best_peak() - bench.lower_bound() > bench.lower_bound() / 1'000 * thousandths;
    }
    /// What is worth a try before the program is taken apart.
    template <class = void>
    void begin(detail::workbench& bench) const {
        constexpr std::uint64_t units_for_first_cut = 200;  // often the one that is needed
        constexpr std::size_t first_moves = 8;
        bench.offer(in_program_order{}.arrange(bench.problem()), in_program_order::name);
        detail::raise_by_plain_bounds(bench);
        if (!bench.finished()) detail::raise_by_min_cuts(bench, units_for_first_cut);
        if (!bench.finished() && moves) {
            detail::mixed_search few(bench);
            few.start(bench.best());
            few.descend(first_moves);
            few.offer(name);
        }
        if (!bench.proven() && bench.pool().size() < 3) detail::offer_list_orders(bench);
    }
};
static_assert(searching_order_policy<exact> && detail::bench_policy<exact>);

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template void exact::search(detail::workbench&) const;
#endif

}  // namespace stowage::order
