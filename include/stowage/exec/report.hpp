#pragma once
// What a run tells: how long it took, what every lane did and why it was idle, bytes each way, faults.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <stowage/exec/fault.hpp>
#include <stowage/exec/lane.hpp>

namespace stowage::exec {

/// How a run ended.
enum class run_status : std::uint8_t {
    ok,         ///< every vertex has run
    failed,     ///< something went wrong; the report's `error` says what
    stopped,    ///< the caller asked for it
    timed_out,  ///< the deadline passed
};

/// "ok", "failed", "stopped" or "timed out".
[[nodiscard]] constexpr std::string_view to_string(run_status status) noexcept {
    switch (status) {
        case run_status::ok: return "ok";
        case run_status::failed: return "failed";
        case run_status::stopped: return "stopped";
        case run_status::timed_out: break;
    }
    return "timed out";
}

/// What an idle lane waited for: what the vertex that it ran next waited for last.
enum class idle_cause : std::uint8_t {
    compute,   ///< an operator
    reload,    ///< a copy from the host
    offload,   ///< a copy to the host
    transfer,  ///< a copy between devices
    dispatch,  ///< nothing: the vertex was ready, and had not been started yet
    end,       ///< nothing was left for this lane
};

/// Number of causes.
inline constexpr std::size_t idle_cause_count = 6;

/// "compute", "reload", "offload", "transfer", "dispatch" or "end".
[[nodiscard]] constexpr std::string_view to_string(idle_cause cause) noexcept {
    switch (cause) {
        case idle_cause::compute: return "compute";
        case idle_cause::reload: return "reload";
        case idle_cause::offload: return "offload";
        case idle_cause::transfer: return "transfer";
        case idle_cause::dispatch: return "dispatch";
        case idle_cause::end: break;
    }
    return "end";
}

/// One lane in one run. Times are kept only where run_options asks for them.
struct lane_report {
    std::string name = {};                                             ///< "d0.compute"
    lane_kind kind = lane_kind::compute;                               ///< what goes through it
    turnip::memory_index device = 0;                                   ///< that owns it
    std::uint64_t vertices = 0;                                        ///< that ended in it
    std::int64_t bytes = 0;                                            ///< copied through it
    std::chrono::nanoseconds busy{0};                                  ///< time with work under way
    std::array<std::chrono::nanoseconds, idle_cause_count> idle = {};  ///< time without, by cause
    /// Bytes a second while busy; 0 if nothing was copied or times were not kept.
    [[nodiscard]] double bytes_per_second() const noexcept {
        return busy.count() > 0 ? static_cast<double>(bytes) * 1e9 / static_cast<double>(busy.count()) : 0.0;
    }
};

/// One unit of work in one lane, for traces.
struct trace_entry {
    turnip::vertex_index vertex = 0;  ///< on whose behalf
    lane_index lane = 0;              ///< where
    std::int64_t started = 0;         ///< nanoseconds since the run began
    std::int64_t finished = 0;        ///< nanoseconds since the run began
};

/// One run. It belongs to its executor, and is overwritten by the next run.
struct run_report {
    run_status status = run_status::ok;       ///< how it ended
    std::chrono::nanoseconds makespan{0};     ///< from start to the end of the last vertex
    std::uint64_t vertices = 0;               ///< vertices that ended well
    std::int64_t bytes_offloaded = 0;         ///< device to host
    std::int64_t bytes_reloaded = 0;          ///< host to device
    std::int64_t bytes_transferred = 0;       ///< device to device, within a device too
    std::vector<lane_report> lanes = {};      ///< by lane
    std::chrono::nanoseconds dispatching{0};  ///< time that the dispatcher did not sleep
    std::optional<fault> error = {};          ///< the first fault
    std::vector<fault> later = {};            ///< further ones, of work that was under way
    std::vector<trace_entry> trace = {};      ///< units of work as they ended, if asked for
    bool device_lost = false;                 ///< no further run is possible on this device

    /// True if every vertex has run.
    explicit operator bool() const noexcept { return status == run_status::ok; }
};

}  // namespace stowage::exec
