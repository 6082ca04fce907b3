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

#include <stowage/exec/detail/lane_routine.hpp>
#include <stowage/exec/detail/ready_queue.hpp>
#include <stowage/exec/detail/recorder.hpp>
#include <stowage/exec/detail/schedule.hpp>
#include <stowage/exec/device.hpp>

namespace stowage::exec::detail {

/// What the dispatcher tells and asks its owner, the executor:
/// `copy(v)`, the copy that a move makes; `begin_kernel(v)`, start a kernel that is a coroutine;
/// `can_begin_kernel()`; `segment_ended(slot)`; `fail(kind, lane, vertex)`.
template <class Device, class Owner>
class dispatcher {
public:
    struct settings {
        std::uint32_t window = 1;
        std::int64_t chunk_bytes = 0;  // 0: copies are not split
        std::uint32_t segments = 0;    // most segments that wait for lanes at once
    };

    dispatcher(Device& device, Owner& owner) : device_(device), owner_(owner) {}
    dispatcher(const dispatcher&) = delete;
    dispatcher& operator=(const dispatcher&) = delete;
    ~dispatcher() = default;

    /// Takes the schedule; `keys` by vertex, empty for first in, first out. `flags` by vertex: see
    /// vertex_flag.
    void prepare(schedule plan, std::vector<std::uint64_t> keys, std::vector<std::uint8_t> flags,
                 const settings& how) {
        plan_ = std::move(plan);
        keys_ = std::move(keys);
        flags_ = std::move(flags);
        settings_ = how;
        const std::size_t count = plan_.vertices;
        remaining_.resize(count);
        state_.resize(count);
        slots_.resize(count);
        for (const lane_group& g : plan_.groups)
            queues_.emplace_back(std::span(slots_).subspan(g.first_slot, g.slots), keys_);
        if (how.window > 1) {
            undispatched_.resize(count);
            place_.resize(count);
            ahead_slots_.resize(count);
            for (const lane_group& g : plan_.groups)
                ahead_.emplace_back(std::span(ahead_slots_).subspan(g.first_slot, g.slots), keys_);
            latest_.assign(plan_.lanes.size(), 0);
            waits_.resize(plan_.lanes.size());
        }
        if (how.chunk_bytes > 0) copied_.resize(count);
        segment_queues_.resize(plan_.groups.size());
        for (auto& queue : segment_queues_)
            queue.reserve(how.segments);
        flights_.resize(plan_.lanes.size() * how.window);
        runnable_.reserve(plan_.lanes.size());
        lanes_.resize(plan_.lanes.size());
        for (std::uint16_t g = 0; g < plan_.groups.size(); ++g) {
            const lane_group& group = plan_.groups[g];
            for (lane_index l = group.first_lane; l < group.first_lane + group.lanes; ++l) {
                lanes_[l].group = g;
                lanes_[l].routine = serve(l);
            }
        }
        for (lane_state& lane : lanes_)
            lane.routine.resume();  // to its first sleep
        log.prepare(plan_);
    }

    /// Makes a new run of it. Nothing is under way.
    void begin(bool times, bool trace) {
        std::copy(plan_.indegree.begin(), plan_.indegree.end(), remaining_.begin());
        std::fill(state_.begin(), state_.end(), vertex_state::waiting);
        std::fill(copied_.begin(), copied_.end(), std::uint32_t{0});
        if (settings_.window > 1)
            std::copy(plan_.indegree.begin(), plan_.indegree.end(), undispatched_.begin());
        for (ready_queue& q : queues_)
            q.clear();
        for (ready_queue& q : ahead_)
            q.clear();
        for (auto& q : segment_queues_)
            q.clear();
        for (lane_state& lane : lanes_)
            lane.position = lane.head = lane.under_way = 0;
        completed_ = 0;
        in_flight_ = 0;
        stopping_ = false;
        log.begin(plan_.vertices, trace ? units() : 0, times, trace);
        for (const vertex_index v : plan_.order) {
            if (plan_.indegree[v] != 0) break;  // the order begins with all that wait for nothing
            make_ready(v);
        }
    }

