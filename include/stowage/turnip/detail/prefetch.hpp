#pragma once
// Lengthens rectangles into bytes that are free: to the left, so that a reload may begin before its first
// use, and to the right, so that an offload may end after its last. Source: papers/offload.md, "Makespan".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/rectangles.hpp>
#include <stowage/turnip/detail/residency_model.hpp>
#include <stowage/turnip/detail/residency_state.hpp>
#include <stowage/turnip/detail/time_bound.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/taskgraph.hpp>

namespace stowage::turnip::detail {

/// Lengthens the rectangles of one device. `capacity`: bytes that rectangles may take at each step; `reach`:
/// how many times the time that the copies need is left for them. O(rectangles log rectangles + steps
/// gained).
template <class = void>
void lengthen(const taskgraph& task, const residency_state& decision, stay_plan& plan, memory_index device,
              std::int64_t capacity, const machine& m, double reach) {
    const residency_model& model = decision.model();
    const tensor_graph& program = task.program;
    const std::vector<double> before = step_times(task, model, device, m);
    std::vector<std::int64_t> free(model.steps.size() + 1, 0);
    std::vector<std::uint32_t> reloads;
    std::vector<std::uint32_t> saved;
    std::vector<std::uint32_t> previous(plan.rectangles.size(), rectangle::none);
    std::vector<std::uint32_t> following(plan.rectangles.size(), rectangle::none);
    const auto bytes_of = [&](std::uint32_t r) {
        return stowage::detail::align_up(program.bytes(model.instances[plan.rectangles[r].instance].buffer),
                                         model.alignment);
    };
    for (std::uint32_t r = 0; r < plan.rectangles.size(); ++r) {
        const rectangle& stay = plan.rectangles[r];
        if (model.instances[stay.instance].device != device) continue;
        free[stay.lower] -= bytes_of(r);
        free[stay.upper + 1] += bytes_of(r);
        if (r > 0 && plan.rectangles[r - 1].instance == stay.instance && stay.first < stay.last) {
            previous[r] = r - 1;
            following[r - 1] = r;
        }
        if (stay.partner != rectangle::none || stay.first == stay.last) continue;
        if (stay.from == arrival::reloaded) reloads.push_back(r);
        const bool leaves = decision.goes_out(model.accesses[stay.last - 1].after);
        if (leaves && stay.upper < model.last_step()) saved.push_back(r);
    }
    std::int64_t used = 0;
    for (std::size_t s = 0; s < model.steps.size(); ++s) {
        const model_step& step = model.steps[s];
        used += free[s];
        const bool scratched = step.op != no_operator && step.device == device;
        free[s] = capacity + used - (scratched ? program.workspace(step.op) : 0);
    }
    const auto need = [&](std::uint32_t r) { return model.accesses[plan.rectangles[r].first].step; };
    std::sort(reloads.begin(), reloads.end(), [&](std::uint32_t a, std::uint32_t b) {
        return need(a) != need(b) ? need(a) < need(b) : a < b;
    });
    // When each reload should begin, if the lane carries one after the other and the last is just in time.
    std::vector<double> wanted(plan.rectangles.size(), 0);
    double lane = std::numeric_limits<double>::max();
    for (auto r = reloads.rbegin(); r != reloads.rend(); ++r) {
        lane = std::min(lane, before[need(*r)]) - move_seconds(vertex_kind::reload, bytes_of(*r), m);
        wanted[*r] = before[need(*r)] - reach * (before[need(*r)] - lane);
    }
    for (const std::uint32_t r : reloads) {
        rectangle& stay = plan.rectangles[r];
        const std::uint32_t floor =
            previous[r] == rectangle::none ? 1 : plan.rectangles[previous[r]].upper + 1;
        while (stay.lower > floor && before[stay.lower] > wanted[r] && free[stay.lower - 1] >= bytes_of(r))
            free[--stay.lower] -= bytes_of(r);
    }
    std::sort(saved.begin(), saved.end(), [&](std::uint32_t a, std::uint32_t b) {
        const std::uint32_t x = plan.rectangles[a].upper;
        const std::uint32_t y = plan.rectangles[b].upper;
        return x != y ? x < y : a < b;
    });
    lane = 0;
    for (const std::uint32_t r : saved) {
        rectangle& stay = plan.rectangles[r];
        std::uint32_t written = stay.last;
        while (written > stay.first && !model.accesses[written - 1].writes)
            --written;
        if (written == stay.first) continue;  // its contents went out from an earlier stay
        lane = std::max(lane, before[model.accesses[written - 1].step + 1]) +
               move_seconds(vertex_kind::offload, bytes_of(r), m);
        const std::uint32_t ceiling =
            following[r] == rectangle::none ? model.last_step() : plan.rectangles[following[r]].lower;
        while (stay.upper + 1 < ceiling && before[stay.upper + 1] < lane &&
               free[stay.upper + 1] >= bytes_of(r))
            free[++stay.upper] -= bytes_of(r);
    }
}

}  // namespace stowage::turnip::detail
