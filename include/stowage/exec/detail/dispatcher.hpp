#pragma once
// The heart of the executor: a countdown a vertex, a queue a group of lanes, a coroutine a lane. A vertex
// whose countdown is at zero goes to its group's queue; a lane with room takes the first; whoever ends counts
// its successors down. With a window W > 1 a lane that has work under way also takes vertices whose
// predecessors are all in lanes already, and the device keeps the order. Nothing here allocates or locks.
// Source: arXiv 2405.16283 (Execution), with lanes as coroutines: resumed from a list, never from each other,
// so that no chain of them can fill the stack.

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/exec/detail/flight_rings.hpp>
#include <stowage/exec/detail/lane_routine.hpp>
#include <stowage/exec/detail/look_ahead.hpp>
#include <stowage/exec/detail/ready_queue.hpp>
#include <stowage/exec/detail/recorder.hpp>
#include <stowage/exec/detail/schedule.hpp>
#include <stowage/exec/detail/segment_queues.hpp>
#include <stowage/exec/detail/vertex_tables.hpp>
#include <stowage/exec/device.hpp>

namespace stowage::exec::detail {

/// What the dispatcher tells and asks its owner, the executor:
/// `copy(v)`, the copy that a move makes; `begin_kernel(v)`, start a kernel that is a coroutine;
/// `can_begin_kernel()`; `segment_ended(slot, well)`; `fail(kind, lane, vertex)`.
template <class Device, class Owner>
class dispatcher {
public:
    struct settings {
        std::uint32_t window = 1;
        std::uint32_t copy_window = 1;  // of lanes of copies
        std::int64_t chunk_bytes = 0;   // 0: copies are not split
        std::uint32_t segments = 0;  // most segments that wait for lanes at once; 0: no kernel is a coroutine
    };

    dispatcher(Device& device, Owner& owner) : device_(device), owner_(owner) {}
    dispatcher(const dispatcher&) = delete;
    dispatcher& operator=(const dispatcher&) = delete;
    ~dispatcher() = default;

