#pragma once
// What a residency model's sums are: bytes that must be on a device at each step, whatever is decided, and
// all that may have to move.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/detail/checked.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/residency_model.hpp>

namespace stowage::turnip::detail {

/// Sets residency_model::forced and round_off. O(accesses + steps x devices).
template <class = void>
void count_forced(const tensor_graph& program, residency_model& model) {
    model.forced.assign(model.devices, std::vector<std::int64_t>(model.steps.size(), 0));
    model.round_off.assign(model.devices, 0);
    std::vector<std::vector<std::int64_t>> pad(model.alignment > 1 ? model.devices : 0,
                                               std::vector<std::int64_t>(model.steps.size(), 0));
    const auto add = [&](memory_index d, std::uint32_t s, std::int64_t bytes) {
        const std::int64_t whole = stowage::detail::align_up(bytes, model.alignment);
        model.forced[d][s] = stowage::detail::checked_add(model.forced[d][s], whole);
        if (whole == bytes) return;
        pad[d][s] = std::max(pad[d][s], whole - bytes);
        model.round_off[d] = std::max(model.round_off[d], whole - bytes);
    };
    for (const model_access& a : model.accesses) {
        const model_instance& instance = model.instances[a.instance];
        add(instance.device, a.step, program.bytes(instance.buffer));
    }
    for (std::uint32_t s = 0; s < model.steps.size(); ++s) {
        const model_step& step = model.steps[s];
        if (step.op != no_operator && program.workspace(step.op) > 0)
            add(step.device, s, program.workspace(step.op));
    }
    for (std::size_t d = 0; d < pad.size(); ++d) {
        for (std::size_t s = 0; s < model.steps.size(); ++s)
            model.forced[d][s] -= pad[d][s];  // one of them may lie on top, unpadded
    }
}

/// Throws overflow_error where all that may move passes 2^63 - 1: no decision's sum can then wrap.
template <class = void>
void check_sums(const tensor_graph& program, const residency_model& model) {
    std::int64_t sum = model.constant_in;
    const auto add = [&](std::int64_t bytes) {
        sum = stowage::detail::checked_add(sum, bytes, "what may have to move");
    };
    for (const model_gap& gap : model.gaps)
        add(gap.bytes_in);
    for (const model_version& version : model.versions)
        add(version.bytes_out);
    for (const model_step& step : model.steps) {
        if (step.is_transfer) add(program.bytes(model.instances[step.target].buffer));
    }
}

}  // namespace stowage::turnip::detail
