#pragma once
// CUDA devices under the executor: streams as lanes, ordered by events, one dispatcher thread that makes
// every CUDA call of a run. Opt-in: needs CUDA's runtime (target stowage::cuda). Nothing in it is compiled by
// nvcc alone: kernels are the user's, and get their lane's stream.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <stowage/exec/detail/cuda_call.hpp>
#include <stowage/exec/detail/cuda_lane.hpp>
#include <stowage/exec/detail/cuda_link.hpp>
#include <stowage/exec/detail/cuda_memory.hpp>
#include <stowage/exec/device.hpp>
#include <stowage/exec/notifier.hpp>

namespace stowage::exec {

/// How a cuda_device is made.
struct cuda_device_options {
    std::vector<int> ordinals = {
        0};  ///< by device of the memgraph: CUDA's number of it; MIG parts are devices too
    std::uint32_t compute_lanes = 1;           ///< streams for operators, each device
    exec::notifier notifier = notifier::poll;  ///< how ended work is noticed
    std::vector<std::span<std::byte>> arenas =
        {};  ///< by device: the caller's device memory; empty: allocated
    std::span<std::byte> host =
        {};  ///< the host arena's memory, pinned by the caller; empty: made and pinned
    std::function<cudaStream_t(const lane_description&)> stream =
        {};  ///< the caller's stream for a lane, of the lane's device, or null for one that is made; it must
             ///< outlive what is made of it; non-blocking ones are best
    unsigned touch_threads = 4;  ///< threads that touch the host arena's pages before they are pinned
    bool probe_peers = true;     ///< peer copies are tried with a pattern first; false: trusted
    std::size_t stage_bytes = std::size_t{8} << 20U;  ///< of the pinned memory through which devices without
                                                      ///< peer access copy, each link, half at a time
};

/// Streams as lanes. One thread, the dispatcher, uses it; each call leaves that thread's current CUDA device
/// as it was (unless the process has no context on that one), but clears its last error.
///
/// A kernel that fails on the device loses the CUDA context, as CUDA has it: then the report names what was
/// in flight, and neither this nor any other use of CUDA in the process goes on.
template <class = void>
class basic_cuda_device {
public:
    /// A kernel's stream.
    using native_handle = cudaStream_t;

    basic_cuda_device() = default;
    explicit basic_cuda_device(int ordinal) { options_.ordinals = {ordinal}; }
    explicit basic_cuda_device(cuda_device_options options) : options_(std::move(options)) {}
    basic_cuda_device(const basic_cuda_device&) = delete;
    basic_cuda_device& operator=(const basic_cuda_device&) = delete;
    ~basic_cuda_device() {
        release();
        forget_fence();
    }

    /// The next run's work starts after `event` (recorded by the caller, on any device); null: at once.
    void start_after(cudaEvent_t event) noexcept { start_after_ = event; }
    /// The next run's work starts after what is in `stream`, one of the current CUDA device's, now. Throws
    /// device_error.
    void start_after_stream(cudaStream_t stream) {
        forget_fence();
        detail::cuda_check(cudaEventCreateWithFlags(&fence_, cudaEventDisableTiming),
                           "an event cannot be made", "stream");
        detail::cuda_check(cudaEventRecord(fence_, stream), "an event cannot be recorded", "stream");
        start_after_ = fence_;
    }
    /// At the end of the next run `event`, one of the memgraph's first device, is recorded; null: none.
    void signal(cudaEvent_t event) noexcept { signal_ = event; }

    [[nodiscard]] std::uint32_t compute_lanes() const noexcept { return options_.compute_lanes; }
    /// As a host_device's: no stream is to be idle while an end is noticed and the next kernel launched.
    [[nodiscard]] std::uint32_t suggested_window() const noexcept {
        return options_.compute_lanes > 1 ? 2 : 8;
    }
    /// A longer copy delays every later one of its direction, on whatever stream.
    [[nodiscard]] static std::int64_t suggested_copy_chunk_bytes() noexcept { return std::int64_t{8} << 20; }