    /// Resumes every lane that has something to do.
    void dispatch() {
        while (!runnable_.empty()) {
            const lane_index l = runnable_.back();
            runnable_.pop_back();
            lanes_[l].listed = false;
            lanes_[l].routine.resume();
        }
    }

    /// Takes the news of all lanes; true if there was any.
    bool collect() {
        if (in_flight_ == 0) return false;
        bool any = false;
        completion end;
        for (lane_index l = 0; l < lanes_.size(); ++l) {
            while (lanes_[l].under_way > 0 && device_.take(l, end)) {
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
        for (lane_state& lane : lanes_)
            lane.under_way = 0;
        in_flight_ = 0;
    }

    /// A kernel that is a coroutine wants lane `slot`'s body to run in a lane of `v`'s group.
    void add_segment(vertex_index v, std::uint32_t slot) {
        const std::uint16_t group = plan_.group[v];
        segment_queues_[group].push_back({v, slot});
        notify(group);
    }
    /// The coroutine of `v` has ended well.
    void kernel_ended(vertex_index v) {
        announce(v);
        ended(v, device_time());
    }
    /// A coroutine's slot is free again: lanes may have waited for it.
    void notify_all() noexcept {
        for (std::uint16_t g = 0; g < plan_.groups.size(); ++g) {
            if (!queues_[g].empty()) notify(g);
        }
    }

    [[nodiscard]] bool all_done() const noexcept { return completed_ == plan_.vertices; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    [[nodiscard]] std::uint64_t in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] std::uint32_t completed() const noexcept { return completed_; }
    [[nodiscard]] bool has_runnable() const noexcept { return !runnable_.empty(); }
    [[nodiscard]] const schedule& plan() const noexcept { return plan_; }
    [[nodiscard]] std::span<std::uint64_t> keys() noexcept { return keys_; }
    /// Vertices whose work is in lanes now.
    [[nodiscard]] std::vector<vertex_index> under_way() const {
        std::vector<vertex_index> result;
        for (lane_index l = 0; l < lanes_.size(); ++l) {
            for (std::uint32_t i = 0; i < lanes_[l].under_way; ++i)
                result.push_back(flights_[flight_index(l, i)].vertex);
        }
        std::sort(result.begin(), result.end());
        result.erase(std::unique(result.begin(), result.end()), result.end());
        return result;
    }
    /// The lane and vertex of the oldest work under way; lane no_lane if there is none.
    [[nodiscard]] std::pair<lane_index, vertex_index> oldest() const noexcept {
        for (lane_index l = 0; l < lanes_.size(); ++l) {
            if (lanes_[l].under_way > 0) return {l, flights_[flight_index(l, 0)].vertex};
        }
        return {no_lane, 0};
    }
    /// Bytes of state, edges and operands not included.
    [[nodiscard]] std::size_t bytes_per_vertex() const noexcept {
        const std::size_t count = std::max<std::size_t>(1, plan_.vertices);
        const auto total = [](const auto&... rows) { return ((rows.capacity() * sizeof(rows[0])) + ...); };
        return total(plan_.group, plan_.indegree, plan_.successor_begin, plan_.predecessor_begin, plan_.order,
                     keys_, flags_, remaining_, state_, slots_, undispatched_, place_, ahead_slots_,
                     copied_) /
               count;
    }

    enum vertex_flag : std::uint8_t { is_kernel = 0, is_copy = 1, is_coroutine = 2 };
    recorder log;

private:
    enum class vertex_state : std::uint8_t { waiting, dispatched, done };
    struct flight {
        vertex_index vertex = 0;
        std::uint32_t slot = 0;
        work_kind kind = work_kind::kernel;
        bool last = true;  // no further chunk of the same copy follows
    };
    struct segment {
        vertex_index vertex;
        std::uint32_t slot;
    };
    struct lane_state {
        lane_routine routine;
        std::uint32_t position = 0;   // of the work given to it last
        std::uint32_t head = 0;       // of its flights
        std::uint32_t under_way = 0;  // how many they are
        std::uint16_t group = 0;
        bool asleep = false;
        bool listed = false;
    };
    struct position {
        lane_index lane;
        std::uint32_t value;
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
        if (stopping_ || lane.under_way >= settings_.window || others_are_freer(l)) return false;
        if (!segment_queues_[lane.group].empty()) return true;
        const ready_queue& queue = queues_[lane.group];
        if (!queue.empty()) return (flags_[queue.front()] & is_coroutine) == 0 || owner_.can_begin_kernel();
        return settings_.window > 1 && lane.under_way > 0 && can_look_ahead(lane.group);
    }
    /// A sleeping lane of the same group has less under way.
    [[nodiscard]] bool others_are_freer(lane_index l) const noexcept {
        const lane_state& lane = lanes_[l];
        const lane_group& g = plan_.groups[lane.group];
        if (g.lanes == 1 || lane.under_way == 0) return false;
        return std::any_of(lanes_.begin() + g.first_lane, lanes_.begin() + g.first_lane + g.lanes,
                           [&](const lane_state& o) { return o.asleep && o.under_way < lane.under_way; });
    }
    /// Drops what has become ready, or has been started, from the front of the vertices that may go ahead.
    [[nodiscard]] bool can_look_ahead(std::uint16_t group) noexcept {
        ready_queue& queue = ahead_[group];
        while (!queue.empty()) {
            const vertex_index v = queue.front();
            if (state_[v] == vertex_state::waiting && remaining_[v] > 0) return true;
            queue.pop();
        }
        return false;
    }

    void take(lane_index l) {
        const std::uint16_t group = lanes_[l].group;
        lane_work work;
        work.lane = l;
        bool last = true;
        auto& segments = segment_queues_[group];
        if (!segments.empty()) {
            work.kind = work_kind::segment;
            work.vertex = segments.front().vertex;
            work.slot = segments.front().slot;
            segments.erase(segments.begin());
        } else {
            ready_queue& queue = queues_[group];
            const bool ready = !queue.empty();
            const vertex_index v = ready ? queue.pop() : ahead_[group].pop();
            if ((flags_[v] & is_coroutine) != 0) {
                state_[v] = vertex_state::dispatched;
                owner_.begin_kernel(v);
                return;
            }
            work.vertex = v;
            if ((flags_[v] & is_copy) != 0) {
                work.kind = work_kind::copy;
                work.copy = owner_.copy(v);
                last = next_chunk(v, work.copy);
                if (!last) {
                    // what remains of it is as ready as it was; its lane may find something more urgent
                    if (ready)
                        queue.put_back(v);
                    else
                        ahead_[group].put_back(v);
                }
            }
            if (last) state_[v] = vertex_state::dispatched;
        }
        give(l, work, last);
        if (plan_.groups[group].lanes > 1 && !queues_[group].empty()) notify(group);
    }

    void give(lane_index l, lane_work& work, bool last) {
        lane_state& lane = lanes_[l];
        work.position = ++lane.position;
        const vertex_index v = work.vertex;
        if (settings_.window > 1) work.waits = waits_of(l, v);
        switch (device_.submit(work)) {
            case submitted::queued:
                flights_[flight_index(l, lane.under_way++)] = {v, work.slot, work.kind, last};
                ++in_flight_;
                if (settings_.window > 1 && last && work.kind != work_kind::segment) {
                    place_[v] = {l, work.position};
                    announce(v);
                }
                return;
            case submitted::done: {
                const std::int64_t now = device_time();
                if (last && work.kind != work_kind::segment) announce(v);
                finish_unit(l, {v, work.slot, work.kind, last}, {outcome::done, now, now});
                if (work.kind == work_kind::segment) owner_.segment_ended(work.slot, true);
                return;
            }
            case submitted::threw: owner_.fail(fault_kind::kernel, l, v); return;
            case submitted::refused: owner_.fail(fault_kind::submission, l, v); return;
            case submitted::lost: owner_.fail(fault_kind::device_lost, l, v); return;
        }
    }

    /// The part of `copy` that is to be made next; true if it is the last.
    bool next_chunk(vertex_index v, copy_request& copy) noexcept {
        if (settings_.chunk_bytes <= 0 || copy.bytes <= settings_.chunk_bytes) return true;
        const std::int64_t begin = static_cast<std::int64_t>(copied_[v]++) * settings_.chunk_bytes;
        const std::int64_t left = copy.bytes - begin;
        copy.from_address += begin;
        copy.to_address += begin;
        if (copy.bound != nullptr) copy.bound += begin;
        copy.bytes = std::min(left, settings_.chunk_bytes);
        return left <= settings_.chunk_bytes;
    }

    /// The ends that `v` must wait for on the device: of each other lane, the last of those that it depends
    /// on.
    std::span<const lane_wait> waits_of(lane_index l, vertex_index v) noexcept {
        std::size_t count = 0;
        if (remaining_[v] == 0) return {};
        for (const vertex_index p : plan_.before(v)) {
            if (state_[p] != vertex_state::dispatched || place_[p].lane == l) continue;
            std::uint32_t& latest = latest_[place_[p].lane];
            if (latest == 0) waits_[count++].lane = place_[p].lane;
            latest = std::max(latest, place_[p].value);
        }
        for (std::size_t i = 0; i < count; ++i)
            waits_[i].position = std::exchange(latest_[waits_[i].lane], 0);
        return {waits_.data(), count};
    }

    /// `v` is in a lane: whoever waits for nothing but vertices in lanes may be put there too.
    void announce(vertex_index v) noexcept {
        if (settings_.window <= 1) return;
        for (const vertex_index next : plan_.after(v)) {
            if (--undispatched_[next] != 0 || remaining_[next] == 0 || (flags_[next] & is_coroutine) != 0)
                continue;
            ahead_[plan_.group[next]].push(next);
            notify(plan_.group[next]);
        }
    }

    void landed(lane_index l, const completion& end) {
        lane_state& lane = lanes_[l];
        const flight f = flights_[flight_index(l, 0)];
        if (end.result == outcome::lost) {
            owner_.fail(fault_kind::device_lost, l, f.vertex);
            return;
        }
        if (++lane.head == settings_.window) lane.head = 0;
        --lane.under_way;
        --in_flight_;
        if (end.result == outcome::done) {
            finish_unit(l, f, end);
        } else if (end.result == outcome::threw) {
            owner_.fail(fault_kind::kernel, l, f.vertex);
        } else if (end.result == outcome::failed) {
            owner_.fail(fault_kind::device, l, f.vertex);
        }
        if (f.kind == work_kind::segment) owner_.segment_ended(f.slot, end.result == outcome::done);
        if (lane.asleep && !lane.listed && can_take(l)) list(l);
    }

    void finish_unit(lane_index l, const flight& f, const completion& end) {
        if (log.keeps_times()) log.ended(l, f.vertex, end);
        if (f.kind == work_kind::segment) return;
        if (f.kind == work_kind::copy) count_bytes(l, f.vertex, f.last);
        if (!f.last) return;
        ++log.report.lanes[l].vertices;
        ended(f.vertex, end.finished);
    }
    void count_bytes(lane_index l, vertex_index v, bool last) noexcept {
        if (!last) return;
        const std::int64_t bytes = owner_.copy(v).bytes;
        log.report.lanes[l].bytes += bytes;
        switch (plan_.lanes[l].kind) {
            case lane_kind::reload: log.report.bytes_reloaded += bytes; return;
            case lane_kind::offload: log.report.bytes_offloaded += bytes; return;
            default: log.report.bytes_transferred += bytes; return;
        }
    }

    void ended(vertex_index v, std::int64_t when) noexcept {
        state_[v] = vertex_state::done;
        ++completed_;
        const bool times = log.keeps_times();
        for (const vertex_index next : plan_.after(v)) {
            if (times) log.released(next, cause_of(v), when);
            if (--remaining_[next] == 0 && state_[next] == vertex_state::waiting) make_ready(next);
        }
    }
    [[nodiscard]] idle_cause cause_of(vertex_index v) const noexcept {
        switch (plan_.lanes[plan_.groups[plan_.group[v]].first_lane].kind) {
            case lane_kind::compute: return idle_cause::compute;
            case lane_kind::reload: return idle_cause::reload;
            case lane_kind::offload: return idle_cause::offload;
            default: return idle_cause::transfer;
        }
    }

    void make_ready(vertex_index v) noexcept {
        const std::uint16_t group = plan_.group[v];
        queues_[group].push(v);
        notify(group);
    }
    /// Lists the sleeping lane of `group` that has the least under way, if it has room.
    void notify(std::uint16_t group) noexcept {
        const lane_group& g = plan_.groups[group];
        lane_index best = g.first_lane;
        if (g.lanes > 1) {
            std::uint32_t least = settings_.window;
            for (lane_index l = g.first_lane; l < g.first_lane + g.lanes; ++l) {
                if (!lanes_[l].asleep || lanes_[l].listed || lanes_[l].under_way >= least) continue;
                least = lanes_[l].under_way;
                best = l;
            }
            if (least == settings_.window) return;
        }
        const lane_state& lane = lanes_[best];
        if (lane.asleep && !lane.listed && lane.under_way < settings_.window) list(best);
    }
    void list(lane_index l) noexcept {
        lanes_[l].listed = true;
        runnable_.push_back(l);
    }

    [[nodiscard]] std::int64_t device_time() noexcept { return log.keeps_times() ? device_.now() : 0; }
    [[nodiscard]] std::size_t flight_index(lane_index l, std::uint32_t i) const noexcept {
        std::uint32_t at = lanes_[l].head + i;
        if (at >= settings_.window) at -= settings_.window;
        return static_cast<std::size_t>(l) * settings_.window + at;
    }
    /// Units of work of a whole run.
    [[nodiscard]] std::size_t units() {
        std::size_t count = 2 * static_cast<std::size_t>(plan_.vertices);
        if (settings_.chunk_bytes <= 0) return count;
        for (vertex_index v = 0; v < plan_.vertices; ++v) {
            if ((flags_[v] & is_copy) != 0)
                count += static_cast<std::size_t>(owner_.copy(v).bytes / settings_.chunk_bytes);
        }
        return count;
    }

    Device& device_;
    Owner& owner_;
    schedule plan_;
    settings settings_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint8_t> flags_;
    std::vector<std::uint32_t> remaining_;              // by vertex: predecessors that have not ended
    std::vector<vertex_state> state_;                   // by vertex
    std::vector<vertex_index> slots_;                   // of the queues
    std::vector<std::uint32_t> undispatched_;           // by vertex: predecessors that are in no lane yet
    std::vector<position> place_;                       // by vertex: where its work is
    std::vector<vertex_index> ahead_slots_;             // of the queues of vertices that may go ahead
    std::vector<std::uint32_t> copied_;                 // by vertex: chunks given to lanes
    std::vector<ready_queue> queues_;                   // by group
    std::vector<ready_queue> ahead_;                    // by group
    std::vector<std::vector<segment>> segment_queues_;  // by group
    std::vector<std::uint32_t> latest_;                 // by lane, scratch: all 0 between calls
    std::vector<lane_wait> waits_;                      // scratch
    std::vector<flight> flights_;                       // window_ a lane, as rings
    std::vector<lane_state> lanes_;
    std::vector<lane_index> runnable_;
    std::uint64_t in_flight_ = 0;
    std::uint32_t completed_ = 0;
    bool stopping_ = false;
};

}  // namespace stowage::exec::detail
