#pragma once
// Lanes: one lane is one FIFO of one device. What a device is asked to make before a run, and what it is
// asked to put into a lane while one runs. Values only; device.hpp says who does what with them.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stowage/exec/fwd.hpp>
#include <stowage/turnip/fwd.hpp>

namespace stowage::exec {

/// What goes through a lane.
enum class lane_kind : std::uint8_t {
    compute,  ///< operators
    reload,   ///< copies from the host to the device
    offload,  ///< copies from the device to the host
    peer,     ///< copies from one other device to the device
    move,     ///< copies within the device
};

/// Number of kinds of lanes.
inline constexpr std::size_t lane_kind_count = 5;

/// "compute", "h2d", "d2h", "peer" or "move": the word in a lane's name.
[[nodiscard]] constexpr std::string_view to_string(lane_kind kind) noexcept {
    switch (kind) {
        case lane_kind::compute: return "compute";
        case lane_kind::reload: return "h2d";
        case lane_kind::offload: return "d2h";
        case lane_kind::peer: return "peer";
        case lane_kind::move: break;
    }
    return "move";
}

/// Stands for "no lane" where a lane_index is expected.
inline constexpr lane_index no_lane = std::numeric_limits<lane_index>::max();

/// One lane, as its device makes it.
struct lane_description {
    lane_kind kind = lane_kind::compute;  ///< what goes through it
    turnip::memory_index device = 0;      ///< the device that owns it; of a peer lane: the destination
    turnip::memory_index source = 0;      ///< of a peer lane: the device copied from
    std::uint32_t number = 0;             ///< among the lanes of its kind on its device, from 0
    std::string name = {};                ///< "d0.compute", "d0.compute.1", "d0.h2d", "d1.peer.d0"
};

/// A contiguous copy between two memories.
struct copy_request {
    turnip::memory_index from = turnip::host;  ///< a device, or the host
    turnip::memory_index to = 0;               ///< a device, or the host
    std::int64_t from_address = 0;             ///< bytes from the start of the source arena
    std::int64_t to_address = 0;               ///< bytes from the start of the destination arena
    std::int64_t bytes = 0;                    ///< how many
    const std::byte* bound = nullptr;          ///< if set: the source, in place of `from_address` on the host
};

/// The work at `position` of lane `lane` and all before it must have ended.
struct lane_wait {
    lane_index lane = 0;         ///< another lane
    std::uint32_t position = 0;  ///< counted from 1 in each run
};

/// What a unit of work is.
enum class work_kind : std::uint8_t {
    kernel,   ///< calls an operator's kernel
    copy,     ///< copies bytes
    segment,  ///< calls what a kernel that is a coroutine has asked its lane to run
};

/// One unit of work for one lane.
struct lane_work {
    work_kind kind = work_kind::kernel;     ///< what to do
    lane_index lane = 0;                    ///< where
    std::uint32_t position = 1;             ///< its place in the lane, from 1 in each run
    turnip::vertex_index vertex = 0;        ///< on whose behalf
    std::uint32_t slot = 0;                 ///< of a segment: which one, for the executor
    copy_request copy = {};                 ///< of a copy
    std::span<const lane_wait> waits = {};  ///< ends that must have come first; valid during the call
};

/// How a unit of work has ended.
enum class outcome : std::uint8_t {
    done,     ///< as it should
    threw,    ///< its kernel threw; the executor has the exception
    failed,   ///< the device reports an error
    skipped,  ///< it never started, because something had failed before
    lost,     ///< the device is lost: nothing is known of its contents, nothing runs on it any more
};

/// The end of one unit of work.
struct completion {
    outcome result = outcome::done;  ///< how it ended
    std::int64_t started = 0;        ///< nanoseconds since the run began; 0 where times are not kept
    std::int64_t finished = 0;       ///< nanoseconds since the run began; 0 where times are not kept
};

/// What `submit` has done with a unit of work.
enum class submitted : std::uint8_t {
    queued,   ///< the lane has it; its completion will come
    done,     ///< it has ended already, well; no completion will come
    threw,    ///< it has ended already: its kernel threw; no completion will come
    refused,  ///< the device did not take it; no completion will come
    lost,     ///< the device is lost; no completion will come
};

/// How a device calls an operator's kernel, or a coroutine's segment: returns false if it threw (the
/// executor keeps the exception). May be called by any thread, by one a lane at a time. `Handle` is the
/// device's native handle of a lane.
template <class Handle>
struct work_source {
    void* self = nullptr;  ///< whose kernels
    bool (*run)(void* self, work_kind kind, turnip::vertex_index vertex, std::uint32_t slot, lane_index lane,
                const Handle& handle) noexcept = nullptr;  ///< the call; all but `handle` is of the lane_work
};

/// All that a device makes before the first run.
struct device_request {
    std::vector<lane_description> lanes = {};    ///< the lanes, by index
    std::vector<std::int64_t> arena_bytes = {};  ///< by device
    std::int64_t host_bytes = 0;                 ///< of the host arena
    std::int64_t alignment = 1;                  ///< of every address
    std::uint32_t window = 1;                    ///< most units of work in one lane at a time
};

/// How one run is to be carried out by a device.
struct device_run {
    bool keep_times = true;  ///< completions carry times
    std::uint64_t seed = 1;  ///< of whatever the device draws by chance (jitter of a simulated one)
};

}  // namespace stowage::exec
