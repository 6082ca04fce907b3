#pragma once
// Sleeping until a word changes or a time comes, and waking who sleeps: what std::atomic::wait does, with a
// deadline. Linux has it as a system call; elsewhere short naps stand in.

#include <atomic>
#include <chrono>
#include <cstdint>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#else
#include <thread>
#endif

namespace stowage::exec::detail {

/// Sleeps while `word` is `seen`, at most `most`; may return early. `most` < 0: without limit.
inline void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                     std::chrono::nanoseconds most) noexcept {
    static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
    if (word.load(std::memory_order_acquire) != seen || most.count() == 0) return;
#if defined(__linux__)
    timespec limit{};
    limit.tv_sec = most.count() / 1'000'000'000;
    limit.tv_nsec = most.count() % 1'000'000'000;
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, most.count() < 0 ? nullptr : &limit, nullptr, 0);
#else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
#endif
}

/// Wakes every thread that sleeps on `word`.
inline void wake_sleepers(const std::atomic<std::uint32_t>& word) noexcept {
#if defined(__linux__)
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
#else
    (void)word;
#endif
}

/// Tells the processor that this is a loop that waits.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

}  // namespace stowage::exec::detail
