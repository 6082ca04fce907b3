#pragma once
// Runs memgraphs: whatever is ready starts, on any lane that is free, and the contents at the end are the
// same in each legal order. Everything is made by the constructor; a run allocates nothing. Source: arXiv
// 2405.16283 (Turnip's engine).

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/exec/detail/caller_links.hpp>
#include <stowage/exec/detail/contents_access.hpp>
#include <stowage/exec/detail/describe_fault.hpp>
#include <stowage/exec/detail/dispatcher.hpp>
#include <stowage/exec/detail/dispatcher_thread.hpp>
#include <stowage/exec/detail/kernel_slots.hpp>
#include <stowage/exec/detail/operand_views.hpp>
#include <stowage/exec/detail/run_awaiter.hpp>
#include <stowage/exec/detail/silence.hpp>
#include <stowage/exec/detail/vertex_tables.hpp>
#include <stowage/exec/detail/waker.hpp>
#include <stowage/exec/device.hpp>
#include <stowage/exec/kernel.hpp>
#include <stowage/exec/kernel_task.hpp>
#include <stowage/exec/report.hpp>
#include <stowage/exec/run_options.hpp>

namespace stowage::exec {

/// Runs one memgraph, any number of times, one run at a time.
///
/// `Kernels` is called for each operator (plain_kernels), or makes a coroutine for it (coroutine_kernels); it
/// is held by value, or by reference if given as std::ref. The program, the memgraph and the device must
/// outlive the executor, and the device serves no other one meanwhile. Calls come from one thread at a time;
/// that which polls (or runs) is the dispatcher, on which every coroutine resumes. A kernel may make no run
/// on its own executor.
///
/// The destructor stops and drains a run under way, then has the device release everything; who awaits the
/// run is resumed first, and gets a usage_error if it asks for another.
template <class Kernels, device Device>
class executor {
public:
    using handle_type = typename Device::native_handle;

    /// Makes everything that runs need: lanes, arenas, tables. O(V + E + operands) time and memory.
    /// Throws memgraph_error for a memgraph that cannot be run (another program's, a cycle, an address out of
    /// its arena), device_error naming lane or memory where the device cannot make it; then nothing is left
    /// behind.
    executor(const tensor_graph& program, const turnip::memgraph& graph, Kernels kernels, Device& device,
             const executor_options& options = {})
        : program_(program), graph_(graph), kernels_(std::move(kernels)), device_(device),
          priority_(options.priority), contents_(program, graph), dispatcher_(device, *this) {
        const std::uint32_t window = detail::window_of(device, options.window);
        detail::schedule plan =
            detail::schedule_builder(program, graph).build(device.compute_lanes(), window > 1);
        device_request request;
        request.lanes = plan.lanes;
        request.arena_bytes = graph.arena_bytes;
        request.host_bytes = graph.host_bytes;
        request.alignment = graph.alignment;
        request.window = window;
        failures_.resize(plan.lanes.size());
        std::vector<std::uint64_t> keys = detail::priority_keys(program, graph, plan, options);
        const std::vector<detail::vertex_use> uses = detail::vertex_uses<handle_type>(kernels_, graph);
        has_coroutines_ = std::find(uses.begin(), uses.end(), detail::vertex_use::coroutine) != uses.end();
        slots_.prepare(has_coroutines_ ? std::clamp(options.kernel_slots, 1U, plan.vertices) : 0,
                       options.kernel_frame_bytes);
        device_.prepare(request, work_source<handle_type>{this, &executor::run_work});
        try {
            views_.prepare(program_, graph_, device_);
            dispatcher_.prepare(std::move(plan), std::move(keys), uses,
                                {window, std::max<std::uint32_t>(1, options.copy_window),
                                 detail::copy_chunk_of(device, options.copy_chunk_bytes), slots_.size()});
        } catch (...) {
            device_.release();
            throw;
        }
    }
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;
    ~executor() {
        closing_.store(true, std::memory_order_release);
        device_.wake();
        thread_.close();  // a run that is awaited is dispatched there: it ends there
        if (running()) finish();
        device_.release();
    }

