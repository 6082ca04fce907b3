#pragma once
// A placement for a training step that names no devices: each device has some consecutive layers, with all
// that belongs to them. The forward pass is cut into parts; what the backward pass and the updates do stays
// where that pass left what they read: its activations, the parameters and their state (pipeline
// parallelism). Cut as one sequence, the step would send every activation to another device.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stowage/error.hpp>
#include <stowage/graph/stages.hpp>
#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/detail/even_parts.hpp>
#include <stowage/turnip/fwd.hpp>
#include <stowage/turnip/machine.hpp>
#include <stowage/turnip/place_in_parts.hpp>

namespace stowage::turnip {

namespace detail {

/// Places operators one after the other where most of what they read is. Use it once.
template <class = void>
class basic_layer_placement {
public:
    basic_layer_placement(const tensor_graph& program, std::uint32_t devices)
        : program_(program), devices_(devices), placement_(program.operator_count(), 0),
          is_there_(program.buffer_count() * devices, 0), lasting_(program.buffer_count(), 0) {}

    /// An operator of the forward pass.
    void put(operator_index op, memory_index device) { run(op, device, true); }
    /// Another operator: where most bytes are that the forward pass left or that are there from the start;
    /// of equals, and without those, where most bytes are of what it reads; then the device before.
    void follow(operator_index op) {
        std::vector<score> scores(devices_);
        for (const buffer_index b : program_.reads(op)) {
            for (memory_index d = 0; d < devices_; ++d) {
                if (there(b, d) == 0) continue;
                (lasting_[b] != 0 ? scores[d].lasting : scores[d].passing) +=
                    static_cast<double>(program_.bytes(b));
            }
        }
        memory_index best = last_;
        for (memory_index d = 0; d < devices_; ++d) {
            const score& now = scores[d];
            const score& other = scores[best];
            if (now.lasting > other.lasting || (now.lasting == other.lasting && now.passing > other.passing))
                best = d;
        }
        last_ = best;
        run(op, best, false);
    }
    [[nodiscard]] std::vector<memory_index>& placement() { return placement_; }

private:
    struct score {
        double lasting = 0;
        double passing = 0;
    };
    [[nodiscard]] char& there(buffer_index b, memory_index device) {
        return is_there_[static_cast<std::size_t>(b) * devices_ + device];
    }
    /// What it reads is on its device then too, what it writes there only.
    void run(operator_index op, memory_index device, bool forward) {
        placement_[op] = device;
        for (const buffer_index b : program_.reads(op))
            there(b, device) = 1;
        for (const buffer_index b : program_.writes(op)) {
            for (memory_index d = 0; d < devices_; ++d)
                there(b, d) = d == device ? 1 : 0;
            if (!is_alive_at_start(program_.kind(b))) lasting_[b] = forward ? 1 : 0;
        }
        for (const buffer_index b : program_.accesses(op)) {
            if (is_alive_at_start(program_.kind(b))) lasting_[b] = 1;
        }
    }

    const tensor_graph& program_;
    std::uint32_t devices_;
    std::vector<memory_index> placement_;  // by operator
    std::vector<char> is_there_;           // by buffer and device: 1 if its contents are there
    std::vector<char> lasting_;            // by buffer: the forward pass left it, or it was there before
    memory_index last_ = 0;                // where the operator before is
};

}  // namespace detail

/// By operator: its device. Stages are those that the program gives, or inferred (graph/stages.hpp); without
/// a backward pass or an update it is place_in_parts. The cuts of the forward pass are moved until the
/// devices' whole times are nearly even. `order` is legal. Throws stowage::error for no device. O(operators +
/// accesses x devices) a few times.
template <class = void>
[[nodiscard]] std::vector<memory_index> place_by_layers(const tensor_graph& program,
                                                        std::span<const operator_index> order,
                                                        std::uint32_t devices, const machine& m = {}) {
    if (devices == 0) throw error("a placement needs at least one device");
    constexpr int rounds = 8;
    const std::vector<stage> stages = stages_of(program);
    std::vector<double> seconds(program.operator_count(), 0);
    std::vector<operator_index> forward;
    std::vector<double> weights;
    for (const operator_index op : order) {
        seconds[op] = operator_seconds(program, op, m);
        if (stages[op] != stage::forward) continue;
        forward.push_back(op);
        weights.push_back(seconds[op]);
    }
    if (forward.empty() || forward.size() == order.size()) return place_in_parts(program, order, devices, m);
    std::vector<memory_index> best;
    double least = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::vector<memory_index> parts = detail::even_parts(program, forward, weights, devices);
        detail::basic_layer_placement<> made(program, devices);
        for (std::size_t k = 0; k < forward.size(); ++k)
            made.put(forward[k], parts[k]);
        for (const operator_index op : order) {
            if (stages[op] != stage::forward) made.follow(op);
        }
        std::vector<double> whole(devices, 0);
        std::vector<double> of_forward(devices, 0);
        for (const operator_index op : order)
            whole[made.placement()[op]] += seconds[op];
        for (std::size_t k = 0; k < forward.size(); ++k)
            of_forward[parts[k]] += seconds[forward[k]];
        const double most = *std::max_element(whole.begin(), whole.end());
        if (round == 0 || most < least) {
            least = most;
            best = made.placement();
        }
        // A part's operators weigh what their device has to do for each second of theirs.
        for (std::size_t k = 0; k < forward.size(); ++k) {
            const memory_index d = parts[k];
            if (of_forward[d] > 0) weights[k] = seconds[forward[k]] * whole[d] / of_forward[d];
        }
    }
    return best;
}

}  // namespace stowage::turnip