    /// Takes the schedule; `keys` by vertex, empty for first in, first out; `uses` by vertex.
    void prepare(schedule plan, std::vector<std::uint64_t> keys, const std::vector<vertex_use>& uses,
                 const settings& how) {
        plan_ = std::move(plan);
        keys_ = std::move(keys);
        settings_ = how;
        const std::size_t count = plan_.vertices;
        remaining_.resize(count);
        info_.resize(count);
        for (std::size_t v = 0; v < count; ++v) {
            info_[v].group = plan_.group[v];
            info_[v].use = uses[v];
        }
        slots_.resize(count);
        if (how.chunk_bytes > 0) copied_.resize(count);
        segments_.prepare(plan_.groups.size(), how.segments);
        for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
            const lane_group& group = plan_.groups[g];
            queues_.emplace_back(std::span(slots_).subspan(group.first_slot, group.slots), keys_);
        }
        if (how.window > 1) ahead_.prepare(plan_, keys_);
        flights_.prepare(plan_.lanes.size(), how.window);
        for (lane_index l = 0; l < plan_.lanes.size(); ++l) {
            if (plan_.lanes[l].kind != lane_kind::compute) flights_.limit(l, how.copy_window);
        }
        runnable_.resize(plan_.lanes.size());
        lanes_.resize(plan_.lanes.size());
        for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
            const lane_group& group = plan_.groups[g];
            for (lane_index l = group.first_lane; l < group.first_lane + group.lanes; ++l) {
                lanes_[l].group = static_cast<std::uint16_t>(g);
                lanes_[l].shares = group.lanes > 1;
                lanes_[l].queue = &queues_[g];
                lanes_[l].routine = serve(l);
            }
        }
        plan_.keep_sources();
        stopping_ = true;
        for (lane_state& lane : lanes_)
            lane.routine.resume();  // to its first sleep
        log.prepare(plan_);
    }

    /// Makes a new run of it. Nothing is under way.
    void begin(bool times, bool trace) {
        std::copy(plan_.indegree.begin(), plan_.indegree.end(), remaining_.begin());
        if (tracks_states()) {
            for (vertex_info& info : info_)
                info.state = vertex_state::waiting;
        }
        std::fill(copied_.begin(), copied_.end(), std::uint32_t{0});
        ahead_.begin(plan_);
        for (ready_queue& queue : queues_)
            queue.clear();
        segments_.clear();
        flights_.clear();
        for (lane_state& lane : lanes_) {
            lane.position = 0;
            lane.listed = false;
        }
        runnable_count_ = 0;
        completed_ = 0;
        stopping_ = false;
        log.begin(plan_.vertices, trace ? units() : 0, times, trace);
        for (const vertex_index v : plan_.order)
            make_ready(v);
    }

    /// Resumes every lane that has something to do.
    void dispatch() {
        while (runnable_count_ > 0) {
            lane_state& lane = lanes_[runnable_[--runnable_count_]];
            lane.listed = false;
            lane.routine.resume();
        }
    }

    /// Takes the news of all lanes; true if there was any.
    bool collect() {
        if (flights_.total() == 0) return false;
        bool any = false;
        completion end;
        for (lane_index l = 0; l < lanes_.size(); ++l) {
            while (flights_.count(l) > 0 && device_.take(l, end)) {
                any = true;
                landed(l, end);
            }
        }
        return any;
    }

    /// Nothing new is started from here on.
    void stop() noexcept {
        if (stopping_) return;
        stopping_ = true;
        device_.abort();
    }
    /// The device is lost: nothing that is under way will ever be told.
    void abandon() noexcept {
        stop();
        flights_.clear();
    }

    /// The kernel of `v`, a coroutine, wants the body in `slot` to run in a lane of its group.
    void add_segment(vertex_index v, std::uint32_t slot) {
        const std::uint16_t group = info_[v].group;
        segments_.push(group, {v, slot});
        notify(group);
    }
    /// The coroutine of `v` has ended well.
    void kernel_ended(vertex_index v) {
        announce(v);
        ended(v, device_time());
        for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
            if (!queues_[g].empty())
                notify(static_cast<std::uint16_t>(g));  // its slot is free: kernels may have waited for that
        }
    }

    [[nodiscard]] bool all_done() const noexcept { return completed_ == plan_.vertices; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    [[nodiscard]] const flight_rings& flights() const noexcept { return flights_; }
    [[nodiscard]] std::uint32_t completed() const noexcept { return completed_; }
    [[nodiscard]] bool has_runnable() const noexcept { return runnable_count_ > 0; }
    [[nodiscard]] const schedule& plan() const noexcept { return plan_; }
    [[nodiscard]] std::span<std::uint64_t> keys() noexcept { return keys_; }
    [[nodiscard]] lane_index first_lane_of(vertex_index v) const noexcept {
        return plan_.groups[info_[v].group].first_lane;
    }
    /// Bytes of state a vertex, edges and operands not included.
    [[nodiscard]] std::size_t bytes_per_vertex() const noexcept {
        const auto total = [](const auto&... rows) { return ((rows.capacity() * sizeof(rows[0])) + ...); };
        const std::size_t bytes =
            total(plan_.group, plan_.indegree, plan_.successor_begin, plan_.predecessor_begin, plan_.order,
                  keys_, remaining_, info_, slots_, copied_) +
            ahead_.memory_bytes();
        return bytes / std::max<std::size_t>(1, plan_.vertices);
    }

    recorder log;

private:
    enum class vertex_state : std::uint8_t { waiting, in_lane, done };
    struct vertex_info {
        std::uint16_t group = 0;
        std::uint8_t number = 0;  // of its lane in the group, once it is in one
        vertex_use use : 4 = vertex_use::kernel;
        vertex_state state : 4 = vertex_state::waiting;  // kept only where a window needs it
    };
    struct lane_state {
        lane_routine routine;
        ready_queue* queue = nullptr;
        std::uint32_t position = 0;  // of the work given to it last
        std::uint16_t group = 0;
        bool shares = false;  // its queue with other lanes
        bool asleep = false;
        bool listed = false;
    };

    /// Suspends a lane's coroutine, which the dispatcher owns, until it is listed; dispatch() resumes it, on
    /// the dispatcher's thread.
    struct until_listed {
        lane_state* lane;
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const noexcept { lane->asleep = true; }
        void await_resume() const noexcept { lane->asleep = false; }
    };

    lane_routine serve(lane_index l) {
        const until_listed asleep{&lanes_[l]};
        while (true) {
            if (can_take(l))
                take(l);
            else
                co_await asleep;
        }
    }

    [[nodiscard]] bool can_take(lane_index l) noexcept {
        const lane_state& lane = lanes_[l];
        if (stopping_ || flights_.full(l)) return false;
        if (lane.shares && others_are_freer(l)) return false;
        if (segments_.has(lane.group)) return true;
        if (!lane.queue->empty()) {
            return settings_.segments == 0 || info_[lane.queue->front()].use != vertex_use::coroutine ||
                   owner_.can_begin_kernel();
        }
        return settings_.window > 1 && flights_.count(l) > 0 && can_look_ahead(lane.group);
    }
    /// A sleeping lane of the same group has less under way.
    [[nodiscard]] bool others_are_freer(lane_index l) const noexcept {
        const std::uint32_t mine = flights_.count(l);
        if (mine == 0) return false;
        const lane_group& g = plan_.groups[lanes_[l].group];
        for (lane_index o = g.first_lane; o < g.first_lane + g.lanes; ++o) {
            if (lanes_[o].asleep && flights_.count(o) < mine) return true;
        }
        return false;
    }
    /// Drops what has become ready, or has been started, from the front of the vertices that may go ahead.
    [[nodiscard]] bool can_look_ahead(std::uint16_t group) noexcept {
        ready_queue& queue = ahead_.queue(group);
        while (!queue.empty()) {
            const vertex_index v = queue.front();
            if (info_[v].state == vertex_state::waiting && remaining_[v] > 0) return true;
            queue.pop();
        }
        return false;
    }

    /// Gives lane `l` the first of what it can take.
    void take(lane_index l) {
        lane_state& lane = lanes_[l];
        lane_work work;
        work.lane = l;
        bool last = true;
        if (segments_.has(lane.group)) {
            const segment next = segments_.pop(lane.group);
            work.kind = work_kind::segment;
            work.vertex = next.vertex;
            work.slot = next.slot;
        } else {
            ready_queue& queue = lane.queue->empty() ? ahead_.queue(lane.group) : *lane.queue;
            const vertex_index v = queue.pop();
            work.vertex = v;
            switch (info_[v].use) {
                case vertex_use::kernel: break;
                case vertex_use::coroutine: owner_.begin_kernel(v); return;
                case vertex_use::copy:
                    work.kind = work_kind::copy;
                    work.copy = owner_.copy(v);
                    last = next_part(v, work.copy);
                    // what remains of it is as ready as it was; its lane may find something more urgent
                    if (!last) queue.put_back(v);
            }
        }
        give(l, work, last);
        if (lane.shares && !lane.queue->empty()) notify(lane.group);
    }

    void give(lane_index l, lane_work& work, bool last) {
        lane_state& lane = lanes_[l];
        work.position = ++lane.position;
        const vertex_index v = work.vertex;
        const bool whole = last && work.kind != work_kind::segment;
        if (settings_.window > 1 && remaining_[v] > 0) {
            work.waits = ahead_.waits(plan_, v, l, [this](vertex_index p) { return lane_of(p); });
        }
        switch (device_.submit(work)) {
            case submitted::queued:
                flights_.push(l, {v, work.slot, work.kind, last});
                if (settings_.window > 1 && whole) {
                    info_[v].state = vertex_state::in_lane;
                    info_[v].number = static_cast<std::uint8_t>(l - plan_.groups[lane.group].first_lane);
                    ahead_.placed(v, work.position);
                    announce(v);
                }
                return;
            case submitted::done: {
                const std::int64_t now = device_time();
                if (whole) announce(v);
                finish_unit(l, {v, work.slot, work.kind, last}, {outcome::done, now, now});
                if (work.kind == work_kind::segment) owner_.segment_ended(work.slot, true);
                return;
            }
            case submitted::threw: owner_.fail(fault_kind::kernel, l, v); return;
            case submitted::refused: owner_.fail(fault_kind::submission, l, v); return;
            case submitted::lost: owner_.fail(fault_kind::device_lost, l, v); return;
        }
    }

    /// The lane in which `v` is under way, or no_lane.
    [[nodiscard]] lane_index lane_of(vertex_index v) const noexcept {
        const vertex_info info = info_[v];
        return info.state == vertex_state::in_lane ? plan_.groups[info.group].first_lane + info.number
                                                   : no_lane;
    }

    /// Cuts `copy` down to the part that is to be made next; true if it is the last.
    bool next_part(vertex_index v, copy_request& copy) noexcept {
        if (settings_.chunk_bytes <= 0 || copy.bytes <= settings_.chunk_bytes) return true;
        const std::int64_t begin = static_cast<std::int64_t>(copied_[v]++) * settings_.chunk_bytes;
        const std::int64_t left = copy.bytes - begin;
        copy.from_address += begin;
        copy.to_address += begin;
        if (copy.bound != nullptr) copy.bound += begin;
        copy.bytes = std::min(left, settings_.chunk_bytes);
        return left <= settings_.chunk_bytes;
    }

    /// `v` is in a lane: whoever waits for nothing but vertices in lanes may be put there too.
    void announce(vertex_index v) noexcept {
        if (settings_.window <= 1) return;
        for (const vertex_index next : plan_.after(v)) {
            if (!ahead_.counted(next) || info_[next].use == vertex_use::coroutine) continue;
            ahead_.queue(info_[next].group).push(next);
            notify(info_[next].group);
        }
    }

    void landed(lane_index l, const completion& end) {
        if (end.result == outcome::lost) {
            owner_.fail(fault_kind::device_lost, l, flights_.oldest(l).vertex);
            return;
        }
        const flight f = flights_.pop(l);
        if (end.result == outcome::done)
            finish_unit(l, f, end);
        else if (end.result == outcome::threw)
            owner_.fail(fault_kind::kernel, l, f.vertex);
        else if (end.result == outcome::failed)
            owner_.fail(fault_kind::device, l, f.vertex);
        if (f.kind == work_kind::segment) owner_.segment_ended(f.slot, end.result == outcome::done);
        if (lanes_[l].asleep && !lanes_[l].listed && can_take(l)) list(l);
    }

    void finish_unit(lane_index l, const flight& f, const completion& end) {
        if (log.keeps_times()) log.ended(l, f.vertex, end);
        if (!f.last || f.kind == work_kind::segment) return;
        lane_report& report = log.report.lanes[l];
        ++report.vertices;
        if (f.kind == work_kind::copy) {
            const std::int64_t bytes = owner_.copy(f.vertex).bytes;
            report.bytes += bytes;
            log.copied(report.kind, bytes);
        }
        ended(f.vertex, end.finished);
    }

    void ended(vertex_index v, std::int64_t when) noexcept {
        ++completed_;
        if (tracks_states()) info_[v].state = vertex_state::done;
        if (log.keeps_times()) {
            const idle_cause cause =
                recorder::cause_of(plan_.lanes[plan_.groups[info_[v].group].first_lane].kind);
            for (const vertex_index next : plan_.after(v))
                log.released(next, cause, when);
        }
        for (const vertex_index next : plan_.after(v)) {
            if (--remaining_[next] == 0 && (!tracks_states() || info_[next].state == vertex_state::waiting))
                make_ready(next);
        }
    }

    void make_ready(vertex_index v) noexcept {
        const std::uint16_t group = info_[v].group;
        queues_[group].push(v);
        notify(group);
    }
    /// Lists the sleeping lane of `group` that has the least under way, if it has room.
    void notify(std::uint16_t group) noexcept {
        const lane_group& g = plan_.groups[group];
        lane_index best = g.first_lane;
        for (lane_index l = g.first_lane + 1; l < g.first_lane + g.lanes; ++l) {
            if (!is_free(best) || (is_free(l) && flights_.count(l) < flights_.count(best))) best = l;
        }
        if (is_free(best)) list(best);
    }
    [[nodiscard]] bool is_free(lane_index l) const noexcept {
        return lanes_[l].asleep && !lanes_[l].listed && !flights_.full(l);
    }
    void list(lane_index l) noexcept {
        lanes_[l].listed = true;
        runnable_[runnable_count_++] = l;
    }

    [[nodiscard]] bool tracks_states() const noexcept { return settings_.window > 1; }
    [[nodiscard]] std::int64_t device_time() noexcept { return log.keeps_times() ? device_.now() : 0; }
    /// Most units of work of a whole run.
    [[nodiscard]] std::size_t units() {
        std::size_t count = 2 * static_cast<std::size_t>(plan_.vertices);
        if (settings_.chunk_bytes <= 0) return count;
        for (vertex_index v = 0; v < plan_.vertices; ++v) {
            if (info_[v].use == vertex_use::copy)
                count += static_cast<std::size_t>(owner_.copy(v).bytes / settings_.chunk_bytes);
        }
        return count;
    }

    Device& device_;
    Owner& owner_;
    schedule plan_;
    settings settings_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> remaining_;  // by vertex: predecessors that have not ended
    std::vector<vertex_info> info_;         // by vertex
    std::vector<vertex_index> slots_;       // of the queues
    std::vector<std::uint32_t> copied_;     // by vertex: parts given to lanes
    std::vector<ready_queue> queues_;       // by group
    segment_queues segments_;
    look_ahead ahead_;
    flight_rings flights_;
    std::vector<lane_state> lanes_;
    std::vector<lane_index> runnable_;
    std::uint32_t runnable_count_ = 0;
    std::uint32_t completed_ = 0;
    bool stopping_ = false;
};

}  // namespace stowage::exec::detail