    /// Runs the memgraph and returns how it went; the report is overwritten by the next run. Throws
    /// usage_error while another run is under way (a kernel that calls it too) and after the device was lost,
    /// and what on_progress throws, once the run is stopped.
    const run_report& run(const run_options& options = {}) {
        start(options);
        try {
            finish();
        } catch (...) {
            options_.on_progress = nullptr;
            stop(run_status::stopped);
            finish();
            throw;
        }
        return report();
    }

    /// The same as an awaitable: the run is dispatched by a thread of the executor's own, on which the
    /// awaiting coroutine resumes. `co_await executor.run_async(options)` gives the report.
    [[nodiscard]] auto run_async(const run_options& options = {}) {
        return detail::run_awaiter<executor>{*this, thread_, options};
    }

    /// Starts a run that the caller dispatches, by poll() and wait(), from a loop of its own. Throws as
    /// run().
    void start(const run_options& options = {}) {
        if (running_.exchange(true, std::memory_order_acquire))
            throw usage_error("the executor is running already; a kernel cannot run it either");
        if (dispatcher_.log.report.device_lost) {
            running_.store(false, std::memory_order_release);
            throw usage_error("the executor's device is lost; make a new one");
        }
        options_ = options;
        priority_.rekey(dispatcher_.keys(), options.seed);
        begun_ = false;
        status_ = run_status::ok;
        callers_.attach(options_, device_);
    }

    /// Starts what can start and takes what has ended, without waiting. True if the run has ended: then
    /// report() is whole.
    bool poll() {
        if (!begun_ && !begin()) return finish_if_over();
        bool progressed = true;
        while (progressed) {
            // before news is taken: what ends while this thread does not run is no silence of the device
            const std::int64_t looked = silence_.is_watched() ? device_.now() : 0;
            dispatcher_.dispatch();
            progressed = dispatcher_.collect();
            if (has_coroutines_ && resume_kernels()) progressed = true;
            if (progressed) silence_.broken();
            look_at_limits(looked);
        }
        if (options_.on_progress != nullptr && dispatcher_.completed() != told_ && !closing_) {
            told_ = dispatcher_.completed();
            (*options_.on_progress)({told_, dispatcher_.plan().vertices});
        }
        return finish_if_over();
    }
    /// Sleeps until there may be something to poll for.
    void wait() noexcept {
        if (!begun_) {
            device_.wait(never);
            return;
        }
        if (dispatcher_.has_runnable()) return;
        std::int64_t until = never;
        if (options_.deadline && !dispatcher_.stopping()) until = options_.deadline->count();
        if (silence_.is_watched() && (is_draining() || dispatcher_.flights().total() > 0))
            until = std::min(until, silence_.until(device_.now()));
        if (is_draining()) until = std::min(until, device_.now() + drain_nap);
        if (has_coroutines_ && !dispatcher_.stopping()) until = std::min(until, slots_.next_time());
        const auto before = clock::now();
        device_.wait(until);
        slept_ += clock::now() - before;
    }
    /// True between start() and the poll() that returns true.
    [[nodiscard]] bool running() const noexcept { return running_.load(std::memory_order_acquire); }
    /// The last run, or the one under way.
    [[nodiscard]] const run_report& report() const noexcept { return dispatcher_.log.report; }

    /// Writes `buffer`'s contents before a run, at every place where it is to be at the start. `bytes` has
    /// its size. An input is written before each run: its bytes may be taken after its last use. Throws
    /// usage_error while a run is under way and for a buffer that has no such place.
    void write(buffer_index buffer, std::span<const std::byte> bytes) {
        idle_contents().write(device_, buffer, bytes);
    }
    /// Reads `buffer`'s contents after a run: from where it must be at the end or, if the memgraph names no
    /// such place, where it was at the start. Throws as write().
    void read(buffer_index buffer, std::span<std::byte> bytes) {
        idle_contents().read(device_, buffer, bytes);
    }
    /// From the next run on, copies of `buffer` from the host take the caller's bytes, which must stay there;
    /// empty: those of the host arena again. For a buffer that no operator writes. Throws usage_error for
    /// another, while a run is under way, and for a buffer that starts on a device.
    void bind(buffer_index buffer, std::span<const std::byte> bytes) { idle_contents().bind(buffer, bytes); }
    /// Bytes of state and tables a vertex, edges and operands not included.
    [[nodiscard]] std::size_t bytes_per_vertex() const noexcept {
        return dispatcher_.bytes_per_vertex() + views_.bytes_per_vertex();
    }

private:
    using clock = std::chrono::steady_clock;
    using dispatcher_type = detail::dispatcher<Device, executor>;
    friend dispatcher_type;
    using waker = detail::waker<Device>;
    static constexpr std::int64_t drain_nap = 10'000;  // nanoseconds; nobody tells that lanes are empty
    // What the dispatcher asks.

