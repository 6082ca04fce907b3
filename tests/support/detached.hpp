#pragma once
// Coroutines of tests that await runs.

#include <coroutine>
#include <exception>

namespace stowage::test {

/// A coroutine that nobody waits for: it starts at once and destroys itself at its end.
struct detached {
    struct promise_type {
        detached get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

}  // namespace stowage::test
