#pragma once
// The thread that dispatches runs which a coroutine awaits: it runs one, resumes the coroutine, and sleeps.

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <thread>

#include <stowage/exec/detail/futex.hpp>
#include <stowage/exec/fault.hpp>

namespace stowage::exec::detail {

class dispatcher_thread {
public:
    dispatcher_thread() = default;
    dispatcher_thread(const dispatcher_thread&) = delete;
    dispatcher_thread& operator=(const dispatcher_thread&) = delete;
    ~dispatcher_thread() { close(); }

    /// Has the thread call `job(argument)`, then resume `waiting`. Makes the thread on the first call. Throws
    /// std::system_error if there can be none, usage_error while close() waits for what the thread does.
    void post(void* argument, void (*job)(void*) noexcept, std::coroutine_handle<> waiting) {
        if (!shared_) {
            auto shared = std::make_shared<state>();
            thread_ = std::thread(&dispatcher_thread::serve, shared);
            shared_ = std::move(shared);
        }
        if (shared_->quit.load(std::memory_order_acquire))
            throw usage_error("the executor is being destroyed");
        shared_->argument = argument;
        shared_->job = job;
        shared_->waiting = waiting;
        signal(*shared_, 1);
    }
    /// Ends the thread, once what it does is done. The thread itself may call it, from a coroutine that it
    /// has resumed: then it ends when that one suspends.
    void close() noexcept {
        if (!shared_) return;
        shared_->quit.store(true, std::memory_order_release);
        signal(*shared_, 2);
        if (thread_.get_id() == std::this_thread::get_id())
            thread_.detach();
        else
            thread_.join();
        shared_.reset();
    }

private:
    struct state {
        std::atomic<std::uint32_t> word{0};
        std::atomic<bool> quit{false};
        void* argument = nullptr;
        void (*job)(void*) noexcept = nullptr;
        std::coroutine_handle<> waiting = {};
    };
    static void signal(state& shared, std::uint32_t bits) noexcept {
        shared.word.fetch_or(bits, std::memory_order_acq_rel);
        wake_sleepers(shared.word);
    }
    /// Its own share of the state: it may outlive the executor.
    static void serve(std::shared_ptr<state> shared) {  // NOLINT(performance-unnecessary-value-param)
        while (true) {
            while (shared->word.load(std::memory_order_acquire) == 0)
                sleep_on(shared->word, 0, std::chrono::nanoseconds(-1));
            const std::uint32_t bits = shared->word.exchange(0, std::memory_order_acq_rel);
            if ((bits & 1U) != 0) {
                shared->job(shared->argument);
                shared->waiting.resume();
            }
            // what the coroutine has asked for before it was told to quit is done, or nobody would resume it
            if (shared->quit.load(std::memory_order_acquire) &&
                (shared->word.load(std::memory_order_acquire) & 1U) == 0)
                return;
        }
    }
    std::shared_ptr<state> shared_;
    std::thread thread_;
};

}  // namespace stowage::exec::detail
