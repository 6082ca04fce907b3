#pragma once
// Awaiting a run.

#include <coroutine>
#include <exception>

#include <stowage/exec/detail/dispatcher_thread.hpp>
#include <stowage/exec/report.hpp>
#include <stowage/exec/run_options.hpp>

namespace stowage::exec::detail {

/// Awaits a run of `executor`. The awaiting coroutine owns its frame, and is resumed by the executor's
/// dispatcher thread.
template <class Executor>
struct run_awaiter {
    Executor& executor;
    dispatcher_thread& thread;
    run_options options;
    std::exception_ptr failure = {};
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        const auto job = [](void* self) noexcept {
            auto& me = *static_cast<run_awaiter*>(self);
            try {
                me.executor.run(me.options);
            } catch (...) {
                me.failure = std::current_exception();
            }
        };
        thread.post(this, job, waiting);
    }
    const run_report& await_resume() const {
        if (failure) std::rethrow_exception(failure);
        return executor.report();
    }
};

}  // namespace stowage::exec::detail
