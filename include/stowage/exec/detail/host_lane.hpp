#pragma once
// One lane of a host_device: a worker thread and a ring of work that it takes in order. Counters pass the
// work to and fro; nobody locks. Sleepers announce themselves before they look a last time, and whoever
// changes a counter looks for sleepers after it, both in one total order: no wake-up is lost.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <stowage/exec/detail/futex.hpp>
#include <stowage/exec/injection.hpp>
#include <stowage/exec/lane.hpp>

namespace stowage::exec::detail {

/// A counter that one thread raises and others wait for.
class progress_counter {
public:
    [[nodiscard]] std::uint32_t value() const noexcept { return value_.load(std::memory_order_acquire); }
    /// True if it has come to `target` (counters wrap; they are never 2^31 apart).
    [[nodiscard]] bool reached(std::uint32_t target) const noexcept {
        return static_cast<std::int32_t>(value() - target) >= 0;
    }
    /// Raises it by one, and wakes who waits if `wakes`.
    void raise(bool wakes = true) noexcept {
        value_.fetch_add(1, std::memory_order_seq_cst);
        if (wakes && sleepers_.load(std::memory_order_seq_cst) != 0) wake_sleepers(value_);
    }
    /// Waits until it is no longer `seen`: spins for `spin`, then sleeps for at most `most` (< 0: without
    /// limit).
    void wait_change(std::uint32_t seen, std::chrono::nanoseconds spin,
                     std::chrono::nanoseconds most) noexcept {
        if (value() != seen) return;
        if (spin.count() > 0) {
            const auto until = std::chrono::steady_clock::now() + spin;
            do {
                for (int i = 0; i < 32; ++i) {
                    if (value() != seen) return;
                    pause_briefly();
                }
            } while (std::chrono::steady_clock::now() < until);
        }
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        if (value_.load(std::memory_order_seq_cst) == seen) sleep_on(value_, seen, most);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    /// Waits until it has come to `target`.
    void wait_for(std::uint32_t target, std::chrono::nanoseconds spin) noexcept {
        while (true) {
            const std::uint32_t seen = value();
            if (static_cast<std::int32_t>(seen - target) >= 0) return;
            wait_change(seen, spin, std::chrono::nanoseconds(-1));
        }
    }

private:
    std::atomic<std::uint32_t> value_{0};
    std::atomic<std::uint32_t> sleepers_{0};
};

/// What is in a lane's ring.
struct host_slot {
    lane_work work;
    injection injected;
    std::size_t waits = 0;
    bool quit = false;  // no work: the thread ends
    completion end;
};

struct alignas(64) host_lane {
    progress_counter submitted;  // raised by the dispatcher
    progress_counter completed;  // raised by the worker
    std::vector<host_slot> ring;
    std::vector<lane_wait> waits;  // of each slot, as many as there are lanes
    std::uint32_t taken = 0;       // the dispatcher's: completions told
    std::uint32_t base = 0;        // the dispatcher's: `submitted` when the run began
    std::string failure;           // of its last work that failed; the worker's until that is completed
    std::thread thread;
};

}  // namespace stowage::exec::detail
