#pragma once
// The part of the dispatcher that only a window W > 1 needs: which vertices wait for nothing but work that is
// in lanes already, where that work is, and for which ends the device must wait.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <stowage/exec/detail/ready_queue.hpp>
#include <stowage/exec/detail/schedule.hpp>
#include <stowage/exec/lane.hpp>

namespace stowage::exec::detail {

class look_ahead {
public:
    void prepare(const schedule& plan, std::span<const std::uint64_t> keys) {
        undispatched_.resize(plan.vertices);
        position_.resize(plan.vertices);
        slots_.resize(plan.vertices);
        for (const lane_group& g : plan.groups)
            queues_.emplace_back(std::span(slots_).subspan(g.first_slot, g.slots), keys);
        latest_.assign(plan.lanes.size(), 0);
        waits_.resize(plan.lanes.size());
    }
    void begin(const schedule& plan) noexcept {
        if (undispatched_.empty()) return;
        std::copy(plan.indegree.begin(), plan.indegree.end(), undispatched_.begin());
        for (ready_queue& queue : queues_)
            queue.clear();
    }
    /// The work of `v` is at `position` of its lane.
    void placed(vertex_index v, std::uint32_t position) noexcept { position_[v] = position; }
    /// One more of the predecessors of `next` is in a lane, or has ended; true if all are.
    [[nodiscard]] bool counted(vertex_index next) noexcept { return --undispatched_[next] == 0; }
    /// Vertices of `group` that may go ahead; some may have been started or become ready since.
    [[nodiscard]] ready_queue& queue(std::uint16_t group) noexcept { return queues_[group]; }

    /// The ends for which `v` must wait in `lane`: of each other lane, the last of those that it depends on.
    /// `lane_of(p)` is the lane in which predecessor p is under way, or no_lane.
    template <class LaneOf>
    [[nodiscard]] std::span<const lane_wait> waits(const schedule& plan, vertex_index v, lane_index lane,
                                                   const LaneOf& lane_of) noexcept {
        std::size_t count = 0;
        for (const vertex_index p : plan.before(v)) {
            const lane_index at = lane_of(p);
            if (at == no_lane || at == lane) continue;
            std::uint32_t& latest = latest_[at];
            if (latest == 0) waits_[count++].lane = at;
            latest = std::max(latest, position_[p]);
        }
        for (std::size_t i = 0; i < count; ++i)
            waits_[i].position = std::exchange(latest_[waits_[i].lane], 0);
        return {waits_.data(), count};
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return (undispatched_.capacity() + position_.capacity() + slots_.capacity()) * sizeof(std::uint32_t);
    }

private:
    std::vector<std::uint32_t> undispatched_;  // by vertex: predecessors that are in no lane yet
    std::vector<std::uint32_t> position_;      // by vertex: of its work in its lane
    std::vector<vertex_index> slots_;          // of the queues
    std::vector<ready_queue> queues_;          // by group
    std::vector<std::uint32_t> latest_;        // by lane, scratch: all 0 between calls
    std::vector<lane_wait> waits_;             // scratch
};

}  // namespace stowage::exec::detail
