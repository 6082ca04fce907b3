#pragma once
// All exact methods in the order in which they pay (papers/order.md, pipeline), each only while the proven
// bound is below the best order.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <stowage/order/bounds.hpp>
#include <stowage/order/branching.hpp>
#include <stowage/order/cut_move.hpp>
#include <stowage/order/detail/part_stages.hpp>
#include <stowage/order/detail/workbench.hpp>
#include <stowage/order/list_orders.hpp>
#include <stowage/order/local_search.hpp>
#include <stowage/order/policy.hpp>
#include <stowage/order/valley_search.hpp>

namespace stowage::order {

/// Finds the least peak and proves it.
struct exact {
    static constexpr std::string_view name = "exact";    ///< for reports
    detail::parts_settings parts{};                      ///< rules 6 to 8
    detail::valley_settings valleys{};                   ///< rule 10
    detail::branch_settings branches{.nodes = 100'000};  ///< rules 9 and 14 to 17
    std::size_t rounds = 12;  ///< of more local search and more branching, while the program stays open

    /// A better order; empty if there is none.
    [[nodiscard]] sequence operator()(const tensor_graph& graph, context& shared) const {
        return detail::search_alone(*this, graph, shared);
    }
    /// As part of a portfolio.
    void search(detail::workbench& bench) const {
        constexpr std::size_t first_tries = 8;
        bench.offer(in_program_order{}.arrange(bench.problem()), in_program_order::name);
        detail::raise_by_plain_bounds(bench);
        if (!bench.finished()) detail::raise_by_min_cuts(bench, 200);  // often the one cut that is needed
        if (!bench.finished()) {
            detail::mixed_search moves(bench);
            moves.start(bench.best());
            moves.descend(first_tries);
            moves.offer(name);
        }
        if (!bench.finished() && bench.pool().size() < 3) detail::offer_list_orders(bench);
        if (bench.finished()) return;
        if (!detail::affords_passes(bench.account(), bench.problem(), detail::part_stages::passes)) return;
        detail::part_stages stages(bench, parts, name);
        const auto run = [&](const auto& stage) {
            if (!bench.finished()) stages.run(stage);
        };
        const auto cuts = [&](detail::workbench& part) { detail::raise_by_min_cuts(part, 50'000); };
        run(cuts);
        run([&](detail::workbench& part) {
            cut_moves{}.search(part);
            if (!part.finished()) cuts(part);
        });
        run([&](detail::workbench& part) { detail::search_valleys(part, 300, valleys); });
        detail::branch_settings plain = branches;  // without probing
        plain.probe = false;
        plain.nodes = 1;
        plain.split.states = 1'000;
        detail::branch_settings full = branches;
        full.nodes = 12;
        full.split.states = 1'000;
        const auto below = [&](const detail::branch_settings& settings) {
            run([&](detail::workbench& part) { detail::search_below_best(part, settings, name); });
        };
        const auto local = [&] {
            run([&](detail::workbench& part) {
                local_search{.moves_a_start = 3'000, .rounds = 1}.search(part);
                if (!part.finished()) cuts(part);
            });
        };
        below(plain);
        local();
        below(plain);
        below(full);
        for (std::size_t round = 0; round < rounds && !bench.finished(); ++round) {
            full.split.states = plain.split.states = std::min(branches.split.states, 4 * plain.split.states);
            plain.nodes = std::min(branches.nodes, 6 * plain.nodes);
            full.nodes = std::min(branches.nodes, 4 * full.nodes);
            below(plain);
            local();
            run([&](detail::workbench& part) { detail::search_valleys(part, 3'000, valleys); });
            below(full);
        }
    }
};
static_assert(searching_order_policy<exact> && detail::bench_policy<exact>);

}  // namespace stowage::order
