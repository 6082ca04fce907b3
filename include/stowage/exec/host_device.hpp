#pragma once
// The host as a machine: a worker thread a lane, arenas in memory, copies by memcpy or from and to a file. It
// runs real programs whose memory is to be kept below a limit, and stands in for an accelerator everywhere
// else.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <stowage/exec/detail/arena.hpp>
#include <stowage/exec/detail/file_store.hpp>
#include <stowage/exec/detail/host_lane.hpp>
#include <stowage/exec/device.hpp>
#include <stowage/exec/injection.hpp>
#include <stowage/exec/notifier.hpp>

namespace stowage::exec {

/// How a host_device is made.
struct host_device_options {
    std::uint32_t compute_lanes =
        1;  ///< operators that each device runs at once, each on a thread of its own
    std::vector<std::span<std::byte>> arenas =
        {};                                ///< by device: the caller's memory; empty: made by the device
    std::span<std::byte> host = {};        ///< the host arena's memory; empty: made by the device
    std::filesystem::path host_file = {};  ///< if not empty: the host arena is a new file of this name,
                                           ///< removed with the device, for stores larger than the RAM
    exec::notifier notifier = notifier::callback;  ///< how ended work is noticed
    std::optional<std::chrono::nanoseconds> spin =
        {};  ///< how long threads look for work before they sleep; none: 20 us where every lane has a
             ///< processor, else 0
    std::function<void(const lane_description&)> before_lane =
        {};  ///< called before a lane's thread is made; what it throws becomes a device_error naming the lane
    std::function<void(const lane_description&)> in_lane =
        {};  ///< called once by each lane's thread, before its first work: to pin it, to set libraries up;
             ///< what it throws becomes a device_error naming the lane
    injector inject = {};  ///< faults on purpose; empty: none
};

/// Worker threads as lanes. One dispatcher thread uses it; kernels run on the lanes' threads.
template <class = void>
class basic_host_device {
public:
    /// The lane's index.
    using native_handle = lane_index;

    basic_host_device() = default;
    explicit basic_host_device(host_device_options options) : options_(std::move(options)) {}
    basic_host_device(const basic_host_device&) = delete;
    basic_host_device& operator=(const basic_host_device&) = delete;
    ~basic_host_device() { release(); }

    [[nodiscard]] std::uint32_t compute_lanes() const noexcept { return options_.compute_lanes; }
    /// Enough that a lane's thread does not sleep between two operators until the dispatcher's has woken,
    /// which may take 50 us each; less where lanes share operators, which should go to the lane that is free
    /// first.
    [[nodiscard]] std::uint32_t suggested_window() const noexcept {
        return options_.compute_lanes > 1 ? 2 : 8;
    }

    /// Throws device_error naming the memory or lane that cannot be made; then nothing is left behind.
    void prepare(const device_request& request, const work_source<native_handle>& source) {
        release();
        source_ = source;
        window_ = request.window;
        const std::size_t threads = request.lanes.size() + 1;
        spin_ = options_.spin.value_or(std::chrono::microseconds(
            options_.notifier != notifier::pinned_word && std::thread::hardware_concurrency() >= threads
                ? 20
                : 0));
        try {
            if (!options_.host_file.empty())
                store_ = detail::file_store::make(options_.host_file, request.host_bytes);
            memories_.make(request, options_.arenas, options_.host, options_.host_file.empty());
            for (const lane_description& lane : request.lanes)
                make_lane(lane, request.lanes.size());
        } catch (...) {
            release();
            throw;
        }
    }
    /// Ends the threads, once what they do is done, and frees the arenas.
    void release() noexcept {
        abort();
        ending_.store(true, std::memory_order_release);
        for (detail::host_lane& lane : lanes_) {
            slot_of(lane, lane.submitted.value()).quit = true;
            lane.submitted.raise();
        }
        for (detail::host_lane& lane : lanes_) {
            if (lane.thread.joinable()) lane.thread.join();
        }
        lanes_.clear();
        memories_.clear();
        store_ = detail::file_store();
    }
    [[nodiscard]] std::byte* base(turnip::memory_index memory) noexcept { return memories_.base(memory); }
    /// Throws device_error where the file of the host arena cannot be written.
    void write(turnip::memory_index memory, std::int64_t address, std::span<const std::byte> from) {
        if (memory == turnip::host && store_.is_open())
            check(store_.write(address, from.data(), static_cast<std::int64_t>(from.size())));
        else
            std::memcpy(memories_.base(memory) + address, from.data(), from.size());
    }
    /// Throws device_error where the file of the host arena cannot be read.
    void read(turnip::memory_index memory, std::int64_t address, std::span<std::byte> to) {
        if (memory == turnip::host && store_.is_open())
            check(store_.read(address, to.data(), static_cast<std::int64_t>(to.size())));
        else
            std::memcpy(to.data(), memories_.base(memory) + address, to.size());
    }