    [[nodiscard]] copy_request copy(turnip::vertex_index v) const noexcept {
        copy_request result = detail::copy_of(program_, graph_, v);
        if (result.from == turnip::host) result.bound = contents_.bound(graph_.moved(v));
        return result;
    }
    [[nodiscard]] bool can_begin_kernel() const noexcept { return slots_.has_free(); }
    void begin_kernel(turnip::vertex_index v) {
        if constexpr (coroutine_kernels<Kernels, handle_type>) {
            const std::uint32_t slot = slots_.take(v);
            const lane_index lane = dispatcher_.first_lane_of(v);
            slots_.context(slot).enter(call_of(v, lane, handle_type{}), slots_.frames(),
                                       waker{&device_}.waiter());
            try {
                slots_.task(slot) = kernels_.start(slots_.context(slot));
                if (!slots_.task(slot)) throw usage_error("start has made no coroutine");
            } catch (...) {
                kernel_threw(slot, std::current_exception());
            }
        }
    }
    void segment_ended(std::uint32_t slot, bool well) noexcept { slots_.segment_ended(slot, well); }
    void fail(fault_kind kind, lane_index lane, turnip::vertex_index v) {
        run_report& report = dispatcher_.log.report;
        fault what = describe(kind, lane, v);
        if (kind == fault_kind::device_lost || kind == fault_kind::no_progress) report.device_lost = true;
        if (!report.error)
            report.error = std::move(what);
        else if (kind != fault_kind::device_lost)
            report.later.push_back(std::move(what));
        status_ = run_status::failed;
        if (report.device_lost)
            dispatcher_.abandon();
        else
            dispatcher_.stop();
    }

    [[nodiscard]] fault describe(fault_kind kind, lane_index lane, turnip::vertex_index v) {
        fault what = detail::describe_fault(kind, dispatcher_.plan().lanes[lane], lane, v, program_, graph_,
                                            dispatcher_.flights().vertices());
        if (kind == fault_kind::kernel) {
            what.exception = std::exchange(failures_[lane], {});
            what.message = detail::message_of(what.exception);
        } else if (kind == fault_kind::no_progress) {
            what.message = "nothing has ended for as long as the watchdog allows";
        } else {
            what.message = device_.failure(lane);
        }
        return what;
    }

    // Kernels.

    [[nodiscard]] kernel_call<handle_type> call_of(turnip::vertex_index v, lane_index lane,
                                                   const handle_type& handle) const noexcept {
        kernel_call<handle_type> call;
        const turnip::vertex& at = graph_.vertices[v];
        call.op = at.op;
        call.vertex = v;
        call.device = at.device;
        call.lane = lane;
        call.handle = handle;
        views_.fill(call);
        return call;
    }
    /// Called by the device, where the lane runs.
    static bool run_work(void* self, work_kind kind, turnip::vertex_index v, std::uint32_t slot,
                         lane_index lane, const handle_type& handle) noexcept {
        executor& me = *static_cast<executor*>(self);
        try {
            if (kind == work_kind::segment)
                me.slots_.context(slot).call_body(lane, handle);
            else if constexpr (plain_kernels<Kernels, handle_type>)
                me.kernels_(std::as_const(me).call_of(v, lane, handle));
            return true;
        } catch (...) {
            me.failures_[lane] = std::current_exception();
            return false;
        }
    }
    void kernel_threw(std::uint32_t slot, std::exception_ptr exception) {
        const turnip::vertex_index v = slots_.vertex(slot);
        const lane_index lane = dispatcher_.first_lane_of(v);
        slots_.release(slot);
        failures_[lane] = std::move(exception);
        fail(fault_kind::kernel, lane, v);
    }
    /// Resumes every kernel whose wait is over; true if there was one.
    bool resume_kernels() {
        bool any = false;
        for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
            if (dispatcher_.stopping() || !slots_.is_due(slot, device_)) continue;
            any = true;
            slots_.context(slot).resume_now();
            slots_.task(slot).resume();
            if (slots_.task(slot).done()) {
                const std::exception_ptr failure = slots_.task(slot).failure();
                if (failure) {
                    kernel_threw(slot, failure);
                    continue;
                }
                const turnip::vertex_index v = slots_.vertex(slot);
                slots_.release(slot);
                dispatcher_.kernel_ended(v);
            } else if (slots_.suspended(slot, device_)) {
                dispatcher_.add_segment(slots_.vertex(slot), slot);
            }
        }
        return any;
    }

