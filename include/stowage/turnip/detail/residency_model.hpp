#pragma once
// What a residency policy decides about: gaps. A program in a fixed order becomes steps; a buffer on one
// device is an instance with accesses at some steps, where it must be there; a gap is the span between two
// accesses, for which it may leave. Contents between two writes are a version: it goes out at most once, for
// all of its gaps. Source: papers/offload.md, "The model: gaps, not evictions".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <stowage/graph/tensor_graph.hpp>
#include <stowage/turnip/fwd.hpp>

namespace stowage::turnip::detail {

/// One moment of the order: an operator, a transfer between devices, or a boundary of the run (the first and
/// the last step, where buffers are that start or end on a device).
struct model_step {
    operator_index op = no_operator;  ///< the operator; `no_operator` otherwise
    memory_index device = 0;          ///< the device that runs it, or receives the transfer
    std::uint32_t source = 0;         ///< of a transfer: the instance that is read
    std::uint32_t target = 0;         ///< of a transfer: the instance that is written
    bool is_transfer = false;
};

/// A step at which an instance must be on its device.
struct model_access {
    std::uint32_t step = 0;
    std::uint32_t instance = 0;
    std::uint32_t before = 0;  ///< the version that it reads, if it reads
    std::uint32_t after = 0;   ///< the version that is there afterwards
    bool reads = false;
    bool writes = false;
    std::int32_t link = 0;  ///< how it hangs together with the access before it: see link_kind
};

/// Values of model_access::link and model_instance::tail that are no gap's index.
struct link_kind {
    static constexpr std::int32_t joined = -1;  ///< no step between them: it stays
    static constexpr std::int32_t dead = -2;    ///< nothing of worth is there in between
    static constexpr std::int32_t moved = -3;   ///< the contents come from the host, or go there
};

/// A buffer on one device.
struct model_instance {
    buffer_index buffer = 0;
    memory_index device = 0;
    std::uint32_t first = 0;  ///< its accesses are [first, last) of residency_model::accesses
    std::uint32_t last = 0;
    std::int32_t tail = link_kind::dead;  ///< what comes after its last access
    bool tied = false;                    ///< where it is at the start, it must be at the end
};

/// A span of steps for which an instance may leave its device. [lower, upper] are steps; a wrapped one is
/// [lower, last step] and [0, upper]: from the last access to the first one of the next run.
struct model_gap {
    std::uint32_t instance = 0;
    std::uint32_t lower = 0;
    std::uint32_t upper = 0;
    std::uint32_t version = 0;  ///< whose contents are there
    std::int64_t bytes = 0;     ///< what it takes of the device, rounded to the alignment
    std::int64_t bytes_in = 0;  ///< what its return costs, if it leaves
    bool wrapped = false;
    bool needs_copy = true;  ///< leaving demands that the version goes out

    /// True if it would stay during `step`.
    [[nodiscard]] bool covers(std::size_t step) const noexcept {
        return wrapped ? step <= upper || step >= lower : step >= lower && step <= upper;
    }
};

/// Contents of a buffer between two writes.
struct model_version {
    buffer_index buffer = 0;
    std::uint32_t instance = 0;     ///< that made it, or holds it at the start
    std::int64_t bytes_out = 0;     ///< what it costs to go out; 0 if a good copy is on the host
    bool goes_out = false;          ///< it must, whatever is decided
    bool initial = false;           ///< it is there at the start
    bool on_host_at_start = false;  ///< it has a copy on the host at the start, or may have one
};

/// A buffer that waits on another device while its own is full: it goes there after one operator of the order
/// and is back before a later one.
struct parking {
    buffer_index buffer = 0;
    memory_index device = 0;   ///< whose bytes it frees
    memory_index peer = 0;     ///< where it waits
    std::uint32_t after = 0;   ///< position in the order
    std::uint32_t before = 0;  ///< position in the order, larger than `after`
};

/// A program in a fixed order, as gaps.
struct residency_model {
    std::uint32_t devices = 1;
    std::int64_t alignment = 1;
    std::vector<model_step> steps;
    std::vector<model_access> accesses;  ///< instance by instance, in the order of steps
    std::vector<model_instance> instances;
    std::vector<model_gap> gaps;
    std::vector<model_version> versions;
    std::vector<std::uint32_t> copy_of;             ///< by version: the one with which it shares its way out
    std::vector<std::uint32_t> final_version;       ///< by buffer: the last one; none: no_version
    std::vector<std::vector<std::int64_t>> forced;  ///< by device, by step: bytes that must be there
    std::vector<std::int64_t> round_off;            ///< by device: the largest padding of one buffer
    std::vector<std::uint32_t> parking_gates;  ///< by parking: the step at which it begins; 0: it does not
    std::int64_t constant_in = 0;              ///< bytes that come in whatever is decided
    std::int64_t constant_out = 0;             ///< bytes that go out whatever is decided
    static constexpr std::uint32_t no_version = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] std::span<const model_access> accesses_of(std::uint32_t instance) const noexcept {
        return std::span(accesses).subspan(instances[instance].first,
                                           instances[instance].last - instances[instance].first);
    }
    [[nodiscard]] std::uint32_t last_step() const noexcept {
        return static_cast<std::uint32_t>(steps.size() - 1);
    }
};

/// Bytes that must be on a device at once, whatever is decided.
struct forced_demand {
    std::int64_t bytes = 0;
    std::size_t step = 0;  ///< the first one at which they must
};

/// The largest demand of one device. O(steps).
template <class = void>
[[nodiscard]] forced_demand most_forced(const residency_model& model, memory_index device) {
    const std::vector<std::int64_t>& forced = model.forced[device];
    const auto top = std::max_element(forced.begin(), forced.end());
    return {*top, static_cast<std::size_t>(top - forced.begin())};
}

/// The operator of a step; at a transfer or the start the next one, at the end the last; `no_operator` only
/// where there is none at all. O(steps).
template <class = void>
[[nodiscard]] operator_index operator_at(const residency_model& model, std::size_t step) {
    for (std::size_t s = step; s < model.steps.size(); ++s) {
        if (model.steps[s].op != no_operator) return model.steps[s].op;
    }
    for (std::size_t s = step; s-- > 0;) {
        if (model.steps[s].op != no_operator) return model.steps[s].op;
    }
    return no_operator;
}

}  // namespace stowage::turnip::detail