    void begin(const device_run& run) noexcept {
        times_ = run.keep_times;
        aborted_.store(false, std::memory_order_relaxed);
        ending_.store(false, std::memory_order_relaxed);
        start_ = clock::now();
        for (detail::host_lane& lane : lanes_)
            lane.base = lane.submitted.value();
    }
    void end() noexcept { ending_.store(true, std::memory_order_release); }

    [[nodiscard]] submitted submit(const lane_work& work) noexcept {
        detail::host_lane& lane = lanes_[work.lane];
        detail::host_slot& slot = slot_of(lane, lane.submitted.value());
        slot.injected = {};
        if (options_.inject) {
            slot.injected = options_.inject(work);
            if (slot.injected.effect == injected_effect::refuse) {
                lane.failure = "refused on purpose";
                return submitted::refused;
            }
        }
        slot.work = work;
        slot.work.waits = {};
        slot.waits = work.waits.size();
        lane_wait* const waits = waits_of(lane, lane.submitted.value());
        for (std::size_t i = 0; i < work.waits.size(); ++i)
            waits[i] = {work.waits[i].lane, work.waits[i].position + lanes_[work.waits[i].lane].base};
        lane.submitted.raise();
        return submitted::queued;
    }
    void abort() noexcept { aborted_.store(true, std::memory_order_release); }

    [[nodiscard]] bool take(lane_index l, completion& end) noexcept {
        detail::host_lane& lane = lanes_[l];
        if (lane.taken == lane.completed.value()) return false;
        end = slot_of(lane, lane.taken++).end;
        return true;
    }
    void wait(std::int64_t until) noexcept {
        std::chrono::nanoseconds most(-1);
        if (until != never) most = std::chrono::nanoseconds(std::max<std::int64_t>(0, until - now()));
        if (options_.notifier == notifier::poll) {
            if (news_.value() == seen_) std::this_thread::yield();
        } else {
            constexpr std::chrono::nanoseconds nap = std::chrono::microseconds(50);
            if (options_.notifier == notifier::pinned_word && (most.count() < 0 || most > nap)) most = nap;
            news_.wait_change(seen_, std::min(spin_, most.count() < 0 ? spin_ : most), most);
        }
        seen_ = news_.value();
    }
    void wake() noexcept { news_.raise(); }
    [[nodiscard]] std::int64_t now() const noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start_).count();
    }
    [[nodiscard]] std::string failure(lane_index l) const { return lanes_[l].failure; }

