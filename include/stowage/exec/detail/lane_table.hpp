#pragma once
// The lanes as the dispatcher sees them: the coroutine of each, what it has under way, which sleep and which
// are to be resumed. Whoever was listed last is resumed first: what it is to do is in the caches.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/exec/detail/flight_rings.hpp>
#include <stowage/exec/detail/lane_routine.hpp>
#include <stowage/exec/detail/ready_queue.hpp>
#include <stowage/exec/detail/schedule.hpp>

namespace stowage::exec::detail {

/// What a lane's coroutine does.
enum class lane_mode : std::uint8_t {
    awake,
    full,    // it sleeps, and has no room
    asleep,  // it sleeps, and has room
    listed,  // it sleeps, and is to be resumed
};

struct lane_state {
    lane_routine routine;
    ready_queue* queue = nullptr;  // of its group
    std::uint32_t position = 0;    // of the work given to it last
    std::uint16_t group = 0;
    bool shares = false;  // its queue with other lanes
    lane_mode mode = lane_mode::awake;
};

class lane_table {
public:
    /// Room for `window` units in each lane, of copies for `copy_window`.
    void prepare(const schedule& plan, std::uint32_t window, std::uint32_t copy_window) {
        flights.prepare(plan.lanes.size(), window);
        for (lane_index l = 0; l < plan.lanes.size(); ++l) {
            if (plan.lanes[l].kind != lane_kind::compute) flights.limit(l, copy_window);
        }
        listed_.resize(plan.lanes.size());
        lanes_.resize(plan.lanes.size());
        for (const lane_group& group : plan.groups) {
            groups_.push_back({group.first_lane, group.lanes});
            for (lane_index l = group.first_lane; l < group.first_lane + group.lanes; ++l) {
                lanes_[l].group = static_cast<std::uint16_t>(groups_.size() - 1);
                lanes_[l].shares = group.lanes > 1;
            }
        }
    }
    /// Nothing is under way, and all lanes sleep.
    void begin() noexcept {
        flights.clear();
        for (lane_state& lane : lanes_) {
            lane.position = 0;
            lane.mode = lane_mode::asleep;
        }
        count_ = 0;
    }
    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
    [[nodiscard]] lane_state& operator[](lane_index l) noexcept { return lanes_[l]; }
    [[nodiscard]] const lane_state& operator[](lane_index l) const noexcept { return lanes_[l]; }
    [[nodiscard]] lane_index first_of(std::uint16_t group) const noexcept { return groups_[group].first; }

    [[nodiscard]] bool has_listed() const noexcept { return count_ > 0; }
    /// Takes the lane that was listed last.
    [[nodiscard]] lane_state& next_listed() noexcept { return lanes_[listed_[--count_]]; }
    /// The coroutine of `l` goes to sleep.
    void sleep(lane_index l) noexcept {
        lanes_[l].mode = flights.full(l) ? lane_mode::full : lane_mode::asleep;
    }
    /// Something of `l` has landed: there is room. True if it sleeps and is not to be resumed yet.
    [[nodiscard]] bool has_room(lane_index l) noexcept {
        if (lanes_[l].mode == lane_mode::full) lanes_[l].mode = lane_mode::asleep;
        return is_free(l);
    }
    /// Lists the sleeping lane of `group` that has the least under way, if it has room.
    void notify(std::uint16_t group) noexcept {
        const lanes_of_group g = groups_[group];
        lane_index best = g.first;
        for (lane_index l = g.first + 1; l < g.first + g.count; ++l) {
            if (!is_free(best) || (is_free(l) && flights.count(l) < flights.count(best))) best = l;
        }
        if (is_free(best)) list(best);
    }
    /// Lists `l`, which sleeps.
    void list(lane_index l) noexcept {
        lanes_[l].mode = lane_mode::listed;
        listed_[count_++] = l;
    }
    /// A sleeping lane of the group of `l` has less under way.
    [[nodiscard]] bool others_are_freer(lane_index l) const noexcept {
        const std::uint32_t mine = flights.count(l);
        if (mine == 0) return false;
        const lanes_of_group g = groups_[lanes_[l].group];
        for (lane_index o = g.first; o < g.first + g.count; ++o) {
            if (lanes_[o].mode != lane_mode::awake && flights.count(o) < mine) return true;
        }
        return false;
    }

    flight_rings flights;

private:
    struct lanes_of_group {
        lane_index first = 0;
        std::uint32_t count = 1;
    };
    [[nodiscard]] bool is_free(lane_index l) const noexcept { return lanes_[l].mode == lane_mode::asleep; }
    std::vector<lane_state> lanes_;
    std::vector<lanes_of_group> groups_;
    std::vector<lane_index> listed_;  // a stack
    std::size_t count_ = 0;
};

/// Suspends a lane's coroutine, which the dispatcher owns, until it is listed; its dispatch() resumes it, on
/// the dispatcher's thread.
struct until_listed {
    lane_table* lanes;
    lane_index lane;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { lanes->sleep(lane); }
    void await_resume() const noexcept { (*lanes)[lane].mode = lane_mode::awake; }
};

}  // namespace stowage::exec::detail