    /// Throws device_error naming the memory or lane that cannot be made, by CUDA's own word; then nothing is
    /// left behind.
    void prepare(const device_request& request, const work_source<native_handle>& source) {
        release();
        source_ = source;
        lost_ = abandoned_ = false;
        const detail::cuda_scope scope;
        if (request.arena_bytes.size() > options_.ordinals.size()) {
            throw device_error("the memgraph has " + std::to_string(request.arena_bytes.size()) +
                                   " devices, only " + std::to_string(options_.ordinals.size()) +
                                   " are given",
                               "device " + std::to_string(options_.ordinals.size()));
        }
        try {
            detail::check_apart(request, options_.arenas, options_.host);
            for (std::size_t d = 0; d < request.arena_bytes.size(); ++d) {
                const std::span<std::byte> given =
                    d < options_.arenas.size() ? options_.arenas[d] : std::span<std::byte>{};
                arenas_.push_back(detail::basic_cuda_arena<>::make(options_.ordinals[d],
                                                                   request.arena_bytes[d], request.alignment,
                                                                   given, "device " + std::to_string(d)));
            }
            host_ = detail::basic_pinned_arena<>::make(request.host_bytes, request.alignment, options_.host,
                                                       options_.touch_threads);
            for (const lane_description& description : request.lanes)
                make_lane(description, request);
        } catch (...) {
            release();
            throw;
        }
    }
    /// Waits for what is in streams, whose memory it is about to free; after abandon() too.
    void release() noexcept {
        for (detail::cuda_lane& lane : lanes_) {
            if (lane.stream != nullptr && !lost_) (void)cudaStreamSynchronize(lane.stream);
        }
        for (detail::cuda_lane& lane : lanes_)
            lane.release();
        lanes_.clear();
        arenas_.clear();
        host_ = {};
    }
    [[nodiscard]] std::byte* base(turnip::memory_index memory) noexcept {
        if (memory == turnip::host) return host_.data();
        return memory < arenas_.size() ? arenas_[memory].data() : nullptr;
    }
    /// Throws device_error.
    void write(turnip::memory_index memory, std::int64_t address, std::span<const std::byte> from) {
        copy_now(memory, base(memory) + address, from.data(), from.size(), "a write failed");
    }
    /// Throws device_error.
    void read(turnip::memory_index memory, std::int64_t address, std::span<std::byte> to) {
        copy_now(memory, to.data(), base(memory) + address, to.size(), "a read failed");
    }

    void begin(const device_run& run) noexcept {
        times_ = run.keep_times;
        (void)cudaGetLastError();  // what the caller left is not the run's
        start_ = clock::now();
        begun_ = cudaSuccess;
        detail::cuda_scope scope;
        for (detail::cuda_lane& lane : lanes_) {
            lane.begin();
            keep_first(begun_, scope.use(lane.ordinal));
            if (start_after_ != nullptr)
                keep_first(begun_, cudaStreamWaitEvent(lane.stream, start_after_, 0));
            if (times_) keep_first(begun_, cudaEventRecord(lane.began, lane.stream));
        }
        start_after_ = nullptr;
    }
    /// After the ends of all work were told.
    [[nodiscard]] leftover left() noexcept {
        for (lane_index l = 0; l < lanes_.size() && !lost_ && !abandoned_; ++l) {
            detail::cuda_lane& lane = lanes_[l];
            if (!lane.has_leftover(options_.notifier, end_of(lane.place(lane.submitted)))) continue;
            lost_ = detail::cuda_is_lost(lane.stream);
            return {l, lane.last_vertex, lost_};
        }
        return {};
    }
    void end() noexcept {
        if (!lost_ && !abandoned_ && signal_ != nullptr && !lanes_.empty()) {
            const detail::cuda_scope scope(lanes_.front().ordinal);
            (void)cudaEventRecord(signal_, lanes_.front().stream);
        }
        signal_ = nullptr;
    }

    [[nodiscard]] submitted submit(const lane_work& work) noexcept {
        detail::cuda_lane& lane = lanes_[work.lane];
        if (lost_) return submitted::lost;
        lane.last_vertex = work.vertex;
        detail::cuda_scope scope;
        cudaError_t code = begun_;
        keep_first(code, scope.use(lane.ordinal));
        detail::cuda_place& place = lane.place(lane.submitted);
        for (const lane_wait& w : work.waits) {
            if (w.position <= lanes_[w.lane].taken)
                continue;  // it has ended, and its event may mark later work
            keep_first(code,
                       cudaStreamWaitEvent(lane.stream, end_of(lanes_[w.lane].place(w.position - 1)), 0));
        }
        if (times_) keep_first(code, cudaEventRecord(place.start_time, lane.stream));
        if (code == cudaSuccess) {
            if (work.kind == work_kind::copy) {
                code = copy(lane, work.copy);
            } else {
                (void)cudaGetLastError();  // what others on this thread left is not the kernel's
                const bool well =
                    source_.run(source_.self, work.kind, work.vertex, work.slot, work.lane, lane.stream);
                if (!well) {
                    lane.keep_remains(end_of(place));
                    return submitted::threw;
                }
                code = cudaPeekAtLastError();
                if (code == cudaErrorNotReady) code = cudaSuccess;
            }
        }
        if (code == cudaSuccess) code = cudaEventRecord(end_of(place), lane.stream);
        if (code == cudaSuccess) code = announce(lane);  // of what is refused no end is told
        if (code != cudaSuccess) {
            lane.failure = detail::cuda_text(code);
            lost_ = detail::cuda_is_lost(lane.stream);
            if (!lost_) lane.keep_remains(end_of(place));
            return lost_ ? submitted::lost : submitted::refused;
        }
        ++lane.submitted;
        return submitted::queued;
    }
    /// What is in streams cannot be called back: it runs to its end.
    void abort() noexcept {}
    /// The executor has given it up: what is in streams is not waited for at the run's end.
    void abandon() noexcept { abandoned_ = true; }

