#pragma once
// What an executor asks of the machine that carries out a memgraph: memories, lanes, and news of what has
// ended. One object stands for all devices of a memgraph and the host. Models: inline_device, host_device,
// simulated_device, and cuda_device in <stowage/exec/cuda.hpp>.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <stowage/exec/fault.hpp>
#include <stowage/exec/lane.hpp>

namespace stowage::exec {

/// The time of a device's clock that never comes.
inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// What is still in a lane though the ends of all its work were told: an announcement, what a kernel put
/// there before it threw.
struct leftover {
    lane_index lane = no_lane;        ///< no_lane: all lanes are empty
    turnip::vertex_index vertex = 0;  ///< given to that lane last
    bool lost = false;                ///< and the device is lost
};

/// Memories: what is made before a run, and reading and writing it between runs.
/// `prepare(request, source)` makes every arena and lane or throws device_error, and then has made nothing;
/// `release()` gives all of it back; `base(memory)` is the address of a memory's first byte, null where a
/// memory has none; `write` and `read` copy between the caller's bytes and a memory, while nothing runs.
template <class D>
concept device_memory = requires(D& d, const device_request& request,
                                 const work_source<typename D::native_handle>& source,
                                 turnip::memory_index memory, std::int64_t address,
                                 std::span<const std::byte> from, std::span<std::byte> to) {
    d.prepare(request, source);
    { d.release() }
    noexcept;
    { d.base(memory) }
    noexcept->std::same_as<std::byte*>;
    d.write(memory, address, from);
    d.read(memory, address, to);
};

/// Lanes: `compute_lanes()` is how many each device is to have; `begin(run)` and `end()` enclose a run;
/// `submit(work)` puts work into its lane; `abort()` makes whatever has not started in any lane end as
/// skipped. One thread, the dispatcher, makes these calls.
template <class D>
concept device_lanes = requires(D& d, const D& c, const device_run& run, const lane_work& work) {
    { c.compute_lanes() }
    noexcept->std::convertible_to<std::uint32_t>;
    d.begin(run);
    { d.end() }
    noexcept;
    { d.submit(work) }
    noexcept->std::same_as<submitted>;
    { d.abort() }
    noexcept;
};

/// News: `take(lane, end)` tells the end of the oldest work of `lane` that has not been told, if it has come;
/// `wait(until)` sleeps until there may be news, `wake` was called, or the device's clock shows `until`;
/// `wake()` may be called by any thread; `now()` is the device's clock, in nanoseconds since `begin`;
/// `failure(lane)` says in words why the lane's last work failed.
template <class D>
concept device_news = requires(D& d, lane_index lane, completion& end, std::int64_t until) {
    { d.take(lane, end) }
    noexcept->std::same_as<bool>;
    { d.wait(until) }
    noexcept;
    { d.wake() }
    noexcept;
    { d.now() }
    noexcept->std::same_as<std::int64_t>;
    { d.failure(lane) } -> std::same_as<std::string>;
};

/// A machine that carries out memgraphs: see device_memory, device_lanes and device_news. It may have
/// `suggested_window()` and `suggested_copy_chunk_bytes()`, for an executor whose user names none;
/// `left()`, the leftover of a run whose work has all ended, which is asked before `end()` until there is
/// none or the watchdog's patience is over; and `abandon()`, which is told that the executor waits for
/// nothing of this run any more: then `end()` must not either.
template <class D>
concept device = requires {
    typename D::native_handle;
}
&&device_memory<D>&& device_lanes<D>&& device_news<D>;

namespace detail {

/// The window that the user `asked` for; if none (0), the device's.
template <device Device>
[[nodiscard]] std::uint32_t window_of(const Device& device, std::uint32_t asked) noexcept {
    constexpr std::uint32_t most = 1024;
    if (asked > 0) return asked < most ? asked : most;
    if constexpr (requires { device.suggested_window(); })
        return device.suggested_window();
    else
        return 1;
}
/// The size of pieces of copies that the user `asked` for; if none (below 0), the device's.
template <device Device>
[[nodiscard]] std::int64_t copy_chunk_of(const Device& device, std::int64_t asked) noexcept {
    if (asked >= 0) return asked;
    if constexpr (requires { device.suggested_copy_chunk_bytes(); })
        return device.suggested_copy_chunk_bytes();
    else
        return 0;
}
/// What is still in a lane of `device` though all its work has ended.
template <device Device>
[[nodiscard]] leftover leftover_of(Device& device) noexcept {
    if constexpr (requires { device.left(); })
        return device.left();
    else
        return {};
}

}  // namespace detail

}  // namespace stowage::exec
