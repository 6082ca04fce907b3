#pragma once
// The kernels that are coroutines and under way: one slot each, made before a run. The dispatcher's thread
// alone uses it, but for the body that a slot's lane runs.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <stowage/exec/detail/frame_pool.hpp>
#include <stowage/exec/device.hpp>
#include <stowage/exec/kernel_task.hpp>

namespace stowage::exec::detail {

template <class Handle>
class kernel_slots {
public:
    void prepare(std::uint32_t count, std::size_t frame_bytes) {
        slots_ = std::make_unique<slot[]>(count);
        count_ = free_ = count;
        if (count > 0) frames_.prepare(count, frame_bytes);
    }
    [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
    [[nodiscard]] bool has_free() const noexcept { return free_ > 0; }
    [[nodiscard]] frame_pool* frames() noexcept { return &frames_; }
    [[nodiscard]] kernel_context<Handle>& context(std::uint32_t i) noexcept { return slots_[i].context; }
    [[nodiscard]] kernel_task& task(std::uint32_t i) noexcept { return slots_[i].task; }
    [[nodiscard]] turnip::vertex_index vertex(std::uint32_t i) const noexcept { return slots_[i].vertex; }

    /// A free slot for the kernel of `v`, which is to be resumed at once. There is one.
    [[nodiscard]] std::uint32_t take(turnip::vertex_index v) noexcept {
        std::uint32_t i = 0;
        while (slots_[i].state != use::free)
            ++i;
        slots_[i].vertex = v;
        slots_[i].state = use::due;
        --free_;
        return i;
    }
    void release(std::uint32_t i) noexcept {
        slots_[i].task.reset();
        slots_[i].context.resume_now();
        slots_[i].state = use::free;
        ++free_;
    }
    /// Destroys every kernel, but not those of which a lane may still run a body, where there are
    /// `bodies_at_large`: these are left until the lanes are gone.
    void clear(bool bodies_at_large) noexcept {
        for (std::uint32_t i = 0; i < count_; ++i) {
            const bool stays =
                slots_[i].state == use::free || (bodies_at_large && slots_[i].state == use::in_lane);
            if (!stays) release(i);
        }
    }
    void segment_ended(std::uint32_t i, bool well) noexcept {
        if (well) slots_[i].state = use::due;
    }
    /// Its wait is over.
    template <class Device>
    [[nodiscard]] bool is_due(std::uint32_t i, Device& device) noexcept {
        slot& s = slots_[i];
        if (s.state == use::due) return true;
        if (s.state != use::waiting) return false;
        if (s.context.waits() == kernel_wait::time) return device.now() >= s.context.until();
        return s.context.waits() == kernel_wait::event && s.context.event_is_set();
    }
    /// It has suspended; true if it wants a lane to run its body.
    template <class Device>
    [[nodiscard]] bool suspended(std::uint32_t i, Device& device) noexcept {
        slot& s = slots_[i];
        const bool wants_lane = s.context.waits() == kernel_wait::lane;
        s.state = wants_lane ? use::in_lane : use::waiting;
        if (s.context.waits() == kernel_wait::time) s.context.until() += device.now();
        return wants_lane;
    }
    /// The earliest time that a kernel sleeps until; `never` if none does.
    [[nodiscard]] std::int64_t next_time() noexcept {
        std::int64_t earliest = never;
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (slots_[i].state == use::waiting && slots_[i].context.waits() == kernel_wait::time)
                earliest = std::min(earliest, slots_[i].context.until());
        }
        return earliest;
    }

private:
    enum class use : std::uint8_t { free, due, waiting, in_lane };
    struct slot {
        kernel_context<Handle> context;
        kernel_task task;
        turnip::vertex_index vertex = 0;
        use state = use::free;
    };
    frame_pool frames_;  // outlives the frames
    std::unique_ptr<slot[]> slots_;
    std::uint32_t count_ = 0;
    std::uint32_t free_ = 0;
};

}  // namespace stowage::exec::detail
