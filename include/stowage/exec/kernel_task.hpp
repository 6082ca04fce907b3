#pragma once
// Kernels that are coroutines: they await a time, an event of the host, or work that they have put into
// their lane, and meanwhile leave the lane to others. A kernel's coroutine runs on the executor's dispatcher
// thread, from its first line to its last; only the bodies given to `run` run where the lane runs.
//
//     kernel_task operator()(kernel_context<Handle>& kernel) {
//         auto body = [](const kernel_call<Handle>& call) { ... };   // on the lane
//         co_await kernel.run(body);      // a named body: g++ 12 destroys a temporary one twice
//         co_await kernel.sleep(1ms);     // the lane is free
//     }

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <stowage/exec/detail/frame_pool.hpp>
#include <stowage/exec/event.hpp>
#include <stowage/exec/kernel.hpp>

namespace stowage::exec {

template <class Handle>
class kernel_context;

namespace detail {

/// What a suspended kernel waits for.
enum class kernel_wait : std::uint8_t { nothing, time, event, lane };

template <class T>
struct is_kernel_context : std::false_type {};
template <class Handle>
struct is_kernel_context<kernel_context<Handle>> : std::true_type {};

}  // namespace detail

/// The coroutine of one operator's kernel; only executors resume or destroy it.
class kernel_task {
public:
    struct promise_type {
        std::exception_ptr failure = {};
        [[nodiscard]] kernel_task get_return_object() noexcept {
            return kernel_task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() noexcept { failure = std::current_exception(); }

        /// The frame lies in the pool of the executor whose kernel_context is among the arguments. Always
        /// inline: g++ takes a template and an operator delete that is none for a mismatch, in the coroutine.
        template <class... Arguments>
        [[nodiscard, gnu::always_inline]] static void* operator new(std::size_t bytes,
                                                                    Arguments&... arguments) {
            detail::frame_pool* pool = nullptr;
            (find_pool(pool, arguments), ...);
            return detail::frame_pool::allocate(pool, bytes);
        }
        static void operator delete(void* frame) noexcept { detail::frame_pool::deallocate(frame); }

    private:
        template <class T>
        static void find_pool(detail::frame_pool*& pool, T& argument) noexcept {
            if constexpr (detail::is_kernel_context<std::remove_const_t<T>>::value) pool = argument.frames();
        }
    };

    kernel_task() = default;
    kernel_task(kernel_task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    kernel_task& operator=(kernel_task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~kernel_task() { reset(); }
    /// Destroys the coroutine, with what its frame holds.
    void reset() noexcept {
        if (handle_) std::exchange(handle_, {}).destroy();
    }
    /// False for one that was made by no coroutine.
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
    /// Runs it to its next suspension.
    void resume() const { handle_.resume(); }
    /// True at its end.
    [[nodiscard]] bool done() const noexcept { return handle_.done(); }
    /// What it threw, or null.
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return handle_.promise().failure; }

private:
    explicit kernel_task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_ = {};
};

/// What a kernel that is a coroutine is given. It outlives the coroutine.
template <class Handle>
class kernel_context {
public:
    kernel_context() = default;
    kernel_context(const kernel_context&) = delete;
    kernel_context& operator=(const kernel_context&) = delete;
    ~kernel_context() { leave_event(); }

    /// Operands, results and scratch; `lane` and `handle` are right only inside a body given to `run`.
    [[nodiscard]] const kernel_call<Handle>& call() const noexcept { return call_; }

    /// Suspends until `body(call)` has run in one of the device's compute lanes. The executor resumes the
    /// coroutine on its dispatcher thread; an exception of the body fails the run.
    template <class Body>
        requires std::invocable < Body&, const kernel_call<Handle>
    & > [[nodiscard]] auto run(Body& body) noexcept {
        body_ = &body;
        invoke_ = [](void* self, const kernel_call<Handle>& call) { (*static_cast<Body*>(self))(call); };
        return awaiter{this, detail::kernel_wait::lane};
    }
    template <class Body>
    void run(const Body&& body) = delete;  // a temporary would be destroyed twice by g++ 12: name it

    /// Suspends for at least `duration` of the device's clock. Resumed on the dispatcher thread.
    [[nodiscard]] auto sleep(std::chrono::nanoseconds duration) noexcept {
        until_ = duration.count();
        return awaiter{this, detail::kernel_wait::time};
    }
    /// Suspends until `awaited` is set, which must outlive the run. Resumed on the dispatcher thread.
    [[nodiscard]] auto wait(event& awaited) noexcept {
        event_ = &awaited;
        return awaiter{this, detail::kernel_wait::event};
    }

    // For executors.

    /// The pool of its coroutine's frame.
    [[nodiscard]] detail::frame_pool* frames() const noexcept { return frames_; }
    /// Makes it ready for one coroutine.
    void enter(const kernel_call<Handle>& call, detail::frame_pool* frames, event_waiter waker) noexcept {
        call_ = call;
        frames_ = frames;
        waiter_ = waker;
        waits_ = detail::kernel_wait::nothing;
    }
    /// What the coroutine waits for.
    [[nodiscard]] detail::kernel_wait waits() const noexcept { return waits_; }
    /// How long it sleeps, then until when.
    [[nodiscard]] std::int64_t& until() noexcept { return until_; }
    /// True if it waits for an event that is set.
    [[nodiscard]] bool event_is_set() const noexcept { return event_->is_set(); }
    /// Calls the body that it waits for.
    void call_body(lane_index lane, const Handle& handle) {
        kernel_call<Handle> call = call_;
        call.lane = lane;
        call.handle = handle;
        invoke_(body_, call);
    }
    /// It waits for nothing from here on.
    void resume_now() noexcept {
        leave_event();
        waits_ = detail::kernel_wait::nothing;
    }

private:
    struct awaiter {
        kernel_context* context;
        detail::kernel_wait reason;
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const noexcept {
            context->waits_ = reason;
            if (reason != detail::kernel_wait::event) return;
            context->event_->add(context->waiter_);
            context->attached_ = true;
        }
        void await_resume() const noexcept {}
    };
    void leave_event() noexcept {
        if (attached_) event_->remove(waiter_);
        attached_ = false;
    }

    kernel_call<Handle> call_ = {};
    detail::frame_pool* frames_ = nullptr;
    detail::kernel_wait waits_ = detail::kernel_wait::nothing;
    bool attached_ = false;
    std::int64_t until_ = 0;
    event* event_ = nullptr;
    event_waiter waiter_ = {};
    void* body_ = nullptr;
    void (*invoke_)(void*, const kernel_call<Handle>&) = nullptr;
};

/// Kernels of which some are coroutines: `is_coroutine(op)` says which, `start(context)` makes one.
template <class K, class Handle>
concept coroutine_kernels = requires(K& kernels, kernel_context<Handle>& context, operator_index op) {
    { kernels.is_coroutine(op) } -> std::convertible_to<bool>;
    { kernels.start(context) } -> std::same_as<kernel_task>;
};

}  // namespace stowage::exec
