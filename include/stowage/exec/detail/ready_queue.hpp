#pragma once
// The vertices of one group of lanes that may start: a ring in the order of arrival, or a binary heap by
// key. Its slots are a part of one array of the dispatcher, one a vertex, so it never grows.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <stowage/turnip/fwd.hpp>

namespace stowage::exec::detail {

class ready_queue {
public:
    using vertex_index = turnip::vertex_index;

    ready_queue() = default;
    /// Over `slots`, which hold at most as many vertices at once; `keys` by vertex, empty for a ring.
    ready_queue(std::span<vertex_index> slots, std::span<const std::uint64_t> keys) noexcept
        : slots_(slots.data()), keys_(keys.empty() ? nullptr : keys.data()),
          capacity_(static_cast<std::uint32_t>(slots.size())) {}

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    void clear() noexcept { size_ = head_ = 0; }

    void push(vertex_index v) noexcept {
        if (keys_ == nullptr) {
            std::uint32_t tail = head_ + size_++;
            if (tail >= capacity_) tail -= capacity_;
            slots_[tail] = v;
            return;
        }
        std::uint32_t at = size_++;
        while (at > 0) {
            const std::uint32_t parent = (at - 1) / 2;
            if (!before(v, slots_[parent])) break;
            slots_[at] = slots_[parent];
            at = parent;
        }
        slots_[at] = v;
    }
    /// Puts back what was popped last.
    void put_back(vertex_index v) noexcept {
        if (keys_ != nullptr) return push(v);
        head_ = head_ == 0 ? capacity_ - 1 : head_ - 1;
        ++size_;
        slots_[head_] = v;
    }
    [[nodiscard]] vertex_index front() const noexcept { return slots_[keys_ == nullptr ? head_ : 0]; }
    vertex_index pop() noexcept {
        if (keys_ == nullptr) {
            const vertex_index first = slots_[head_];
            if (++head_ == capacity_) head_ = 0;
            --size_;
            return first;
        }
        const vertex_index first = slots_[0];
        const vertex_index last = slots_[--size_];
        std::uint32_t at = 0;
        while (true) {
            std::uint32_t child = 2 * at + 1;
            if (child >= size_) break;
            if (child + 1 < size_ && before(slots_[child + 1], slots_[child])) ++child;
            if (!before(slots_[child], last)) break;
            slots_[at] = slots_[child];
            at = child;
        }
        slots_[at] = last;
        return first;
    }

private:
    [[nodiscard]] bool before(vertex_index a, vertex_index b) const noexcept {
        return keys_[a] != keys_[b] ? keys_[a] < keys_[b] : a < b;
    }
    vertex_index* slots_ = nullptr;
    const std::uint64_t* keys_ = nullptr;
    std::uint32_t capacity_ = 0;
    std::uint32_t head_ = 0;
    std::uint32_t size_ = 0;
};

}  // namespace stowage::exec::detail
