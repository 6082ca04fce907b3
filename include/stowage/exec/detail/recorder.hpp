#pragma once
// Keeps what a run's report says of lanes: busy and idle times with their cause, bytes, the trace. Allocates
// before a run only.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/exec/detail/schedule.hpp>
#include <stowage/exec/report.hpp>

namespace stowage::exec::detail {

class recorder {
public:
    void prepare(const schedule& plan) {
        lanes_.resize(plan.lanes.size());
        report.lanes.resize(plan.lanes.size());
        for (std::size_t l = 0; l < plan.lanes.size(); ++l) {
            report.lanes[l].name = plan.lanes[l].name;
            report.lanes[l].kind = plan.lanes[l].kind;
            report.lanes[l].device = plan.lanes[l].device;
        }
    }
    void begin(std::size_t vertices, std::size_t units, bool times, bool trace) {
        times_ = times || trace;
        trace_ = trace;
        report.status = run_status::ok;
        report.makespan = report.dispatching = std::chrono::nanoseconds(0);
        report.vertices = 0;
        report.bytes_offloaded = report.bytes_reloaded = report.bytes_transferred = 0;
        report.error.reset();
        report.later.clear();
        report.trace.clear();
        if (trace_) report.trace.reserve(units);
        if (times_) {
            ready_at_.assign(vertices, 0);
            cause_.assign(vertices, idle_cause::dispatch);
        }
        for (std::size_t l = 0; l < lanes_.size(); ++l) {
            lanes_[l] = 0;
            lane_report& lane = report.lanes[l];
            lane.vertices = 0;
            lane.bytes = 0;
            lane.busy = std::chrono::nanoseconds(0);
            lane.idle.fill(std::chrono::nanoseconds(0));
        }
    }
    [[nodiscard]] bool keeps_times() const noexcept { return times_; }

    /// What a lane that waits for one of that kind is said to wait for.
    [[nodiscard]] static constexpr idle_cause cause_of(lane_kind kind) noexcept {
        switch (kind) {
            case lane_kind::compute: return idle_cause::compute;
            case lane_kind::reload: return idle_cause::reload;
            case lane_kind::offload: return idle_cause::offload;
            case lane_kind::peer:
            case lane_kind::move: break;
        }
        return idle_cause::transfer;
    }
    /// A copy through a lane of `kind` has ended.
    void copied(lane_kind kind, std::int64_t bytes) noexcept {
        if (kind == lane_kind::reload)
            report.bytes_reloaded += bytes;
        else if (kind == lane_kind::offload)
            report.bytes_offloaded += bytes;
        else
            report.bytes_transferred += bytes;
    }
    /// `next` waits for something of kind `cause` that has ended at `when`.
    void released(turnip::vertex_index next, idle_cause cause, std::int64_t when) noexcept {
        if (when < ready_at_[next]) return;
        ready_at_[next] = when;
        cause_[next] = cause;
    }
    /// One unit of work has ended in `lane`.
    void ended(lane_index lane, turnip::vertex_index v, const completion& end) noexcept {
        std::int64_t& last = lanes_[lane];
        lane_report& r = report.lanes[lane];
        if (end.started > last) {
            const std::int64_t ready = std::clamp(ready_at_[v], last, end.started);
            add_idle(r, cause_[v], ready - last);
            add_idle(r, idle_cause::dispatch, end.started - ready);
        }
        r.busy +=
            std::chrono::nanoseconds(std::max<std::int64_t>(0, end.finished - std::max(end.started, last)));
        last = std::max(last, end.finished);
        if (trace_ && report.trace.size() < report.trace.capacity())
            report.trace.push_back({v, lane, end.started, end.finished});
    }
    /// The run has ended: lanes have been idle since their last work.
    void finish(std::int64_t now) noexcept {
        report.makespan = std::chrono::nanoseconds(now);
        if (!times_) return;
        for (std::size_t l = 0; l < lanes_.size(); ++l)
            add_idle(report.lanes[l], idle_cause::end, std::max<std::int64_t>(0, now - lanes_[l]));
    }

    run_report report = {};

private:
    static void add_idle(lane_report& lane, idle_cause cause, std::int64_t time) noexcept {
        lane.idle[static_cast<std::size_t>(cause)] += std::chrono::nanoseconds(time);
    }
    bool times_ = false;
    bool trace_ = false;
    std::vector<std::int64_t> lanes_;     // by lane: the end of its last work
    std::vector<std::int64_t> ready_at_;  // by vertex: when the last thing that it waits for ended
    std::vector<idle_cause> cause_;       // by vertex: what that was
};

}  // namespace stowage::exec::detail
