#pragma once
// What a simulated run is asked and answers: the values of turnip/simulate.hpp.

#include <cstdint>
#include <string_view>
#include <vector>

#include <stowage/turnip/fwd.hpp>

namespace stowage::turnip {

/// When vertices whose dependencies are complete may start.
enum class schedule : std::uint8_t {
    event_driven,  ///< as soon as a lane is free: what Turnip does
    fixed_order,   ///< each device's operators in the memgraph's order, copies as soon as a lane is free
    synchronous,   ///< each device does one thing at a time, operator or copy, in the memgraph's order
};

/// "event-driven", "fixed-order" or "synchronous".
[[nodiscard]] constexpr std::string_view to_string(schedule value) noexcept {
    switch (value) {
        case schedule::event_driven: return "event-driven";
        case schedule::fixed_order: return "fixed-order";
        case schedule::synchronous: break;
    }
    return "synchronous";
}

/// Which of several vertices that wait for one lane is first. Ties end in the vertex's index.
enum class priority : std::uint8_t {
    critical,  ///< the longest path of times to the end of the run
    need,      ///< the position of the first operator that waits for it, itself included
    fifo,      ///< whose dependencies were complete first
    random,    ///< by the seed
};

/// "critical", "need", "fifo" or "random".
[[nodiscard]] constexpr std::string_view to_string(priority value) noexcept {
    switch (value) {
        case priority::critical: return "critical";
        case priority::need: return "need";
        case priority::fifo: return "fifo";
        case priority::random: break;
    }
    return "random";
}

/// How a memgraph is run in virtual time.
struct simulate_options {
    turnip::schedule schedule = schedule::event_driven;  ///< what may start when
    turnip::priority priority = priority::need;          ///< who is first
    std::uint64_t seed =
        1;  ///< of jitter and of the random priority; a vertex's jitter depends on nothing else
};

/// What one thing does one after the other.
enum class lane_kind : std::uint8_t {
    compute,   ///< operators; `index` counts a device's compute lanes
    offload,   ///< copies from the device to the host
    reload,    ///< copies from the host to the device
    transfer,  ///< copies to the device; `index` is the source device
};

/// "compute", "offload", "reload" or "transfer".
[[nodiscard]] constexpr std::string_view to_string(lane_kind value) noexcept {
    switch (value) {
        case lane_kind::compute: return "compute";
        case lane_kind::offload: return "offload";
        case lane_kind::reload: return "reload";
        case lane_kind::transfer: break;
    }
    return "transfer";
}

/// One lane of a device.
struct lane {
    lane_kind kind = lane_kind::compute;  ///< what it does
    memory_index device = 0;              ///< whose it is
    std::uint32_t index = 0;              ///< see lane_kind
    friend bool operator==(const lane&, const lane&) = default;
};

/// From when to when one vertex ran, and on which lane.
struct vertex_run {
    double ready = 0;        ///< its dependencies were complete, in seconds from the start of the run
    double begin = 0;        ///< it started
    double end = 0;          ///< it was complete
    std::uint32_t lane = 0;  ///< position in `simulation::lanes`
};

/// How one device spent the run, in seconds, summed over its compute lanes: from the start of the run to the
/// end of its last operator.
struct device_use {
    double compute = 0;             ///< operators ran
    double waiting_for_data = 0;    ///< idle, while contents that the next operator reads were made or moved
    double waiting_for_memory = 0;  ///< idle, while bytes that the next operator takes were still in use
    double waiting_for_lane =
        0;                ///< idle, while a copy that it waits for waited for its own lane, or its turn
    double offload = 0;   ///< its lane to the host was busy
    double reload = 0;    ///< its lane from the host was busy
    double transfer = 0;  ///< its lanes from other devices were busy
    std::int64_t peak_bytes =
        0;  ///< most bytes that held contents, were written or served as workspace at once
};

/// A run in virtual time.
struct simulation {
    double makespan = 0;                 ///< seconds from start to end
    std::vector<device_use> devices;     ///< by device
    std::vector<lane> lanes;             ///< those that some vertex used
    std::vector<vertex_run> runs;        ///< by vertex
    std::int64_t bytes_offloaded = 0;    ///< copied to the host
    std::int64_t bytes_reloaded = 0;     ///< copied from the host
    std::int64_t bytes_transferred = 0;  ///< copied between devices, or within one
};

}  // namespace stowage::turnip