    [[nodiscard]] bool take(lane_index l, completion& end) noexcept {
        detail::cuda_lane& lane = lanes_[l];
        if (lane.taken == lane.submitted || !has_news(lane)) return false;
        detail::cuda_place& place = lane.place(lane.taken);
        const cudaError_t code = lost_ ? cudaErrorUnknown : detail::cuda_event_state(end_of(place));
        if (code == cudaErrorNotReady) return false;
        end = {};
        ++lane.taken;
        if (code != cudaSuccess) {
            if (!lost_) lane.failure = detail::cuda_text(code);
            lost_ = true;
            end.result = outcome::lost;
            return true;
        }
        if (times_) {
            end.started = time_of(lane, place.start_time);
            end.finished = std::max(end.started, time_of(lane, place.end_time));
        }
        return true;
    }
    void wait(std::int64_t until) noexcept {
        if (options_.notifier == notifier::poll) {
            std::this_thread::yield();
            return;
        }
        // naps are short: after a lost context neither words nor callbacks come any more
        constexpr std::chrono::nanoseconds word_nap = std::chrono::microseconds(20);
        constexpr std::chrono::nanoseconds callback_nap = std::chrono::milliseconds(5);
        std::chrono::nanoseconds most = options_.notifier == notifier::callback ? callback_nap : word_nap;
        if (until != never)
            most = std::min(most, std::chrono::nanoseconds(std::max<std::int64_t>(0, until - now())));
        const std::uint32_t seen = seen_;
        news_.wait_change(seen, std::chrono::microseconds(5), most);
        quiet_ = news_.value() == seen;
        seen_ = news_.value();
    }
    void wake() noexcept { news_.raise(); }
    [[nodiscard]] std::int64_t now() const noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start_).count();
    }
    [[nodiscard]] std::string failure(lane_index l) const {
        return lanes_[l].failure.empty() ? "CUDA's context is lost" : lanes_[l].failure;
    }

