#pragma once
// What is under way in every lane, oldest first: a ring a lane, of as many places as the window.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/exec/lane.hpp>

namespace stowage::exec::detail {

/// One unit of work that a device has and has not ended.
struct flight {
    turnip::vertex_index vertex = 0;
    std::uint32_t slot = 0;
    work_kind kind = work_kind::kernel;
    bool last = true;  // no further part of the same copy follows
};

class flight_rings {
public:
    /// Room for `window` units in each of `lanes` lanes; limit() may lower it for one.
    void prepare(std::size_t lanes, std::uint32_t window) {
        window_ = window;
        places_.resize(lanes * window);
        rings_.assign(lanes, {0, 0, window});
    }
    void limit(lane_index l, std::uint32_t most) noexcept { rings_[l].most = std::min(most, window_); }
    void clear() noexcept {
        for (ring& r : rings_)
            r.head = r.count = 0;
        total_ = 0;
    }
    [[nodiscard]] std::uint32_t count(lane_index l) const noexcept { return rings_[l].count; }
    [[nodiscard]] bool full(lane_index l) const noexcept { return rings_[l].count >= rings_[l].most; }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    [[nodiscard]] const flight& oldest(lane_index l) const noexcept { return places_[index(l, 0)]; }
    void push(lane_index l, const flight& added) noexcept {
        places_[index(l, rings_[l].count++)] = added;
        ++total_;
    }
    flight pop(lane_index l) noexcept {
        const flight first = oldest(l);
        ring& r = rings_[l];
        if (++r.head == window_) r.head = 0;
        --r.count;
        --total_;
        return first;
    }
    /// Vertices whose work is under way, ascending, each once.
    [[nodiscard]] std::vector<turnip::vertex_index> vertices() const {
        std::vector<turnip::vertex_index> result;
        for (lane_index l = 0; l < rings_.size(); ++l) {
            for (std::uint32_t i = 0; i < rings_[l].count; ++i)
                result.push_back(places_[index(l, i)].vertex);
        }
        std::sort(result.begin(), result.end());
        result.erase(std::unique(result.begin(), result.end()), result.end());
        return result;
    }

private:
    struct ring {
        std::uint32_t head = 0;
        std::uint32_t count = 0;
        std::uint32_t most = 0;
    };
    [[nodiscard]] std::size_t index(lane_index l, std::uint32_t i) const noexcept {
        std::uint32_t at = rings_[l].head + i;
        if (at >= window_) at -= window_;
        return static_cast<std::size_t>(l) * window_ + at;
    }
    std::vector<flight> places_;
    std::vector<ring> rings_;
    std::uint32_t window_ = 1;
    std::uint64_t total_ = 0;
};

}  // namespace stowage::exec::detail
