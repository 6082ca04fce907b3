#pragma once
// A flag that one thread sets and others wait for: what a run starts after, what it signals, what a kernel
// that is a coroutine awaits. The only lock of the exec room is in here, and no device call is made under it.

#include <atomic>
#include <mutex>

namespace stowage::exec {

/// Somebody to wake when an event is set: a node of the event's list, owned by the waiter.
struct event_waiter {
    void* self = nullptr;  ///< who
    void (*wake)(void* self) noexcept =
        nullptr;                   ///< how; called by the setting thread, under the event's lock
    event_waiter* next = nullptr;  ///< the event's own
};

/// A flag, not set at first. All members may be called by any thread; it must outlive its waiters.
class event {
public:
    event() = default;
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    /// True once set. Whoever sees it true sees all that was written before `set`.
    [[nodiscard]] bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }
    /// Sets it, and wakes who waits.
    void set() noexcept {
        set_.store(true, std::memory_order_release);
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const event_waiter* w = waiters_; w != nullptr; w = w->next)
            w->wake(w->self);
    }
    /// Clears it for another use; nobody may be waiting.
    void reset() noexcept { set_.store(false, std::memory_order_relaxed); }
    /// Adds a waiter, which stays in place until it is removed. An event that is set already wakes nobody:
    /// look at is_set() afterwards.
    void add(event_waiter& waiter) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        waiter.next = waiters_;
        waiters_ = &waiter;
    }
    /// Removes a waiter that was added: it is not being woken when this returns. O(waiters).
    void remove(event_waiter& waiter) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (event_waiter** place = &waiters_; *place != nullptr; place = &(*place)->next) {
            if (*place != &waiter) continue;
            *place = waiter.next;
            return;
        }
    }

private:
    std::atomic<bool> set_{false};
    std::mutex mutex_;
    event_waiter* waiters_ = nullptr;
};

}  // namespace stowage::exec
