#pragma once
// From a decision about gaps to rectangles in steps x bytes, and from those to a layout problem for the
// library's layout engine.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/layout/problem.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/fwd.hpp>

namespace stowage::turnip::detail {

/// How the contents of a rectangle come into it.
enum class arrival : std::uint8_t {
    written,   ///< by its first access
    reloaded,  ///< from the host
    present,   ///< they are there at the start of the run
};

/// One stay of an instance on its device, from step `lower` to step `upper`, both included.
struct rectangle {
    std::uint32_t instance = 0;
    std::uint32_t first = 0;  ///< its accesses are [first, last) of the model's; may be none
    std::uint32_t last = 0;
    std::uint32_t lower = 0;
    std::uint32_t upper = 0;
    arrival from = arrival::written;
    std::uint32_t partner = none;  ///< the rectangle that must lie at the same address, if any
    std::int64_t address = -1;     ///< where the layout puts it; -1: nowhere
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
};

/// The rectangles of a decision, instance by instance in the order of steps, and where scratch lies.
struct stay_plan {
    std::vector<rectangle> rectangles;
    std::vector<std::int64_t> workspace;  ///< by step: where the operator's workspace lies; -1: nowhere
};

/// Cuts the instances' accesses where gaps are absent. O(accesses).
template <class = void>
[[nodiscard]] stay_plan make_rectangles(const residency_model& model, const std::vector<char>& kept) {
    stay_plan plan;
    plan.workspace.assign(model.steps.size(), -1);
    for (std::uint32_t i = 0; i < model.instances.size(); ++i) {
        const model_instance& instance = model.instances[i];
        if (instance.first == instance.last) continue;
        const auto stays = [&](std::int32_t link) {
            return link == link_kind::joined || (link >= 0 && kept[static_cast<std::size_t>(link)] != 0);
        };
        const auto begin = static_cast<std::uint32_t>(plan.rectangles.size());
        for (std::uint32_t a = instance.first; a < instance.last; ++a) {
            const model_access& access = model.accesses[a];
            if (a > instance.first && stays(access.link)) {
                plan.rectangles.back().last = a + 1;
                plan.rectangles.back().upper = access.step;
                continue;
            }
            rectangle made{
                .instance = i, .first = a, .last = a + 1, .lower = access.step, .upper = access.step};
            if (access.step == 0) {
                made.from = arrival::present;
            } else if (access.reads) {
                made.from = arrival::reloaded;
                if (a == instance.first && stays(access.link)) {
                    made.from = arrival::present;
                    made.lower = 0;
                }
            }
            plan.rectangles.push_back(made);
        }
        const auto end = static_cast<std::uint32_t>(plan.rectangles.size() - 1);
        if (stays(instance.tail)) plan.rectangles[end].upper = model.last_step();
        const bool both_ends = plan.rectangles[end].upper == model.last_step() && instance.tied;
        if (!both_ends) continue;
        if (plan.rectangles[begin].from == arrival::present) {
            if (begin == end) continue;
            plan.rectangles[begin].partner = end;
            plan.rectangles[end].partner = begin;
        } else {
            // It is overwritten before it is read: at the start it only holds its place.
            plan.rectangles.push_back({.instance = i,
                                       .first = instance.first,
                                       .last = instance.first,
                                       .from = arrival::present,
                                       .partner = end});
            plan.rectangles[end].partner = end + 1;
        }
    }
    return plan;
}

/// Forgets all addresses, and stacks what is tied to one place at start and end from address 0 on, the
/// largest alignment first: at both ends the rest of the arena is then free in one piece.
template <class = void>
void stack_tied(const residency_model& model, const tensor_graph& program, stay_plan& plan) {
    std::vector<std::uint32_t> tied;
    for (std::uint32_t r = 0; r < plan.rectangles.size(); ++r) {
        rectangle& stay = plan.rectangles[r];
        stay.address = -1;
        if (model.instances[stay.instance].tied && stay.lower == 0 && stay.from == arrival::present)
            tied.push_back(r);
    }
    std::fill(plan.workspace.begin(), plan.workspace.end(), -1);
    const auto buffer_of = [&](std::uint32_t r) {
        return model.instances[plan.rectangles[r].instance].buffer;
    };
    const auto alignment_of = [&](std::uint32_t r) {
        return std::lcm(program.alignment(buffer_of(r)), model.alignment);
    };
    std::sort(tied.begin(), tied.end(), [&](std::uint32_t a, std::uint32_t b) {
        return alignment_of(a) != alignment_of(b) ? alignment_of(a) > alignment_of(b) : a < b;
    });
    std::vector<std::int64_t> top(model.devices, 0);
    for (const std::uint32_t r : tied) {
        std::int64_t& at = top[model.instances[plan.rectangles[r].instance].device];
        at = stowage::detail::align_up(at, alignment_of(r));
        plan.rectangles[r].address = at;
        if (plan.rectangles[r].partner != rectangle::none)
            plan.rectangles[plan.rectangles[r].partner].address = at;
        at += program.bytes(buffer_of(r));
    }
}

/// Forgets that rectangles of one device must lie where their partners do: at the end they then walk home.
/// False if there were none.
template <class = void>
bool untie(const residency_model& model, stay_plan& plan, memory_index device) {
    bool any = false;
    for (rectangle& stay : plan.rectangles) {
        if (stay.partner == rectangle::none || model.instances[stay.instance].device != device) continue;
        stay.partner = rectangle::none;
        any = true;
    }
    return any;
}

/// The layout problem of one device: a buffer for each rectangle, one for each pair of partners, one for each
/// workspace. `owner` receives, by buffer, the rectangle, or rectangles.size() + step for a workspace.
template <class = void>
[[nodiscard]] layout::problem layout_problem_of(const residency_model& model, const tensor_graph& program,
                                                const stay_plan& plan, memory_index device,
                                                std::vector<std::uint32_t>& owner) {
    layout::problem problem;
    problem.alignment = model.alignment;
    owner.clear();
    for (std::uint32_t r = 0; r < plan.rectangles.size(); ++r) {
        const rectangle& stay = plan.rectangles[r];
        const model_instance& instance = model.instances[stay.instance];
        if (instance.device != device) continue;
        if (stay.partner != rectangle::none && stay.lower > 0) continue;  // it goes with the one at the start
        layout::buffer b;
        b.lower = stay.lower;
        b.upper = std::int64_t{stay.upper} + 1;
        b.size = program.bytes(instance.buffer);
        b.alignment = program.alignment(instance.buffer);
        if (stay.partner != rectangle::none) {
            const rectangle& end = plan.rectangles[stay.partner];
            if (end.lower > stay.upper + 1) b.gaps.push_back({b.upper, std::int64_t{end.lower}});
            b.upper = std::int64_t{end.upper} + 1;
        }
        problem.buffers.push_back(b);
        owner.push_back(r);
    }
    for (std::uint32_t s = 0; s < model.steps.size(); ++s) {
        const model_step& step = model.steps[s];
        if (step.op == no_operator || step.device != device || program.workspace(step.op) == 0) continue;
        problem.buffers.push_back(
            {.lower = s, .upper = std::int64_t{s} + 1, .size = program.workspace(step.op)});
        owner.push_back(static_cast<std::uint32_t>(plan.rectangles.size() + s));
    }
    return problem;
}

/// Writes the answer of the layout engine into the plan. O(buffers).
template <class = void>
void take_addresses(stay_plan& plan, std::span<const std::uint32_t> owner,
                    std::span<const std::int64_t> offsets) {
    for (std::size_t k = 0; k < owner.size(); ++k) {
        if (owner[k] >= plan.rectangles.size()) {
            plan.workspace[owner[k] - plan.rectangles.size()] = offsets[k];
            continue;
        }
        rectangle& stay = plan.rectangles[owner[k]];
        stay.address = offsets[k];
        if (stay.partner != rectangle::none) plan.rectangles[stay.partner].address = offsets[k];
    }
}

}  // namespace stowage::turnip::detail