private:
    using clock = std::chrono::steady_clock;

    static void keep_first(cudaError_t& code, cudaError_t next) noexcept {
        if (code == cudaSuccess) code = next;
    }
    [[nodiscard]] static std::string place_of(turnip::memory_index memory) {
        return memory == turnip::host ? "host" : "device " + std::to_string(memory);
    }
    /// What marks the end of the work at `place` in this run.
    [[nodiscard]] cudaEvent_t end_of(const detail::cuda_place& place) const noexcept {
        return times_ ? place.end_time : place.ended;
    }
    void copy_now(turnip::memory_index memory, void* to, const void* from, std::size_t bytes,
                  const char* failure) const {
        if (memory == turnip::host) {
            if (bytes > 0) std::memcpy(to, from, bytes);
            return;
        }
        detail::cuda_check(detail::cuda_copy(options_.ordinals[memory], to, from, bytes), failure,
                           place_of(memory));
    }
    void forget_fence() noexcept {
        if (fence_ == nullptr) return;
        if (start_after_ == fence_) start_after_ = nullptr;
        (void)cudaEventDestroy(fence_);
        fence_ = nullptr;
    }

    void make_lane(const lane_description& description, const device_request& request) {
        detail::cuda_lane& lane = lanes_.emplace_back();
        lane.description = description;
        lane.ordinal = options_.ordinals[description.device];
        lane.callback = {&lane.done, &news_};
        int least = 0;
        int greatest = 0;
        detail::cuda_scope scope;
        detail::cuda_check(scope.use(lane.ordinal), "its CUDA device cannot be used", description.name);
        detail::cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities are not told",
                           description.name);
        // NOLINTNEXTLINE(misc-misplaced-const): the handle is constant
        const cudaStream_t given = options_.stream ? options_.stream(description) : nullptr;
        lane.make(request.window, given, description.kind == lane_kind::compute ? greatest : least);
        if (options_.notifier == notifier::pinned_word) lane.make_word();
        if (description.kind == lane_kind::peer) make_link(lane, request, least);
    }
    /// Peer access where it is there and does what it says; else memory to copy through.
    void make_link(detail::cuda_lane& lane, const device_request& request, int priority) {
        const int from = options_.ordinals[lane.description.source];
        if (from == lane.ordinal) return;  // two memories of one device
        const bool peers = detail::enable_peer_access(lane.ordinal, from, lane.description.name);
        if (peers && (!options_.probe_peers || probe(lane, request))) return;
        lane.staged.make(from, lane.ordinal, options_.stage_bytes, priority, lane.description.name);
    }
    [[nodiscard]] bool probe(const detail::cuda_lane& lane, const device_request& request) {
        const turnip::memory_index source = lane.description.source;
        const turnip::memory_index to = lane.description.device;
        const std::int64_t size =
            std::min<std::int64_t>({4096, request.arena_bytes[source], request.arena_bytes[to]});
        return detail::probe_link({base(source), options_.ordinals[source]}, {base(to), lane.ordinal},
                                  static_cast<std::size_t>(size), lane.stream);
    }
    [[nodiscard]] cudaError_t copy(detail::cuda_lane& lane, const copy_request& copy) noexcept {
        if (copy.bytes == 0) return cudaSuccess;
        const auto bytes = static_cast<std::size_t>(copy.bytes);
        std::byte* const to = base(copy.to) + copy.to_address;
        const std::byte* const from =
            copy.bound != nullptr ? copy.bound : base(copy.from) + copy.from_address;
        if (copy.to == turnip::host)
            return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, lane.stream);
        if (copy.from == turnip::host)
            return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, lane.stream);
        const int source = options_.ordinals[copy.from];
        if (source == lane.ordinal)
            return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, lane.stream);
        if (lane.staged.is_made()) return lane.staged.copy(to, from, bytes, lane.stream);
        return cudaMemcpyPeerAsync(to, lane.ordinal, from, source, bytes, lane.stream);
    }
    /// Has the end of the work put into `lane` last be told, where that is not by asking its event.
    [[nodiscard]] cudaError_t announce(detail::cuda_lane& lane) noexcept {
        if (options_.notifier == notifier::callback) {
            const auto call = [](void* data) {
                auto& callback = *static_cast<detail::cuda_callback*>(data);
                callback.done->fetch_add(1, std::memory_order_release);
                callback.news->raise();
            };
            return cudaLaunchHostFunc(lane.stream, call, &lane.callback);
        }
        if (options_.notifier == notifier::poll) return cudaSuccess;
        const std::size_t number = (lane.submitted + 1) % (2 * lane.places.size());
        return cudaMemcpyAsync(lane.word, lane.numbers + number, sizeof(std::uint32_t),
                               cudaMemcpyDeviceToHost, lane.stream);
    }
    /// The oldest work of `lane` may have ended, by word or callback; after a wait in which no news came the
    /// event is asked all the same.
    [[nodiscard]] bool has_news(const detail::cuda_lane& lane) const noexcept {
        return quiet_ || lost_ || lane.is_announced(lane.taken + 1, options_.notifier);
    }
    [[nodiscard]] static std::int64_t time_of(const detail::cuda_lane& lane, cudaEvent_t event) noexcept {
        float milliseconds = 0;
        if (cudaEventElapsedTime(&milliseconds, lane.began, event) != cudaSuccess) return 0;
        return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
    }

    cuda_device_options options_;
    work_source<native_handle> source_;
    std::vector<detail::basic_cuda_arena<>> arenas_;
    detail::basic_pinned_arena<> host_;
    std::deque<detail::cuda_lane> lanes_;  // whose addresses callbacks hold
    cudaEvent_t start_after_ = nullptr;
    cudaEvent_t signal_ = nullptr;
    cudaEvent_t fence_ = nullptr;      // of start_after_stream
    cudaError_t begun_ = cudaSuccess;  // of what a run's begin asked for
    bool times_ = true;
    bool lost_ = false;       // the context
    bool abandoned_ = false;  // by the executor
    bool quiet_ = false;
    detail::progress_counter news_;
    std::uint32_t seen_ = 0;
    clock::time_point start_ = clock::now();
};
/// Streams as lanes: see basic_cuda_device.
using cuda_device = basic_cuda_device<>;

static_assert(device<cuda_device>);

}  // namespace stowage::exec
