#pragma once
// Several devices: what does not fit one of them may wait on another that has room, and come back from there,
// instead of going to the host and back. Devices of a pipeline are full at different times, and their links
// to each other are idle when their lanes to the host are not.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <stowage/turnip/detail/capacity_tree.hpp>
#include <stowage/turnip/detail/insertion.hpp>
#include <stowage/turnip/detail/model_builder.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Finds parkings for one order of a taskgraph. What it is given must outlive it.
template <class = void>
class basic_parking_planner {
public:
    basic_parking_planner(const taskgraph& task, std::span<const operator_index> order,
                          std::span<const std::int64_t> capacities, std::int64_t alignment)
        : task_(task), order_(order), capacities_(capacities), alignment_(alignment) {}

    /// The parkings with which a quick decision moves the fewest bytes; none if it moves fewest without.
    /// `model`: without parkings. A few models and insertions.
    [[nodiscard]] std::vector<parking> operator()(const residency_model& model) const {
        constexpr int rounds = 6;
        std::vector<parking> best;
        std::vector<parking> now;
        residency_state state = decide(model);
        std::int64_t least = state.cost();
        add_parkings(model, state, now);
        for (int round = 0; round < rounds && !now.empty(); ++round) {
            const residency_model with = make_residency_model(task_, order_, alignment_, false, now);
            const residency_state decision = decide(with);
            if (decision.cost() < least) {
                least = decision.cost();
                best = now;
            }
            const std::size_t dropped = drop_useless(with, decision, now);
            const std::size_t before = now.size();
            add_parkings(with, decision, now);
            if (dropped == 0 && now.size() == before) break;
        }
        return best;
    }

private:
    [[nodiscard]] residency_state decide(const residency_model& model) const {
        residency_state state(model, capacities_);
        shared_insertion(state, gap_values(model, {}))();
        return state;
    }
    /// Parkings that did not come about, or whose buffer goes from the peer to the host.
    std::size_t drop_useless(const residency_model& model, const residency_state& state,
                             std::vector<parking>& parked) const {
        std::vector<std::vector<std::uint32_t>> of_buffer(task_.program.buffer_count());
        std::vector<char> useless(parked.size(), 0);
        for (std::uint32_t k = 0; k < parked.size(); ++k) {
            useless[k] = model.parking_gates[k] == 0 ? 1 : 0;
            of_buffer[parked[k].buffer].push_back(k);
        }
        for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
            const model_gap& gap = model.gaps[g];
            const model_instance& at = model.instances[gap.instance];
            if (state.is_kept(g) || gap.lower == 0 || gap.wrapped) continue;
            for (const std::uint32_t k : of_buffer[at.buffer]) {
                const std::uint32_t gate = model.parking_gates[k];
                if (parked[k].peer == at.device && gate + 1 >= gap.lower && gate <= gap.upper) useless[k] = 1;
            }
        }
        std::size_t kept = 0;
        for (std::size_t k = 0; k < parked.size(); ++k) {
            if (useless[k] == 0) parked[kept++] = parked[k];
        }
        const std::size_t dropped = parked.size() - kept;
        parked.resize(kept);
        return dropped;
    }
    /// By device: the bytes that are free at each step; with what is kept though its return alone would be
    /// paid for, if `with_clean`.
    static std::vector<capacity_tree> room(const residency_model& model, const residency_state& state,
                                           bool with_clean) {
        std::vector<std::vector<std::int64_t>> more(model.devices,
                                                    std::vector<std::int64_t>(model.steps.size() + 1, 0));
        for (std::uint32_t g = 0; with_clean && g < model.gaps.size(); ++g) {
            const model_gap& gap = model.gaps[g];
            if (!state.is_kept(g) || state.marginal(g) > static_cast<double>(gap.bytes_in)) continue;
            std::vector<std::int64_t>& of_device = more[model.instances[gap.instance].device];
            of_device[gap.wrapped ? 0 : gap.lower] += gap.bytes;
            of_device[gap.upper + 1] -= gap.bytes;
            if (gap.wrapped) of_device[gap.lower] += gap.bytes;
        }
        std::vector<capacity_tree> result;
        for (memory_index d = 0; d < model.devices; ++d) {
            std::int64_t sum = 0;
            for (std::uint32_t s = 0; s < model.steps.size(); ++s) {
                sum += more[d][s];
                more[d][s] = sum + state.free_at(s, d);
            }
            more[d].pop_back();
            result.emplace_back(more[d]);
        }
        return result;
    }
    /// The device but `own` that has most room in a span of steps; none, if no other has enough.
    [[nodiscard]] static memory_index roomiest(const std::vector<capacity_tree>& room, memory_index own,
                                               std::size_t first, std::size_t last, std::int64_t bytes) {
        memory_index best = none;
        std::int64_t most = bytes - 1;
        for (memory_index d = 0; d < room.size(); ++d) {
            if (d == own) continue;
            const std::int64_t here = room[d].least(first, last);
            if (here <= most) continue;
            most = here;
            best = d;
        }
        return best;
    }
    /// Absent gaps, those that cost most for each byte and step first, wait where there is room; as soon as
    /// their own device has room again, they come back.
    void add_parkings(const residency_model& model, const residency_state& state,
                      std::vector<parking>& parked) const {
        std::vector<capacity_tree> free = room(model, state, false);
        std::vector<capacity_tree> with_clean = room(model, state, true);
        // The operator before each step, and the first one from it on, as positions in the order.
        std::vector<std::uint32_t> until(model.steps.size() + 1, 0);
        std::vector<std::uint32_t> step_of;
        for (std::uint32_t s = 0; s < model.steps.size(); ++s) {
            until[s] = static_cast<std::uint32_t>(step_of.size());
            if (model.steps[s].op != no_operator) step_of.push_back(s);
        }
        until[model.steps.size()] = static_cast<std::uint32_t>(step_of.size());
        std::vector<std::pair<double, std::uint32_t>> candidates;
        for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
            const model_gap& gap = model.gaps[g];
            if (state.is_kept(g) || gap.wrapped || gap.bytes_in == 0 || gap.lower == 0) continue;
            const double saved = state.marginal(g) / static_cast<double>(gap.bytes);
            candidates.emplace_back(-saved / static_cast<double>(gap.upper - gap.lower + 1), g);
        }
        std::sort(candidates.begin(), candidates.end());
        for (const auto& [value, g] : candidates) {
            const model_gap& gap = model.gaps[g];
            const model_instance& at = model.instances[gap.instance];
            // It leaves after an operator and is back before one.
            const std::uint32_t last_use = until[gap.lower];
            std::uint32_t before = until[gap.upper + 1];
            if (last_use == 0 || before >= step_of.size()) continue;
            const std::uint32_t after = last_use - 1;
            if (before <= after + 1) continue;
            // The first operator from which on its own device has room for it.
            std::uint32_t lower = after + 1;
            std::uint32_t upper = before;
            while (lower < upper) {
                const std::uint32_t middle = (lower + upper) / 2;
                if (free[at.device].least(step_of[middle], gap.upper) >= gap.bytes) {
                    upper = middle;
                } else {
                    lower = middle + 1;
                }
            }
            const bool early = upper < before;
            before = upper;
            if (before <= after + 1) continue;
            const std::uint32_t first = gap.lower - 1;
            const std::uint32_t last = std::max(first, early ? step_of[before] : gap.upper);
            memory_index peer = roomiest(free, at.device, first, last, gap.bytes);
            // What costs two copies may take the place of what costs one.
            if (peer == none && state.marginal(g) > static_cast<double>(gap.bytes_in))
                peer = roomiest(with_clean, at.device, first, last, gap.bytes);
            if (peer == none) continue;
            for (std::vector<capacity_tree>* trees : {&free, &with_clean}) {
                (*trees)[peer].add(first, last, -gap.bytes);
                if (early) (*trees)[at.device].add(step_of[before], gap.upper, -gap.bytes);
            }
            parked.push_back({at.buffer, at.device, peer, after, before});
        }
    }

    static constexpr memory_index none = anywhere;
    const taskgraph& task_;
    std::span<const operator_index> order_;
    std::span<const std::int64_t> capacities_;
    std::int64_t alignment_;
};
using parking_planner = basic_parking_planner<>;
#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_parking_planner<>;
#endif

}  // namespace stowage::turnip::detail
