#pragma once
// What a user says when an executor is made, and when a run starts.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include <stowage/exec/event.hpp>
#include <stowage/exec/priority.hpp>
#include <stowage/turnip/machine.hpp>

namespace stowage::exec {

/// How an executor works.
struct executor_options {
    any_priority priority = critical_path{};  ///< which of several ready vertices goes first
    std::uint32_t window =
        0;  ///< most units of work in one lane; 1: a vertex starts when all that it waits for has ended, as
            ///< in the paper; more: it may be queued behind work under way, and the device keeps the order,
            ///< so that no lane waits for the dispatcher between two operators; 0: the device's
            ///< suggested_window(), 1 if it has none; at most 1,024, as deep as a CUDA stream's queue
    std::uint32_t copy_window = 2;  ///< the same for lanes of copies, at least 1 and at most `window`: what
                                    ///< is queued there can be overtaken by no more urgent copy
    std::int64_t copy_chunk_bytes = -1;  ///< longer copies are made in pieces of this size, between which a
                                         ///< more urgent copy may go; 0: none is; below: the device's
                                         ///< suggested_copy_chunk_bytes(), none is if it has none
    turnip::machine machine = {};        ///< speeds by which policies estimate times
    std::uint32_t kernel_slots = 16;     ///< most kernels that are coroutines under way at once, at least 1
    std::size_t kernel_frame_bytes = 1024;  ///< largest frame of such a kernel that needs no heap
};

/// How far a run is.
struct progress {
    std::uint32_t done = 0;   ///< vertices that have ended
    std::uint32_t total = 0;  ///< vertices
};

/// How one run is to go.
struct run_options {
    std::stop_token stop = {};  ///< a request to stop: nothing new starts, what runs is waited for
    std::optional<std::chrono::nanoseconds> deadline =
        {};  ///< as if stopped when this much of the device's time has passed
    std::optional<std::chrono::nanoseconds> watchdog =
        {};                  ///< a device on which nothing ends for so long is given up as lost; none: never
    std::uint64_t seed = 1;  ///< of priorities by chance and of a simulated device's jitter
    bool keep_times = true;  ///< the report has times and causes by lane; costs some 50 ns a vertex
    bool trace = false;      ///< the report has every unit of work; implies keep_times
    const std::function<void(const progress&)>* on_progress =
        nullptr;  ///< called on the dispatcher's thread, at most once a poll; must outlive the run
    event* start_after = nullptr;  ///< nothing starts before it is set; must outlive the run
    event* signal = nullptr;       ///< set when the run has ended, however
};

}  // namespace stowage::exec
