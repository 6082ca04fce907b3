#pragma once
// A machine in virtual time under the same executor: work takes as long as a function says, by chance a
// little more or less, nothing but kernels and copies of contents is real, and any fault can be had. One
// thread, the same run for the same seed. Work takes effect when it ends.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stowage/detail/random.hpp>
#include <stowage/exec/detail/arena.hpp>
#include <stowage/exec/detail/host_lane.hpp>
#include <stowage/exec/device.hpp>
#include <stowage/exec/injection.hpp>
#include <stowage/turnip/machine.hpp>

namespace stowage::exec {

/// How long work takes by the cost model: a value for simulated_device_options::duration. The program and the
/// memgraph must outlive it.
struct modelled_duration {
    const tensor_graph* program = nullptr;    ///< the program
    const turnip::memgraph* graph = nullptr;  ///< its memgraph
    turnip::machine machine = {};             ///< speeds
    /// Seconds. A part of a copy takes as long as a copy of its size.
    [[nodiscard]] double operator()(const lane_work& work) const {
        const turnip::vertex& at = graph->vertices[work.vertex];
        if (work.kind != work_kind::copy) return turnip::operator_seconds(*program, at.op, machine);
        return turnip::move_seconds(at.kind, work.copy.bytes, machine, work.copy.from == work.copy.to);
    }
};

/// How a simulated_device is made.
struct simulated_device_options {
    std::uint32_t compute_lanes = 1;                        ///< compute lanes a device
    std::function<double(const lane_work&)> duration = {};  ///< seconds that work takes; empty: none
    double jitter =
        0;  ///< each time is multiplied by a factor from 1 - jitter to 1 + jitter, by the run's seed
    bool memory = true;  ///< false: there are no arenas, and kernels see no bytes
    std::function<void(const copy_request&)> on_copy =
        {};                                               ///< called when a copy ends, beside the copy itself
    std::function<void(const lane_work&)> on_start = {};  ///< called when work starts, if that is when it is
                                                          ///< submitted; for models of what happens meanwhile
    std::function<void(const lane_description&)> before_lane =
        {};  ///< called before a lane is made; what it throws becomes a device_error naming the lane
    injector inject = {};  ///< faults on purpose; empty: none
};

/// Lanes in virtual time.
template <class = void>
class basic_simulated_device {
public:
    /// The lane's index.
    using native_handle = lane_index;

    explicit basic_simulated_device(simulated_device_options options = {}) : options_(std::move(options)) {}

    /// Calls `act` once, when the clock of the next run shows `time` (nanoseconds).
    void at(std::int64_t time, std::function<void()> act) {
        const auto place =
            std::find_if(actions_.begin(), actions_.end(), [&](const action& a) { return a.time > time; });
        actions_.insert(place, {time, std::move(act)});
    }

    [[nodiscard]] std::uint32_t compute_lanes() const noexcept { return options_.compute_lanes; }
    /// Throws device_error naming the memory or lane that cannot be made.
    void prepare(const device_request& request, const work_source<native_handle>& source) {
        source_ = source;
        if (options_.memory) memories_.make(request, {}, {});
        lanes_.clear();
        for (const lane_description& description : request.lanes) {
            try {
                if (options_.before_lane) options_.before_lane(description);
            } catch (const std::exception& e) {
                release();
                throw device_error(std::string("it cannot be made: ") + e.what(), description.name);
            }
            lanes_.emplace_back().ring.resize(request.window);
            for (unit& u : lanes_.back().ring)
                u.waits.reserve(request.lanes.size());
        }
    }
    void release() noexcept {
        lanes_.clear();
        memories_.clear();
    }
    [[nodiscard]] std::byte* base(turnip::memory_index memory) noexcept {
        return options_.memory ? memories_.base(memory) : nullptr;
    }
    void write(turnip::memory_index memory, std::int64_t address, std::span<const std::byte> from) {
        if (options_.memory) std::memcpy(memories_.base(memory) + address, from.data(), from.size());
    }
    void read(turnip::memory_index memory, std::int64_t address, std::span<std::byte> to) {
        if (options_.memory) std::memcpy(to.data(), memories_.base(memory) + address, to.size());
    }

    void begin(const device_run& run) noexcept {
        now_ = 0;
        seed_ = run.seed;
        for (lane& l : lanes_)
            l.submitted = l.taken = 0;
    }
    void end() noexcept { actions_.clear(); }

