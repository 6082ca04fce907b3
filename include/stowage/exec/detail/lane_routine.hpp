#pragma once
// The coroutine of a lane: it takes what is ready, gives it to the device, and sleeps while there is nothing
// or the lane is full. Made once, resumed by the dispatcher alone, destroyed with it.

#include <coroutine>
#include <exception>
#include <utility>

namespace stowage::exec::detail {

class lane_routine {
public:
    struct promise_type {
        [[nodiscard]] lane_routine get_return_object() noexcept {
            return lane_routine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }  // nothing in it throws
    };
    lane_routine() = default;
    lane_routine(lane_routine&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    lane_routine& operator=(lane_routine&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~lane_routine() {
        if (handle_) handle_.destroy();
    }
    void resume() const { handle_.resume(); }

private:
    explicit lane_routine(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_ = {};
};

}  // namespace stowage::exec::detail