    // The run.

    bool begin() {
        if (options_.start_after != nullptr && !options_.start_after->is_set()) {
            if (stop_wanted()) status_ = run_status::stopped;
            return false;
        }
        if (status_ != run_status::ok) return false;
        device_.begin({.keep_times = options_.keep_times || options_.trace, .seed = options_.seed});
        dispatcher_.begin(options_.keep_times, options_.trace);
        begun_ = true;
        left_ = {};
        silence_.begin(options_.watchdog);
        told_ = 0;
        slept_ = {};
        started_ = clock::now();
        look_at_limits(0);
        return true;
    }
    void look_at_limits(std::int64_t looked) {
        if (!dispatcher_.stopping()) {
            const bool late = options_.deadline && device_.now() >= options_.deadline->count();
            if (stop_wanted() || late) stop(stop_wanted() ? run_status::stopped : run_status::timed_out);
        }
        if (!silence_.is_too_long(looked)) return;
        const auto [lane, v] = is_draining() ? std::pair(left_.lane, left_.vertex) : dispatcher_.silent();
        if (lane != no_lane) fail(fault_kind::no_progress, lane, v);
    }
    bool finish_if_over() {
        run_report& report = dispatcher_.log.report;
        if (!begun_) {
            if (status_ == run_status::ok) return false;
            dispatcher_.log.begin(0, 0, false, false);
        } else {
            const bool over = dispatcher_.all_done() || dispatcher_.stopping();
            if (!over || dispatcher_.flights().total() > 0) return false;
            left_ = report.device_lost ? leftover{} : detail::leftover_of(device_);
            if (left_.lost) fail(fault_kind::device_lost, left_.lane, left_.vertex);
            if (left_.lane != no_lane && !left_.lost) return false;
            slots_.clear(report.device_lost);
            dispatcher_.log.finish(device_.now());
            if (options_.keep_times) report.dispatching = clock::now() - started_ - slept_;
            device_.end();
            if (dispatcher_.all_done() && !report.error) status_ = run_status::ok;
            report.vertices = dispatcher_.completed();
        }
        report.status = status_;
        callers_.detach(options_);
        event* const signal = options_.signal;
        running_.store(false, std::memory_order_release);
        if (signal != nullptr) signal->set();
        return true;
    }

    [[nodiscard]] bool is_draining() const noexcept { return left_.lane != no_lane; }
    [[nodiscard]] detail::contents_access& idle_contents() {
        if (running()) throw usage_error("a run is under way");
        return contents_;
    }
    void finish() {
        while (!poll())
            wait();
    }
    void stop(run_status why) {
        status_ = why;
        dispatcher_.stop();
    }
    [[nodiscard]] bool stop_wanted() const noexcept {
        return options_.stop.stop_requested() || closing_.load(std::memory_order_acquire);
    }

    const tensor_graph& program_;
    const turnip::memgraph& graph_;
    Kernels kernels_;
    Device& device_;
    any_priority priority_;
    detail::contents_access contents_;
    detail::operand_views views_;
    detail::kernel_slots<handle_type> slots_;
    std::vector<std::exception_ptr> failures_;  // by lane
    bool has_coroutines_ = false;
    detail::dispatcher_thread thread_;
    std::atomic<bool> running_{false};
    std::atomic<bool> closing_{false};  // by the destructor
    bool begun_ = false;
    leftover left_ = {};  // in a lane, when all work has ended
    run_status status_ = run_status::ok;
    run_options options_;
    detail::caller_links<Device> callers_;
    detail::silence silence_;
    std::uint32_t told_ = 0;
    clock::time_point started_ = {};
    clock::duration slept_ = {};
    dispatcher_type dispatcher_;
};

}  // namespace stowage::exec
