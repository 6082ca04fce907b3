#pragma once
// Bodies that kernels which are coroutines have given to `run`, waiting for a lane: a queue a group of lanes,
// made before a run. Few at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stowage/exec/lane.hpp>

namespace stowage::exec::detail {

struct segment {
    turnip::vertex_index vertex = 0;
    std::uint32_t slot = 0;
};

class segment_queues {
public:
    void prepare(std::size_t groups, std::uint32_t most) {
        queues_.resize(groups);
        for (auto& queue : queues_)
            queue.reserve(most);
    }
    void clear() noexcept {
        for (auto& queue : queues_)
            queue.clear();
        waiting_ = 0;
    }
    [[nodiscard]] bool has(std::uint16_t group) const noexcept {
        return waiting_ > 0 && !queues_[group].empty();
    }
    void push(std::uint16_t group, segment added) {
        queues_[group].push_back(added);
        ++waiting_;
    }
    segment pop(std::uint16_t group) noexcept {
        const segment first = queues_[group].front();
        queues_[group].erase(queues_[group].begin());
        --waiting_;
        return first;
    }

private:
    std::vector<std::vector<segment>> queues_;
    std::uint32_t waiting_ = 0;
};

}  // namespace stowage::exec::detail
