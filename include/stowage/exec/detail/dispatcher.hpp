#pragma once
// The heart of the executor: a countdown a vertex, a queue a group of lanes, a coroutine a lane. A vertex
// whose countdown is at zero goes to its group's queue; a lane with room takes the first; whoever ends counts
// its successors down. With a window W > 1 a lane that has work under way also takes vertices whose
// predecessors are all in lanes already, and the device keeps the order. Nothing here allocates or locks.
// Source: arXiv 2405.16283 (Execution), with lanes as coroutines: resumed from a list, never from each other,
// so that no chain of them can fill the stack.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/exec/detail/copy_parts.hpp>
#include <stowage/exec/detail/lane_routine.hpp>
#include <stowage/exec/detail/lane_table.hpp>
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
        only_ready_ = how.window <= 1 && how.segments == 0;
        const std::size_t count = plan_.vertices;
        info_.resize(count);
        for (std::size_t v = 0; v < count; ++v) {
            info_[v].group = plan_.group[v];
            info_[v].use = uses[v];
        }
        slots_.resize(count);
        fresh_.resize(plan_.most_successors());
        parts_.prepare(count, how.chunk_bytes);
        segments_.prepare(plan_.groups.size(), how.segments);
        for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
            const lane_group& group = plan_.groups[g];
            queues_.emplace_back(std::span(slots_).subspan(group.first_slot, group.slots), keys_);
        }
        if (how.window > 1) ahead_.prepare(plan_, keys_);
        lanes_.prepare(plan_, how.window, how.copy_window);
        for (lane_index l = 0; l < lanes_.size(); ++l) {
            lanes_[l].queue = &queues_[lanes_[l].group];
            lanes_[l].routine = serve(l);
        }
        plan_.keep_sources();
        stopping_ = true;
        for (lane_index l = 0; l < lanes_.size(); ++l)
            lanes_[l].routine.resume();  // to its first sleep
        log.prepare(plan_);
    }

    /// Makes a new run of it. Nothing is under way.
    void begin(bool times, bool trace) {
        for (std::size_t v = 0; v < info_.size(); ++v) {
            info_[v].remaining = plan_.indegree[v];
            info_[v].state = vertex_state::waiting;
        }
        parts_.begin();
        ahead_.begin(plan_);
        for (ready_queue& queue : queues_)
            queue.clear();
        segments_.clear();
        lanes_.begin();
        completed_ = 0;
        stopping_ = false;
        log.begin(plan_.vertices, trace ? units() : 0, times, trace);
        for (const vertex_index v : plan_.order)
            make_ready(v);
    }

    /// Resumes every lane that has something to do.
    void dispatch() {
        while (lanes_.has_listed())
            lanes_.next_listed().routine.resume();
    }

    /// Takes the news of all lanes; true if there was any.
    bool collect() {
        if (lanes_.flights.total() == 0) return false;
        bool any = false;
        completion end;
        for (lane_index l = 0; l < lanes_.size(); ++l) {
            while (lanes_.flights.count(l) > 0 && device_.take(l, end)) {
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
        if constexpr (requires { device_.abandon(); }) device_.abandon();
        lanes_.flights.clear();
    }

    /// The kernel of `v`, a coroutine, wants the body in `slot` to run in a lane of its group.
    void add_segment(vertex_index v, std::uint32_t slot) {
        const std::uint16_t group = info_[v].group;
        segments_.push(group, {v, slot});
        lanes_.notify(group);
    }
    /// The coroutine of `v` has ended well.
    void kernel_ended(vertex_index v) {
        announce(v);
        ended(v, device_time());
        for (std::size_t g = 0; g < plan_.groups.size(); ++g) {  // kernels may have waited for its slot
            if (!queues_[g].empty()) lanes_.notify(static_cast<std::uint16_t>(g));
        }
    }

    /// A lane whose oldest work waits for nothing that is under way, and its vertex: where nothing ends for
    /// long it is to blame, and not who waits for it. no_lane if nothing is under way.
    [[nodiscard]] std::pair<lane_index, vertex_index> silent() const noexcept {
        for (lane_index l = 0; l < lanes_.size(); ++l) {
            if (lanes_.flights.count(l) == 0) continue;
            const vertex_index v = lanes_.flights.oldest(l).vertex;
            if (info_[v].remaining == 0) return {l, v};
        }
        return {no_lane, 0};
    }

    [[nodiscard]] bool all_done() const noexcept { return completed_ == plan_.vertices; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    [[nodiscard]] const flight_rings& flights() const noexcept { return lanes_.flights; }
    [[nodiscard]] std::uint32_t completed() const noexcept { return completed_; }
    [[nodiscard]] bool has_runnable() const noexcept { return lanes_.has_listed(); }
    [[nodiscard]] const schedule& plan() const noexcept { return plan_; }
    [[nodiscard]] std::span<std::uint64_t> keys() noexcept { return keys_; }
    [[nodiscard]] lane_index first_lane_of(vertex_index v) const noexcept {
        return lanes_.first_of(info_[v].group);
    }
    /// Bytes of state a vertex, edges and operands not included.
    [[nodiscard]] std::size_t bytes_per_vertex() const noexcept {
        const auto total = [](const auto&... rows) { return ((rows.capacity() * sizeof(rows[0])) + ...); };
        const std::size_t bytes = total(plan_.group, plan_.indegree, plan_.successor_begin,
                                        plan_.predecessor_begin, plan_.order, keys_, info_, slots_) +
                                  ahead_.memory_bytes() + parts_.memory_bytes();
        return bytes / std::max<std::size_t>(1, plan_.vertices);
    }

    recorder log;

private:
    lane_routine serve(lane_index l) {
        lane_state& lane = lanes_[l];
        const until_listed asleep{&lanes_, l};
        while (true) {
            if (only_ready_ && !lane.shares)
                take_ready(lane, l);
            else
                while (can_take(lane, l))
                    take(lane, l);
            co_await asleep;
        }
    }
    /// The plainest case, no window, no coroutines, a queue of the lane's own: little is looked at.
    void take_ready(lane_state& lane, lane_index l) {
        ready_queue& queue = *lane.queue;
        while (!queue.empty() && !stopping_ && !lanes_.flights.full(l)) {
            if (info_[queue.front()].use == vertex_use::copy) {
                take(lane, l);
                continue;
            }
            const vertex_index v = queue.pop();
            plain_.lane = l;
            plain_.vertex = v;
            plain_.position = ++lane.position;
            const submitted answer = device_.submit(std::as_const(plain_));
            if (answer == submitted::done && !log.keeps_times()) {
                ++log.report.lanes[l].vertices;
                count_down(v);
            } else {
                given<false>(lane, l, plain_, true, answer);
            }
        }
    }

    [[nodiscard]] bool can_take(const lane_state& lane, lane_index l) noexcept {
        if (only_ready_ && lane.queue->empty()) return false;
        if (stopping_ || lanes_.flights.full(l)) return false;
        if (lane.shares && lanes_.others_are_freer(l)) return false;
        if (segments_.has(lane.group)) return true;
        if (!lane.queue->empty()) {
            return settings_.segments == 0 || info_[lane.queue->front()].use != vertex_use::coroutine ||
                   owner_.can_begin_kernel();
        }
        return settings_.window > 1 && lanes_.flights.count(l) > 0 && can_look_ahead(lane.group);
    }
    /// Drops what has become ready, or has been started, from the front of the vertices that may go ahead.
    [[nodiscard]] bool can_look_ahead(std::uint16_t group) noexcept {
        ready_queue& queue = ahead_.queue(group);
        while (!queue.empty()) {
            const vertex_index v = queue.front();
            if (info_[v].state == vertex_state::waiting && info_[v].remaining > 0) return true;
            queue.pop();
        }
        return false;
    }

    /// Gives lane `l` the first of what it can take.
    void take(lane_state& lane, lane_index l) {
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
                    last = parts_.next(v, work.copy);
                    // what remains of it is as ready as it was; its lane may find something more urgent
                    if (!last) queue.put_back(v);
            }
        }
        if (settings_.window > 1)
            give<true>(lane, l, work, last);
        else
            give<false>(lane, l, work, last);
        if (lane.shares && !lane.queue->empty()) lanes_.notify(lane.group);
    }

    /// `Ahead`: there is a window.
    template <bool Ahead>
    void give(lane_state& lane, lane_index l, lane_work& work, bool last) {
        work.position = ++lane.position;
        if constexpr (Ahead) {
            if (info_[work.vertex].remaining > 0)
                work.waits =
                    ahead_.waits(plan_, work.vertex, l, [this](vertex_index p) { return lane_of(p); });
        }
        given<Ahead>(lane, l, work, last, device_.submit(work));
    }
    /// The device has answered.
    template <bool Ahead>
    void given(lane_state& lane, lane_index l, const lane_work& work, bool last, submitted answer) {
        const vertex_index v = work.vertex;
        const bool whole = last && work.kind != work_kind::segment;
        switch (answer) {
            case submitted::queued:
                lanes_.flights.push(l, {v, work.slot, work.kind, last});
                if (Ahead && whole) {
                    info_[v].state = vertex_state::in_lane;
                    info_[v].number = static_cast<std::uint8_t>(l - lanes_.first_of(lane.group));
                    ahead_.placed(v, work.position);
                    announce(v);
                }
                return;
            case submitted::done: {
                const std::int64_t now = device_time();
                if (Ahead && whole) announce(v);
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
        return info.state == vertex_state::in_lane ? lanes_.first_of(info.group) + info.number : no_lane;
    }

    /// `v` is in a lane: whoever waits for nothing but vertices in lanes may be put there too.
    void announce(vertex_index v) noexcept {
        if (settings_.window <= 1) return;
        for (const vertex_index next : plan_.after(v)) {
            if (!ahead_.counted(next) || info_[next].use == vertex_use::coroutine) continue;
            ahead_.queue(info_[next].group).push(next);
            lanes_.notify(info_[next].group);
        }
    }

    void landed(lane_index l, const completion& end) {
        if (end.result == outcome::lost) {
            owner_.fail(fault_kind::device_lost, l, lanes_.flights.oldest(l).vertex);
            return;
        }
        const flight f = lanes_.flights.pop(l);
        if (end.result == outcome::done)
            finish_unit(l, f, end);
        else if (end.result == outcome::threw)
            owner_.fail(fault_kind::kernel, l, f.vertex);
        else if (end.result == outcome::failed)
            owner_.fail(fault_kind::device, l, f.vertex);
        if (f.kind == work_kind::segment) owner_.segment_ended(f.slot, end.result == outcome::done);
        if (lanes_.has_room(l) && can_take(lanes_[l], l)) lanes_.list(l);
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
        if (tracks_states()) info_[v].state = vertex_state::done;
        if (log.keeps_times()) {
            const idle_cause cause = recorder::cause_of(plan_.lanes[lanes_.first_of(info_[v].group)].kind);
            for (const vertex_index next : plan_.after(v))
                log.released(next, cause, when);
        }
        count_down(v);
    }
    void count_down(vertex_index v) noexcept {
        ++completed_;
        // counted without a branch: whether a successor is the last to be waited for cannot be foretold
        std::size_t count = 0;
        for (const vertex_index next : plan_.after(v)) {
            fresh_[count] = next;
            count += --info_[next].remaining == 0 ? 1U : 0U;
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (!tracks_states() || info_[fresh_[i]].state == vertex_state::waiting) make_ready(fresh_[i]);
        }
    }

    void make_ready(vertex_index v) noexcept {
        const std::uint16_t group = info_[v].group;
        queues_[group].push(v);
        lanes_.notify(group);
    }
    [[nodiscard]] bool tracks_states() const noexcept { return settings_.window > 1; }
    [[nodiscard]] std::int64_t device_time() noexcept { return log.keeps_times() ? device_.now() : 0; }
    /// Most units of work of a whole run.
    [[nodiscard]] std::size_t units() {
        std::size_t count = 2 * static_cast<std::size_t>(plan_.vertices);
        for (vertex_index v = 0; v < plan_.vertices; ++v) {
            if (info_[v].use == vertex_use::copy) count += parts_.more_than_one(owner_.copy(v).bytes);
        }
        return count;
    }

    Device& device_;
    Owner& owner_;
    schedule plan_;
    settings settings_;
    bool only_ready_ = true;  // nothing but what is ready goes into lanes: no window, no segments
    std::vector<std::uint64_t> keys_;
    std::vector<vertex_info> info_;    // by vertex
    std::vector<vertex_index> slots_;  // of the queues
    lane_work plain_;                  // of take_ready: what changes from vertex to vertex is set
    std::vector<vertex_index> fresh_;  // scratch: successors that have become ready
    copy_parts parts_;
    std::vector<ready_queue> queues_;  // by group
    segment_queues segments_;
    look_ahead ahead_;
    lane_table lanes_;
    std::uint32_t completed_ = 0;
    bool stopping_ = false;
};

}  // namespace stowage::exec::detail
