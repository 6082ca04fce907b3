#pragma once
// Wakes a device's dispatcher: what a stop request calls, and what is added to events.

#include <stowage/exec/event.hpp>

namespace stowage::exec::detail {

template <class Device>
struct waker {
    Device* device;

    void operator()() const noexcept { device->wake(); }
    [[nodiscard]] event_waiter waiter() const noexcept {
        return {device, [](void* self) noexcept { static_cast<Device*>(self)->wake(); }, nullptr};
    }
};

}  // namespace stowage::exec::detail