private:
    using clock = std::chrono::steady_clock;

    void make_lane(const lane_description& description, std::size_t lanes) {
        try {
            if (options_.before_lane) options_.before_lane(description);
            detail::host_lane& lane = lanes_.emplace_back();
            lane.ring.resize(window_ + 1);  // room for the order to quit
            lane.waits.resize(lane.ring.size() * lanes);
            start_thread(lane, description);
        } catch (const std::exception& e) {
            throw device_error(std::string("its thread cannot be made: ") + e.what(), description.name);
        } catch (...) {
            throw device_error("its thread cannot be made", description.name);
        }
    }

    /// Throws what the user's `in_lane` throws; then there is no thread.
    void start_thread(detail::host_lane& lane, const lane_description& description) {
        std::promise<void> ready;
        std::future<void> is_ready = ready.get_future();
        lane.thread = std::thread([this, &lane, description, ready = std::move(ready)]() mutable {
            try {
                if (options_.in_lane) options_.in_lane(description);
            } catch (...) {
                ready.set_exception(std::current_exception());
                return;
            }
            ready.set_value();
            serve(lane);
        });
        if (options_.in_lane) is_ready.get();
    }
    [[nodiscard]] static detail::host_slot& slot_of(detail::host_lane& lane, std::uint32_t count) noexcept {
        return lane.ring[count % lane.ring.size()];
    }
    [[nodiscard]] lane_wait* waits_of(detail::host_lane& lane, std::uint32_t count) noexcept {
        return lane.waits.data() + count % lane.ring.size() * lanes_.size();
    }

    void serve(detail::host_lane& lane) noexcept {
        for (std::uint32_t done = 0;; ++done) {
            lane.submitted.wait_for(done + 1, spin_);
            detail::host_slot& slot = slot_of(lane, done);
            if (slot.quit) return;
            const lane_wait* const waits = waits_of(lane, done);
            for (std::size_t i = 0; i < slot.waits; ++i)
                lanes_[waits[i].lane].completed.wait_for(waits[i].position, spin_);
            carry_out(lane, slot);
            lane.completed.raise();
            news_.raise(options_.notifier == notifier::callback);
        }
    }
    void carry_out(detail::host_lane& lane, detail::host_slot& slot) noexcept {
        slot.end = {};
        if (aborted_.load(std::memory_order_acquire)) {
            slot.end.result = outcome::skipped;
            return;
        }
        if (times_) slot.end.started = now();
        slot.end.result = perform(lane, slot);
        if (slot.end.result != outcome::done) abort();
        if (times_) slot.end.finished = now();
    }
    [[nodiscard]] outcome perform(detail::host_lane& lane, const detail::host_slot& slot) noexcept {
        if (slot.injected.delay.count() > 0) std::this_thread::sleep_for(slot.injected.delay);
        if (slot.injected.effect == injected_effect::hang) {
            while (!ending_.load(std::memory_order_acquire))
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            return outcome::skipped;
        }
        if (slot.injected.effect != injected_effect::none) {
            lane.failure = "failed on purpose";
            return slot.injected.effect == injected_effect::fail ? outcome::failed : outcome::lost;
        }
        if (slot.work.kind == work_kind::copy) return copy(lane, slot.work.copy);
        const lane_work& work = slot.work;
        return source_.run(source_.self, work.kind, work.vertex, work.slot, work.lane, work.lane)
                   ? outcome::done
                   : outcome::threw;
    }
    [[nodiscard]] outcome copy(detail::host_lane& lane, const copy_request& copy) noexcept {
        if (copy.bytes == 0) return outcome::done;
        int failure = 0;
        if (store_.is_open() && copy.to == turnip::host) {
            failure =
                store_.write(copy.to_address, memories_.base(copy.from) + copy.from_address, copy.bytes);
        } else if (store_.is_open() && copy.from == turnip::host && copy.bound == nullptr) {
            failure = store_.read(copy.from_address, memories_.base(copy.to) + copy.to_address, copy.bytes);
        } else {
            memories_.copy(copy);
        }
        if (failure == 0) return outcome::done;
        lane.failure = "the host arena's file: " + std::generic_category().message(failure);
        return outcome::failed;
    }
    static void check(int failure) {
        if (failure != 0) throw device_error("its file: " + std::generic_category().message(failure), "host");
    }

    host_device_options options_;
    work_source<native_handle> source_;
    detail::memories memories_;
    detail::file_store store_;
    std::deque<detail::host_lane> lanes_;  // whose addresses threads hold
    std::uint32_t window_ = 1;
    std::chrono::nanoseconds spin_{0};
    std::atomic<bool> aborted_{false};
    std::atomic<bool> ending_{false};
    detail::progress_counter news_;
    std::uint32_t seen_ = 0;  // news looked at
    bool times_ = true;
    clock::time_point start_ = clock::now();
};
/// Worker threads as lanes: see basic_host_device.
using host_device = basic_host_device<>;

static_assert(device<host_device>);

#if defined(STOWAGE_TEMPLATES)
STOWAGE_TEMPLATES template class basic_host_device<>;
#endif

}  // namespace stowage::exec
