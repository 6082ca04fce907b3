#pragma once
// A device without lanes of its own: every unit of work has ended when submit returns, on the dispatcher's
// thread. The plainest model of a device, for sequential runs and for measuring what dispatching costs.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/exec/detail/arena.hpp>
#include <stowage/exec/detail/host_lane.hpp>
#include <stowage/exec/device.hpp>

namespace stowage::exec {

/// How an inline_device is made.
struct inline_device_options {
    std::uint32_t compute_lanes = 1;  ///< compute lanes a device; they take turns
    bool memory = true;  ///< false: no arenas are made, nothing is copied and kernels see no bytes
};

/// Runs everything at once, one after the other. Used by one thread.
class inline_device {
public:
    /// The lane's index.
    using native_handle = lane_index;

    explicit inline_device(const inline_device_options& options = {}) : options_(options) {}

    [[nodiscard]] std::uint32_t compute_lanes() const noexcept { return options_.compute_lanes; }
    /// Throws device_error naming the memory for which there is none.
    void prepare(const device_request& request, const work_source<native_handle>& source) {
        source_ = source;
        if (!options_.memory) return;
        memories_.make(request, {}, {});
    }
    void release() noexcept { memories_.clear(); }
    [[nodiscard]] std::byte* base(turnip::memory_index memory) noexcept { return memories_.base(memory); }
    void write(turnip::memory_index memory, std::int64_t address, std::span<const std::byte> from) {
        if (options_.memory) std::memcpy(memories_.base(memory) + address, from.data(), from.size());
    }
    void read(turnip::memory_index memory, std::int64_t address, std::span<std::byte> to) {
        if (options_.memory) std::memcpy(to.data(), memories_.base(memory) + address, to.size());
    }
    void begin(const device_run&) noexcept { start_ = clock::now(); }
    void end() noexcept {}
    [[nodiscard]] submitted submit(const lane_work& work) noexcept {
        if (work.kind != work_kind::copy) {
            const bool well =
                source_.run(source_.self, work.kind, work.vertex, work.slot, work.lane, work.lane);
            return well ? submitted::done : submitted::threw;
        }
        if (options_.memory && work.copy.bytes > 0) memories_.copy(work.copy);
        return submitted::done;
    }
    void abort() noexcept {}
    [[nodiscard]] bool take(lane_index, completion&) noexcept { return false; }
    /// Sleeps until `wake` is called or the clock shows `until`: nothing else can be news.
    void wait(std::int64_t until) noexcept {
        std::chrono::nanoseconds most(-1);
        if (until != never) most = std::chrono::nanoseconds(std::max<std::int64_t>(0, until - now()));
        news_.wait_change(seen_, {}, most);
        seen_ = news_.value();
    }
    void wake() noexcept { news_.raise(); }
    [[nodiscard]] std::int64_t now() const noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start_).count();
    }
    [[nodiscard]] std::string failure(lane_index) const { return {}; }

private:
    using clock = std::chrono::steady_clock;
    inline_device_options options_;
    work_source<native_handle> source_;
    detail::memories memories_;
    detail::progress_counter news_;
    std::uint32_t seen_ = 0;
    clock::time_point start_ = clock::now();
};
static_assert(device<inline_device>);

}  // namespace stowage::exec
