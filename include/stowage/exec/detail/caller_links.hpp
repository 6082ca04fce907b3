#pragma once
// What wakes a run's dispatcher from outside: the caller's stop token and the event that it starts after.

#include <optional>
#include <stop_token>

#include <stowage/exec/detail/waker.hpp>
#include <stowage/exec/event.hpp>
#include <stowage/exec/run_options.hpp>

namespace stowage::exec::detail {

template <class Device>
class caller_links {
public:
    /// From here on a request to stop and the event wake `device`.
    void attach(const run_options& options, Device& device) {
        on_stop_.emplace(options.stop, waker<Device>{&device});
        if (options.start_after == nullptr) return;
        gate_ = waker<Device>{&device}.waiter();
        options.start_after->add(gate_);
    }
    /// Neither does any more, nor is it doing so, when this returns.
    void detach(const run_options& options) noexcept {
        if (options.start_after != nullptr) options.start_after->remove(gate_);
        on_stop_.reset();
    }

private:
    event_waiter gate_ = {};
    std::optional<std::stop_callback<waker<Device>>> on_stop_;
};

}  // namespace stowage::exec::detail