    [[nodiscard]] submitted submit(const lane_work& work) noexcept {
        lane& l = lanes_[work.lane];
        injection fate;
        if (options_.inject) fate = options_.inject(work);
        if (fate.effect == injected_effect::refuse) {
            l.failure = "refused on purpose";
            return submitted::refused;
        }
        std::int64_t start = now_;
        if (l.submitted > l.taken) start = std::max(start, unit_of(l, l.submitted - 1).finish);
        unit& u = unit_of(l, l.submitted);
        u.waits.clear();
        for (const lane_wait& w : work.waits) {
            lane& other = lanes_[w.lane];
            if (w.position <= other.taken) continue;
            start = std::max(start, unit_of(other, w.position - 1).finish);
            u.waits.push_back(w);
        }
        u.behind = l.submitted > l.taken || !u.waits.empty();
        ++l.submitted;
        u.work = work;
        u.work.waits = {};
        u.effect = fate.effect;
        u.skipped = false;
        u.start = start;
        if (options_.on_start && !u.behind) options_.on_start(work);
        u.finish = fate.effect == injected_effect::hang || start == never
                       ? never
                       : start + time_of(work) + fate.delay.count();
        return submitted::queued;
    }
    /// What has not started by now never does.
    void abort() noexcept {
        for (lane& l : lanes_) {
            std::int64_t last = now_;
            for (std::uint32_t i = l.taken; i < l.submitted; ++i) {
                unit& u = unit_of(l, i);
                if (u.behind && u.start >= now_) {
                    u.skipped = true;
                    u.finish = last;
                }
                last = u.finish;
            }
        }
    }

    [[nodiscard]] bool take(lane_index index, completion& end) noexcept {
        lane& l = lanes_[index];
        if (l.taken == l.submitted) return false;
        unit& u = unit_of(l, l.taken);
        if (u.finish > now_) return false;
        for (const lane_wait& w : u.waits) {
            if (!u.skipped && lanes_[w.lane].taken < w.position)
                return false;  // it ends in the same instant, but first
        }
        ++l.taken;
        end = {u.skipped ? outcome::skipped : perform(l, u), u.start, u.finish};
        return true;
    }
    /// Moves the clock to the next end of work, to the next action or to `until`. Where there is none of
    /// them, some other thread is waited for, in short naps of real time.
    void wait(std::int64_t until) noexcept {
        std::int64_t next = until;
        for (lane& l : lanes_) {
            if (l.taken < l.submitted) next = std::min(next, unit_of(l, l.taken).finish);
        }
        if (!actions_.empty()) next = std::min(next, std::max(now_, actions_.front().time));
        if (next == never) {
            news_.wait_change(seen_, {}, std::chrono::microseconds(200));
            seen_ = news_.value();
            return;
        }
        now_ = std::max(now_, next);
        while (!actions_.empty() && actions_.front().time <= now_) {
            const std::function<void()> act = std::move(actions_.front().act);
            actions_.pop_front();
            act();
        }
    }
    void wake() noexcept { news_.raise(); }
    [[nodiscard]] std::int64_t now() const noexcept { return now_; }
    [[nodiscard]] std::string failure(lane_index index) const { return lanes_[index].failure; }

private:
    struct action {
        std::int64_t time;
        std::function<void()> act;
    };
    struct unit {
        lane_work work;
        std::int64_t start = 0;
        std::int64_t finish = 0;
        injected_effect effect = injected_effect::none;
        bool skipped = false;
        bool behind = false;  // when submitted it had to wait for other work
        std::vector<lane_wait> waits;
    };
    struct lane {
        std::vector<unit> ring;
        std::uint32_t submitted = 0;
        std::uint32_t taken = 0;
        std::string failure;
    };
    [[nodiscard]] static unit& unit_of(lane& l, std::uint32_t count) noexcept {
        return l.ring[count % l.ring.size()];
    }

    [[nodiscard]] std::int64_t time_of(const lane_work& work) const {
        if (!options_.duration) return 0;
        double seconds = options_.duration(work);
        if (options_.jitter > 0) {
            stowage::detail::splitmix64 random(seed_ * 0x9e3779b97f4a7c15U + work.vertex);
            seconds *= 1.0 + options_.jitter * (2.0 * random.uniform() - 1.0);
        }
        return static_cast<std::int64_t>(std::min(seconds * 1e9, 1e18));
    }
    [[nodiscard]] outcome perform(lane& l, const unit& u) noexcept {
        if (u.effect == injected_effect::fail || u.effect == injected_effect::lose_device) {
            l.failure = "failed on purpose";
            return u.effect == injected_effect::fail ? outcome::failed : outcome::lost;
        }
        const lane_work& work = u.work;
        if (work.kind != work_kind::copy) {
            const bool well =
                source_.run(source_.self, work.kind, work.vertex, work.slot, work.lane, work.lane);
            return well ? outcome::done : outcome::threw;
        }
        if (options_.memory && work.copy.bytes > 0) memories_.copy(work.copy);
        if (options_.on_copy) options_.on_copy(work.copy);
        return outcome::done;
    }

    simulated_device_options options_;
    work_source<native_handle> source_;
    detail::memories memories_;
    std::vector<lane> lanes_;
    std::deque<action> actions_;
    std::int64_t now_ = 0;
    std::uint64_t seed_ = 1;
    detail::progress_counter news_;
    std::uint32_t seen_ = 0;
};
/// Lanes in virtual time: see basic_simulated_device.
using simulated_device = basic_simulated_device<>;

static_assert(device<simulated_device>);

}  // namespace stowage::exec
